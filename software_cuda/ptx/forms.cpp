#include "software_cuda/ptx/forms.h"

#include <array>
#include <map>
#include <unordered_map>

namespace software_cuda {

namespace {

const std::unordered_map<std::string_view, Form> &forms() {
    using enum Type;
    static const std::unordered_map<std::string_view, Form> table{
#define INSTRUCTION(name, text, d, a, b, c, ...) {text, {Op::name, d, a, b, c}},
#include "software_cuda/ptx/instructions.def"
#undef INSTRUCTION
        {"and.pred", {Op::and_pred, pred, pred, pred, none}},
        {"or.pred", {Op::or_pred, pred, pred, pred, none}},
        {"xor.pred", {Op::xor_pred, pred, pred, pred, none}},
        {"not.pred", {Op::not_pred, pred, pred, none, none}},
        {"mov.pred", {Op::mov_pred, pred, pred, none, none}},
    };
    return table;
}

void replace(std::string &text, std::string_view from, std::string_view to) {
    if (const size_t at = text.find(from); at != text.npos) text.replace(at, from.size(), to);
}

// The spelling that the table has.
std::string usual_name(std::string_view name) {
    std::string usual(name);
    const std::string_view base = name.substr(0, name.find('.'));
    if (base == "add" || base == "sub" || base == "mul") {
        replace(usual, ".rn.", ".");
    } else if (base == "mov" || base == "selp") {
        for (const char *type : {".u", ".s", ".f"}) replace(usual, type, ".b");
    } else if (base == "setp") {
        for (const char *relation : {".eq.", ".ne."}) {
            replace(usual, relation + std::string("s"), relation + std::string("u"));
            replace(usual, relation + std::string("b"), relation + std::string("u"));
        }
        constexpr std::array<std::array<const char *, 2>, 4> unsigned_relations{
            {{".lo.", ".lt."}, {".ls.", ".le."}, {".hi.", ".gt."}, {".hs.", ".ge."}}};
        for (const auto &[from, to] : unsigned_relations) replace(usual, from, to);
    } else if (base == "cvta") {
        usual = "mov.b64";
    }
    return usual;
}

}  // namespace

std::optional<Form> find_form(std::string_view name) {
    auto form = forms().find(name);
    if (form == forms().end()) form = forms().find(usual_name(name));
    return form == forms().end() ? std::nullopt : std::optional(form->second);
}

InstructionClass class_of(std::string_view name) {
    const std::string_view base = name.substr(0, name.find('.'));
    const bool is_float = name.find(".f") != name.npos;
    if (base == "fma" || base == "dp4a" || (base == "mad" && is_float))
        return InstructionClass::kMultiplyAdd;
    for (const char *division :
         {"div", "rem", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"}) {
        if (base == division) return InstructionClass::kDivision;
    }
    if (base == "cvt") return InstructionClass::kConversion;
    if (base == "setp" || base == "selp") return InstructionClass::kCompare;
    if (base == "mov" || base == "cvta") return InstructionClass::kMove;
    return is_float ? InstructionClass::kFloat : InstructionClass::kInteger;
}

std::optional<Type> type_named(std::string_view name) {
    using enum Type;
    static const std::unordered_map<std::string_view, Type> types{
        {"u8", u8},   {"s8", s8},     {"b8", u8},   {"u16", u16}, {"s16", s16},  {"b16", b16},
        {"f16", f16}, {"bf16", bf16}, {"u32", u32}, {"s32", s32}, {"b32", b32},  {"f32", f32},
        {"u64", u64}, {"s64", s64},   {"b64", b64}, {"f64", f64}, {"pred", pred}};
    const auto type = types.find(name);
    return type == types.end() ? std::nullopt : std::optional(type->second);
}

unsigned bytes_of(Type type) {
    using enum Type;
    switch (type) {
        case u8:
        case s8:
            return 1;
        case u16:
        case s16:
        case b16:
        case f16:
        case bf16:
            return 2;
        case u64:
        case s64:
        case b64:
        case f64:
            return 8;
        default:
            return 4;
    }
}

bool is_signed(Type type) {
    using enum Type;
    return type == s8 || type == s16 || type == s32 || type == s64;
}

}  // namespace software_cuda
