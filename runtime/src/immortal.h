#pragma once
// An object that is never destroyed. All that lives as long as the process is one: static objects
// of a user's may call the library in their destructors, and Halide's runtime frees memory while
// the process ends.

#include <cstddef>
#include <new>
#include <utility>

namespace hk::detail {

// static Immortal<SelectionCache> cache(kOperation, kernels);
template<typename T>
class Immortal {
public:
    template<typename... Arguments>
    explicit Immortal(Arguments &&...arguments) {
        ::new (static_cast<void *>(place_)) T(std::forward<Arguments>(arguments)...);
    }
    Immortal(const Immortal &) = delete;
    Immortal &operator=(const Immortal &) = delete;

    T &operator*() { return *std::launder(reinterpret_cast<T *>(place_)); }
    T *operator->() { return &**this; }

private:
    alignas(T) std::byte place_[sizeof(T)];
};

}  // namespace hk::detail
