#pragma once
// The arguments of a kernel's call, by the names that its generator gives them.

#include <array>
#include <concepts>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "HalideRuntime.h"
#include "hk/kernel_info.h"

namespace hk::detail {

// A buffer, which is borrowed, or a number, of which it has a copy.
class NamedArgument {
public:
    NamedArgument() = default;
    NamedArgument(const char *name, halide_buffer_t *buffer) : name_(name), buffer_(buffer) {}

    // What has a buffer for kernels.
    template<typename T>
    requires requires(T &owner) {
        { owner.get() } -> std::same_as<halide_buffer_t *>;
    }
    NamedArgument(const char *name, T &owner) : NamedArgument(name, owner.get()) {}

    template<typename T>
    requires std::is_arithmetic_v<T> NamedArgument(const char *name, T number)
        : name_(name), bytes_(sizeof(T)) {
        std::memcpy(number_, &number, sizeof(T));
    }

    const char *name() const { return name_; }
    int bytes() const { return bytes_; }  // of a number; 0: a buffer
    // As compiled functions take it. A number's is this object's own.
    void *pointer() const {
        if (bytes_ == 0) return buffer_;
        return const_cast<unsigned char *>(number_);
    }

private:
    const char *name_;
    int bytes_ = 0;
    union {
        halide_buffer_t *buffer_;
        unsigned char number_[8];
    };
};

// A kernel finds them in any order, and soonest in that of its generator.
class NamedArguments {
public:
    static constexpr size_t kMost = 32;

    NamedArguments(std::initializer_list<NamedArgument> arguments) { add(arguments); }

    NamedArguments &add(std::span<const NamedArgument> arguments) {
        for (const NamedArgument &argument : arguments) arguments_.at(count_++) = argument;
        return *this;
    }
    NamedArguments &add(std::initializer_list<NamedArgument> arguments) {
        return add(std::span(arguments.begin(), arguments.size()));
    }
    NamedArguments &add(const NamedArguments &others) {
        return add(std::span(others.arguments_.data(), others.count_));
    }

    // The pointers that the kernel's function takes, in its order, but for the first: the user's
    // context. They are those of these arguments. Throws KernelFailure where an argument is
    // missing, unknown, given twice, or no number of the size that the kernel takes, or no buffer.
    using Pointers = std::array<void *, kMost + 1>;
    Pointers for_kernel(const char *operation, const KernelInfo &kernel) const;

private:
    std::array<NamedArgument, kMost> arguments_;
    size_t count_ = 0;
};

}  // namespace hk::detail
