// Instructions by their PTX form.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "software_cuda/ptx/program.h"

namespace software_cuda {

struct Form {
    Op op;
    Type result, a, b, c;
    unsigned operands() const {
        return 1 + (a != Type::none) + (b != Type::none) + (c != Type::none);
    }
};

// The form of a name in any of the spellings that mean the same: add.rn.f32 is add.f32, mov.s32 is
// mov.b32.
std::optional<Form> find_form(std::string_view name);

// Of an arithmetic instruction.
InstructionClass class_of(std::string_view name);

std::optional<Type> type_named(std::string_view name);
unsigned bytes_of(Type type);
bool is_signed(Type type);

}  // namespace software_cuda
