#pragma once
// Runs one instruction on many operands, a thread each.

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "software_cuda/machine/machine.h"
#include "tests/software_cuda/ptx_reference.h"

namespace software_cuda::tests {

// An instruction and the types of its result and operands, as instructions.def names them.
struct FormCase {
    std::string name;
    std::string result, a, b, c;  // "none": without
    std::string text = {};  // with $d, $a, $b and $c for registers; "": the name with them all
};

void PrintTo(const FormCase &form, std::ostream *out);

// How the instruction stands in the kernel.
enum class Use : uint8_t {
    kPlain,
    kGuarded,  // in every third thread not
    kInPlace,  // its result is its first operand
    kWide,     // of cvt: operand and result in registers of 64 bits
};
// Whether an instruction can be used so.
bool takes(const FormCase &form, Use use);

inline constexpr uint64_t kUntouched =
    0x5a5aa5a55a5aa5a5;  // a result's register where the guard is false

// The bits of the results' registers. Throws ModuleError where the parser refuses it.
std::vector<uint64_t> results_of(const FormCase &form, Use use,
                                 const std::vector<Operands> &operands,
                                 InstructionSet set = InstructionSet::kWidest);
// Of a register that holds a result: 1 of a predicate.
unsigned register_bits(const FormCase &form, Use use);

// Those that this CPU runs.
std::vector<InstructionSet> instruction_sets();
const char *name_of(InstructionSet set);

}  // namespace software_cuda::tests
