#pragma once
// What operations ask of any operand. Each throws InvalidArgument, with a message that begins with
// the operation, and looks at an operand only where it is defined.

#include <span>

#include "hk/output.h"
#include "kernel_call.h"

namespace hk::detail {

void check_device(const char *operation, const Operand &operand, const Operand &first);
void check_type(const char *operation, const Operand &operand, const Operand &first);
void check_shape(const char *operation, const Operand &operand, std::span<const int64_t> shape);
void check_disjoint(const char *operation, const Operand &operand, const Operand &output);

// Innermost elements lie next to each other; `elements`: what they are called, "channels".
void check_innermost(const char *operation, const Operand &operand, const char *elements);
const char *innermost_elements(Layout layout);

// f32, f16 or bf16.
void check_float(const char *operation, DataType type);

// An input, and whether the output may take over its storage (hk/output.h).
struct Input {
    Operand operand;
    bool may_alias_output = false;
};

// The output shares no memory with an input, or is in place of one that it may alias.
void check_output(const char *operation, const char *name, const Output &output,
                  std::span<const Input> inputs);

// Of an output: no two elements share memory.
void check_elements_disjoint(const char *operation, const Operand &output);

}  // namespace hk::detail
