#pragma once
// HK_CPU=avx512, avx2, sse41 or x86-64: the most that kernels use of the CPU in this process. A
// lesser machine is imitated with it, where kernels are chosen at run time (the portable preset).
// Read once.

#include <optional>
#include <span>
#include <string_view>

namespace hk::detail {

// The place of a name in the order of those above; none where the text is empty. Throws
// InvalidArgument for others, and for all where kernels are compiled for one CPU.
std::optional<size_t> cpu_level(std::string_view text, bool portable);

// Whether code with these features, bits as Halide numbers them, may run at a level.
bool allows(std::optional<size_t> level, std::span<const uint64_t> features);

// Whether what is compiled for a level, one of those above, may run, on a CPU that has it.
bool may_use(std::string_view level) noexcept;

// Throws InvalidArgument for a value of the variable that is none.
void check_cpu_limit();

}  // namespace hk::detail
