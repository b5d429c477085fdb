// Bodies of entries: scopes, registers, labels and operands.
#include <array>
#include <charconv>

#include "software_cuda/ptx/forms.h"
#include "software_cuda/ptx/parser.h"

namespace software_cuda {

namespace {

constexpr uint64_t kMostRegisters = 1 << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<double> decimal(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

}  // namespace

BodyParser::BodyParser(TokenStream &tokens, SharedVariables shared,
                       const std::map<std::string, Parameter, std::less<>> &parameters,
                       uint32_t target, Entry &entry)
    : tokens_(tokens),
      shared_(std::move(shared)),
      parameters_(parameters),
      target_(target),
      entry_(entry) {}

void BodyParser::run(Lines text) {
    while (!scopes_.empty()) {
        line_ = tokens_.peek().line;
        if (tokens_.at_end()) fail("entry " + entry_.name + " without end");
        if (tokens_.take("{")) {
            scopes_.emplace_back();
        } else if (tokens_.take("}")) {
            scopes_.pop_back();
        } else if (tokens_.take(".reg")) {
            declare_registers();
        } else if (tokens_.take(".shared")) {
            entry_.shared_bytes = shared_variable(tokens_, shared_, entry_.shared_bytes);
        } else if (tokens_.take(".loc") || tokens_.take(".pragma") || tokens_.take(".file")) {
            while (!tokens_.at_end() && tokens_.peek().line == line_) tokens_.next();
        } else if (tokens_.peek(1).is(":")) {
            if (!builder_.add_label(tokens_.next().text)) fail("a second label of this name");
            tokens_.next();
        } else if (!tokens_.take(";")) {
            statement();
        }
    }
    builder_.finish(entry_, std::move(text));
}

void BodyParser::declare_registers() {
    const Token word = tokens_.next();
    const auto type = type_named(word.text.substr(word.text.starts_with(".")));
    if (!type) fail("registers of type " + std::string(word.text));
    do {
        const std::string_view name = tokens_.next().text;
        if (!tokens_.take("<")) {
            declare(name, width_of(*type));
            continue;
        }
        const uint64_t size = tokens_.number();
        if (size > kMostRegisters) fail("more than a million registers");
        scopes_.back().families[std::string(name)] = {width_of(*type), size};
        tokens_.expect(">");
    } while (tokens_.take(","));
    tokens_.expect(";");
}

void BodyParser::declare(std::string_view name, Width width) {
    if (!scopes_.back().registers.emplace(name, builder_.add_value(width)).second) {
        fail("a second register " + std::string(name));
    }
}

uint32_t BodyParser::register_named(std::string_view name) {
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    for (size_t n = scopes_.size(); n-- > 0;) {
        Scope &scope = scopes_[n];
        if (const auto known = scope.registers.find(name); known != scope.registers.end())
            return known->second;
        const auto family = scope.families.find(name.substr(0, digits));
        uint64_t index = 0;
        if (family == scope.families.end() || digits == name.size()) continue;
        const std::errc error =
            std::from_chars(name.data() + digits, name.data() + name.size(), index).ec;
        if (error != std::errc() || index >= family->second.size) continue;
        return scope.registers.emplace(name, builder_.add_value(family->second.width))
            .first->second;
    }
    return kNone;
}

void BodyParser::statement() {
    Statement s;
    s.instruction.line = line_;
    if (tokens_.take("@")) {
        s.instruction.guard_negated = tokens_.take("!");
        const std::string_view name = tokens_.next().text;
        s.instruction.guard = register_named(name);
        if (s.instruction.guard == kNone ||
            builder_.width(s.instruction.guard) != Width::kPredicate) {
            fail("predicate " + std::string(name));
        }
    }
    s.name = tokens_.next().text;
    for (size_t at = 0; at <= s.name.size();) {
        const size_t end = std::min(s.name.find('.', at), s.name.size());
        s.parts.push_back(s.name.substr(at, end - at));
        at = end + 1;
    }
    // Before its operands, which are of forms that no other instruction has.
    if (s.parts[0] == "cp" && s.name.find(".bulk.") != s.name.npos) refuse(s);
    while (!tokens_.take(";")) {
        if (tokens_.at_end()) fail("an instruction without end");
        s.operands.push_back(operand());
        if (!tokens_.peek().is(";")) tokens_.expect(",");
    }
    instruction(s);
}

Operand BodyParser::operand() {
    Operand operand;
    const auto word = [&] {
        if (tokens_.peek().text.empty() || tokens_.peek().is(";")) fail("an operand expected");
        operand.words.push_back(tokens_.next().text);
    };
    if (tokens_.take("{")) {
        operand.kind = Operand::kVector;
        do word();
        while (tokens_.take(","));
        tokens_.expect("}");
        return operand;
    }
    if (tokens_.take("[")) {
        operand.kind = Operand::kAddress;
        word();
        const bool plus = tokens_.take("+");
        const bool minus = tokens_.take("-");
        if (plus || minus) {
            const uint64_t offset = tokens_.number();
            // Signed, of 32 bits (PTX ISA 6.4.1).
            if (offset >= (uint64_t{1} << 31) + minus) fail("an offset of more than 32 bits");
            const auto value = static_cast<int64_t>(offset);
            operand.offset = minus ? -value : value;
        }
        tokens_.expect("]");
        return operand;
    }
    operand.negated = tokens_.take("!");
    operand.negative = tokens_.take("-");
    word();
    if (tokens_.take("|")) word();
    return operand;
}

const Operand &BodyParser::operand_of(const Statement &s, size_t n) const {
    if (n >= s.operands.size()) refuse(s, "has too few operands");
    return s.operands[n];
}

uint32_t BodyParser::destination(const Operand &operand, Width width) {
    if (operand.kind != Operand::kWord) fail("a register expected");
    const uint32_t value = register_named(operand.words[0]);
    if (value == kNone) fail("no register " + std::string(operand.words[0]));
    if (builder_.width(value) != width)
        fail("register " + std::string(operand.words[0]) + " is of another width");
    return value;
}

uint32_t BodyParser::value_of(const Operand &operand, Type type) {
    if (operand.kind != Operand::kWord || operand.negated || operand.words.size() != 1)
        fail("a register or a number expected");
    return value_of_word(operand.words[0], operand.negative, type);
}

uint32_t BodyParser::value_of_word(std::string_view word, bool negative, Type type) {
    const Width width = width_of(type);
    uint64_t bits = 0;
    if (is_digit(word[0])) {
        const bool is_float = type == Type::f32 || type == Type::f64;
        const bool exact = word.size() > 1 &&
                           (word[1] == 'f' || word[1] == 'F' || word[1] == 'd' || word[1] == 'D');
        if (is_float && !exact) {
            const auto number = decimal(word);
            if (!number) fail("number " + std::string(word));
            const double value = negative ? -*number : *number;
            bits = type == Type::f64 ? std::bit_cast<uint64_t>(value)
                                     : std::bit_cast<uint32_t>(static_cast<float>(value));
        } else {
            if (!parse_number(word, bits)) fail("number " + std::string(word));
            if (negative) bits = 0 - bits;
        }
        return builder_.constant(width, bits);
    }
    if (negative) fail("a negated register");
    if (const auto variable = shared_.find(word); variable != shared_.end()) {
        return builder_.constant(width, variable->second);
    }
    uint32_t value = register_named(word);
    if (value == kNone) value = builder_.special(word);
    if (value == kNone) fail("no register " + std::string(word));
    return value;
}

// Some instructions read the low half of wider registers.
uint32_t BodyParser::narrowed(uint32_t value, const Instruction &like) {
    if (builder_.width(value) != Width::kWide) return value;
    Instruction low{.op = Op::cvt_u32_u64, .guard = like.guard, .a = value, .line = like.line};
    low.guard_negated = like.guard_negated;
    low.d[0] = builder_.add_value(Width::kNarrow);
    builder_.add(low);
    return low.d[0];
}

void BodyParser::refuse(const Statement &s, const std::string &why) const {
    fail("instruction '" + std::string(s.name) + "' " + why);
}

}  // namespace software_cuda
