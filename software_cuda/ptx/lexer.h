// Words and punctuation of PTX.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace software_cuda {

// A directive, an instruction with its suffixes, a name, a number or one character. Views into the
// text.
struct Token {
    std::string_view text;
    uint32_t line;  // from 1
    bool is(std::string_view other) const { return text == other; }
};

// Without comments; an empty token at the end. Throws ModuleError for what is not ASCII text or a
// comment without end.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace software_cuda
