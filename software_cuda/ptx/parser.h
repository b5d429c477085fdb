// What the parts of the parser share: the tokens, and errors that name a line.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "software_cuda/ptx/entry_builder.h"
#include "software_cuda/ptx/lexer.h"
#include "software_cuda/ptx/module.h"

namespace software_cuda {

class TokenStream {
public:
    explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    const Token &peek(size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    Token next() {
        const Token token = peek();
        if (at_ + 1 < tokens_.size()) at_++;
        return token;
    }
    bool at_end() const { return peek().text.empty(); }
    bool take(std::string_view text);
    void expect(std::string_view text);
    uint64_t number();
    [[noreturn]] void fail(const std::string &what) const { fail(what, peek().line); }
    [[noreturn]] static void fail(const std::string &what, uint32_t line);

private:
    std::vector<Token> tokens_;
    size_t at_ = 0;
};

// An integer as PTX writes it, or a float's bits (0f…, 0d…); false for what is none.
bool parse_number(std::string_view text, uint64_t &value);

// A variable in shared memory.
using SharedVariables = std::map<std::string, uint32_t, std::less<>>;  // addresses

// [.align N] .b8 name[bytes]; an array without a size begins where dynamic shared memory does.
uint32_t shared_variable(TokenStream &tokens, SharedVariables &variables, uint32_t end);

// An operand as it is written.
struct Operand {
    enum Kind : uint8_t { kWord, kVector, kAddress } kind = kWord;
    std::vector<std::string_view> words;  // several of a vector; %p|%q are two words too
    bool negative = false, negated = false;
    int64_t offset = 0;  // of an address
};

// Statements of an entry's body.
class BodyParser {
public:
    BodyParser(TokenStream &tokens, SharedVariables shared,
               const std::map<std::string, Parameter, std::less<>> &parameters, uint32_t target,
               Entry &entry);

    // From after the opening brace to after the closing one.
    void run(Lines text);

private:
    struct Statement {
        std::string_view name;
        std::vector<std::string_view> parts;  // of the name
        std::vector<Operand> operands;
        Instruction instruction;  // its guard and line are set
    };

    void declare_registers();
    void declare(std::string_view name, Width width);
    void statement();
    Operand operand();
    void instruction(Statement &s);

    bool control(Statement &s);
    void arithmetic(Statement &s);
    void add_form(const Statement &s, const struct Form &form, const std::vector<uint32_t> &values);
    void move(Statement &s);
    void compare(Statement &s);
    void access(Statement &s);
    void load_parameter(const Statement &s, Type type, const std::vector<uint32_t> &values);
    void atomic(Statement &s);
    void shuffle(Statement &s);
    void vote(Statement &s);
    void reduce(Statement &s);
    void matrix_product(Statement &s);
    void load_matrix(Statement &s);
    void async_copy(Statement &s);
    void copy(Statement &s);
    uint32_t copy_size(const Statement &s, uint64_t most);
    uint64_t literal(const Statement &s, size_t n) const;
    void require_target(const Statement &s, uint32_t target) const;
    template<size_t n>
    std::array<uint32_t, n> fragment(const Statement &s, const Operand &operand);

    void set_space(Statement &s, std::string_view part);
    void set_address(Statement &s, const Operand &operand);
    uint32_t register_named(std::string_view name);
    uint32_t destination(const Operand &operand, Width width);
    uint32_t value_of(const Operand &operand, Type type);
    uint32_t narrow(const Statement &s, size_t n);  // the value of an operand of 32 bits
    uint32_t value_of_word(std::string_view word, bool negative, Type type);
    uint32_t narrowed(uint32_t value, const Instruction &like);
    const Operand &operand_of(const Statement &s, size_t n) const;
    [[noreturn]] void fail(const std::string &what) const { TokenStream::fail(what, line_); }
    [[noreturn]] void refuse(const Statement &s, const std::string &why = "is not known") const;

    TokenStream &tokens_;
    SharedVariables shared_;
    const std::map<std::string, Parameter, std::less<>> &parameters_;
    const uint32_t target_;  // of the module
    Entry &entry_;
    EntryBuilder builder_;
    // Registers of the scopes that are open; a family %r<N> is declared by its name and size.
    struct Family {
        Width width;
        uint64_t size;
    };
    struct Scope {
        std::map<std::string, uint32_t, std::less<>> registers;
        std::map<std::string, Family, std::less<>> families;
    };
    std::vector<Scope> scopes_{1};
    uint32_t line_ = 0;
};

}  // namespace software_cuda
