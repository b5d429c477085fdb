#pragma once
// What a stand-in for a compiled kernel was called with, by the names that its row declares.

#include <cstring>
#include <stdexcept>
#include <string>

#include "HalideRuntime.h"
#include "hk/kernel_info.h"

namespace hk::test {

class CalledWith {
public:
    CalledWith(std::span<const KernelArgument> declared, void **pointers)
        : declared_(declared), pointers_(pointers) {}

    void *user_context() const { return take<void *>("__user_context"); }
    halide_buffer_t &buffer(const char *name) const {
        return *static_cast<halide_buffer_t *>(pointer(name, 0));
    }
    template<typename T>
    T take(const char *name) const {
        return *static_cast<T *>(pointer(name, sizeof(T)));
    }
    template<typename T>
    void take(const char *name, T &value) const {
        value = take<T>(name);
    }

private:
    const std::span<const KernelArgument> declared_;
    void **const pointers_;

    void *pointer(const char *name, int bytes) const {
        for (size_t i = 0; i < declared_.size(); i++) {
            if (std::strcmp(declared_[i].name, name) != 0) continue;
            if (declared_[i].bytes == bytes) return pointers_[i];
        }
        throw std::logic_error(std::string("the stand-in declares no argument ") + name + " of " +
                               std::to_string(bytes) + " bytes");
    }
};

}  // namespace hk::test
