#pragma once
// The arguments of a kernel's call, by the names that its generator gives them.

#include <array>
#include <concepts>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "HalideRuntime.h"
#include "hk/kernel_info.h"

namespace hk::detail {

// A buffer, which is borrowed, or a number, of which it has a copy.
class NamedArgument {
public:
    NamedArgument(const char *name, halide_buffer_t *buffer)
        : name(name), bytes(0), number(0), buffer(buffer) {}

    // What has a buffer for kernels.
    template<typename T>
    requires requires(T &owner) {
        { owner.get() } -> std::same_as<halide_buffer_t *>;
    }
    NamedArgument(const char *name, T &owner) : NamedArgument(name, owner.get()) {}

    template<typename T>
    requires std::is_arithmetic_v<T> NamedArgument(const char *name, T value)
        : name(name), bytes(sizeof(T)), number(0), buffer(nullptr) {
        static_assert(sizeof(T) <= sizeof(number));
        std::memcpy(&number, &value, sizeof(T));
    }

    const char *name;
    int64_t bytes;  // of a number; 0: a buffer
    uint64_t number;
    halide_buffer_t *buffer;
};

// Whether a kernel for CUDA has an argument that rows of it alone take: calls on a CPU search none.
bool takes_on_cuda(const KernelInfo &kernel, const char *argument);

// Arguments may come in any order, and are found soonest in that of the generator. All functions
// throw KernelFailure, which names the kernel and the argument.
class KernelArguments {
public:
    static constexpr size_t kMost = 40;

    KernelArguments(const char *operation, const KernelInfo &kernel);
    KernelArguments(const KernelArguments &) = delete;
    KernelArguments &operator=(const KernelArguments &) = delete;

    // Buffers are borrowed. Throws where the kernel has no such argument, or has been given it, or
    // takes a number of another size, or a buffer.
    KernelArguments &add(std::span<const NamedArgument> arguments);
    KernelArguments &add(std::initializer_list<NamedArgument> arguments) {
        return add(std::span(arguments.begin(), arguments.size()));
    }

    // What the kernel's function takes. Throws where an argument is missing.
    void **with_context(void **user_context);

    // Of all buffers that were given, each once.
    int64_t buffer_bytes() const;

    const char *operation() const { return operation_; }
    const KernelInfo &kernel() const { return kernel_; }

private:
    const char *const operation_;
    const KernelInfo &kernel_;
    size_t count_ = 1;                     // the context, and those that are given
    size_t next_ = 1;                      // the place after the last one's
    std::array<void *, kMost> pointers_;   // in the kernel's order; null: not given
    std::array<uint64_t, kMost> numbers_;  // what pointers to numbers point to

    [[noreturn]] void fail(const std::string &what) const;
};

}  // namespace hk::detail
