#pragma once
// What PTX instructions compute, one thread at a time, written from the PTX ISA (chapter
// "Instructions") with integers of 128 bits and exact floats, apart from the machine.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/software_cuda/exact_float.h"

namespace software_cuda::tests {

// As bits, in the low end, of the width that the instruction reads.
struct Operands {
    uint64_t a = 0, b = 0, c = 0;
};

// Which results are right.
struct Wanted {
    enum Kind : uint8_t {
        kBits,
        kAnyNan,
        kNear,  // `value` with an error of at most `error`
        kOpen,  // the ISA leaves it to the chip
    } kind = kBits;
    uint64_t bits = 0;
    long double value = 0, error = 0;
    const Format *format = nullptr;  // of kAnyNan and kNear

    bool allows(uint64_t result) const;
};
std::string to_string(const Wanted &wanted);

using Reference = std::function<Wanted(const Operands &)>;

// The parts of a name: setp, lt, s32.
std::vector<std::string> parts_of(std::string_view name);
// bits and sign of an integer type, {0, false} of any other
struct IntegerType {
    unsigned bits = 0;
    bool is_signed = false;
};
IntegerType integer_type(std::string_view name);
// Null of a type that is no float.
const Format *float_format(std::string_view name);

// Of an instruction by its name, in any spelling; empty where none is known.
Reference reference_of(std::string_view name);
// Those of integers and bits, and those of floats.
Reference integer_reference(const std::vector<std::string> &parts);
Reference float_reference(const std::vector<std::string> &parts);
Reference approximation(const std::vector<std::string> &parts);

}  // namespace software_cuda::tests
