// Every arithmetic instruction of instructions.def, on every instruction set of the host that this
// CPU runs, against a computation of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "software_cuda/ptx/program.h"
#include "tests/software_cuda/form_runner.h"
#include "tests/software_cuda/operand_values.h"

namespace software_cuda::tests {

namespace {

std::vector<FormCase> all_forms() {
    std::vector<FormCase> forms{
#define INSTRUCTION(name, text, d, a, b, c, ...) {text, #d, #a, #b, #c},
#include "software_cuda/ptx/instructions.def"
#undef INSTRUCTION
    };
    // Those of predicates are not in the list.
    static_assert(static_cast<int>(Op::load) - static_cast<int>(Op::and_pred) == 5);
    for (const char *name : {"and.pred", "or.pred", "xor.pred"})
        forms.push_back({name, "pred", "pred", "pred", "none"});
    for (const char *name : {"not.pred", "mov.pred"})
        forms.push_back({name, "pred", "pred", "none", "none"});
    return forms;
}

// A result as the register has it: of integers extended by their sign.
Wanted in_register(Wanted wanted, const FormCase &form, Use use) {
    const IntegerType type = integer_type(form.result);
    const unsigned width = register_bits(form, use);
    if (wanted.kind != Wanted::kBits || type.bits == 0 || type.bits >= width) return wanted;
    if (type.is_signed && wanted.bits >> (type.bits - 1)) wanted.bits |= ~uint64_t{0} << type.bits;
    wanted.bits &= ~uint64_t{0} >> (64 - width);
    return wanted;
}

Wanted untouched(const FormCase &form) {
    const unsigned width = register_bits(form, Use::kGuarded);
    return {.bits = width == 1 ? 1 : kUntouched & (~uint64_t{0} >> (64 - width))};
}

// Reports the first few differences.
class Report {
public:
    ~Report() {
        if (count_ > kMost) ADD_FAILURE() << "and " << count_ - kMost << " more";
    }
    void operator()(const FormCase &form, const char *where, const Operands &o, uint64_t result,
                    const std::string &wanted) {
        if (count_++ >= kMost) return;
        std::ostringstream text;
        text << std::hex << form.name << " (" << where << ") of 0x" << o.a << ", 0x" << o.b
             << ", 0x" << o.c << " is 0x" << result << ", not " << wanted;
        ADD_FAILURE() << text.str();
    }

private:
    static constexpr int kMost = 5;
    int count_ = 0;
};

void check(const FormCase &form, Use use, const Reference &reference,
           const std::vector<Operands> &operands) {
    std::vector<Wanted> wanted;
    for (size_t n = 0; n < operands.size(); n++) {
        const bool skipped = use == Use::kGuarded && n % 128 % 3 == 0;
        wanted.push_back(skipped ? untouched(form)
                                 : in_register(reference(operands[n]), form, use));
    }
    Report report;
    std::vector<uint64_t> first;
    for (const InstructionSet set : instruction_sets()) {
        const std::vector<uint64_t> results = results_of(form, use, operands, set);
        if (first.empty()) first = results;
        for (size_t n = 0; n < operands.size(); n++) {
            if (!wanted[n].allows(results[n]))
                report(form, name_of(set), operands[n], results[n], to_string(wanted[n]));
            if (results[n] != first[n])
                report(form, name_of(set), operands[n], results[n],
                       to_string({.bits = first[n]}) + " as on others");
        }
    }
}

std::string test_name(const FormCase &form) {
    std::string name = form.name;
    std::erase_if(name, [](char c) { return c == '(' || c == ')'; });
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

class Forms : public testing::TestWithParam<FormCase> {};

TEST_P(Forms, ComputeWhatTheIsaSays) {
    const FormCase &form = GetParam();
    const Reference reference = reference_of(form.name);
    ASSERT_TRUE(reference) << "no reference of " << form.name;
    const std::vector<Operands> operands = operand_values(form.a, form.b, form.c);
    for (const Use use : {Use::kPlain, Use::kGuarded, Use::kInPlace, Use::kWide}) {
        if (takes(form, use)) check(form, use, reference, operands);
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Each, Forms, testing::ValuesIn(all_forms()),
                         [](const auto &info) { return test_name(info.param); });

// Other names of the same.
std::vector<std::string> spellings(const std::string &name) {
    const std::vector<std::string> parts = parts_of(name);
    std::vector<std::string> result;
    const auto with = [&](const std::string &from, const std::string &to) {
        if (const size_t at = name.find(from); at != std::string::npos)
            result.push_back(std::string(name).replace(at, from.size(), to));
    };
    const std::string &base = parts[0];
    if ((base == "add" || base == "sub" || base == "mul") && float_format(parts.back()))
        with(base + ".", base + ".rn.");
    if (base == "mov" || base == "selp") {
        for (const char *type : {".u", ".s"}) with(".b", type);
        if (parts.back() != "b16") with(".b", ".f");
    }
    if (base == "setp" && parts.back()[0] == 'u') {
        for (const char *type : {".s", ".b"}) {
            if (parts[1] == "eq" || parts[1] == "ne") with(".u", type);
        }
        for (const auto &[from, to] :
             {std::pair{"lt", "lo"}, {"le", "ls"}, {"gt", "hi"}, {"ge", "hs"}})
            with(std::string(".") + from + ".", std::string(".") + to + ".");
    }
    if (name == "mov.b64") result.insert(result.end(), {"cvta.to.global.u64", "cvta.global.u64"});
    return result;
}

TEST(Forms, HaveOtherSpellings) {
    int count = 0;
    for (FormCase form : all_forms()) {
        for (const std::string &name : spellings(form.name)) {
            form.name = name;
            const Reference reference = reference_of(name);
            ASSERT_TRUE(reference) << "no reference of " << name;
            check(form, Use::kPlain, reference, operand_values(form.a, form.b, form.c));
            count++;
        }
        if (HasFailure()) return;
    }
    EXPECT_GT(count, 50);
}

// setp.lt.and.s32 p|q, a, b, c: p is (a < b) and c, q is !(a < b) and c.
TEST(Forms, ComparisonsWithLogic) {
    using Logic = bool (*)(bool, bool);
    const std::tuple<const char *, Logic> all[] = {{"and", [](bool x, bool y) { return x && y; }},
                                                   {"or", [](bool x, bool y) { return x || y; }},
                                                   {"xor", [](bool x, bool y) { return x != y; }}};
    int count = 0;
    for (const FormCase &form : all_forms()) {
        const std::vector<std::string> parts = parts_of(form.name);
        if (parts[0] != "setp") continue;
        const Reference compare = reference_of(form.name);
        ASSERT_TRUE(compare) << form.name;
        const std::vector<Operands> operands = operand_values(form.a, form.b, "pred");
        for (const auto &[word, logic] : all) {
            for (const bool negated : {false, true}) {
                const std::string name = "setp." + parts[1] + "." + word + "." + parts[2];
                const FormCase both{name,
                                    "b32",
                                    form.a,
                                    form.b,
                                    "pred",
                                    name + " %p4|%p5, $a, $b, " + (negated ? "!" : "") +
                                        "$c; selp.u32 %r5, 2, 0, %p5; selp.u32 $d, 1, 0, %p4; "
                                        "or.b32 $d, $d, %r5;"};
                check(
                    both, Use::kPlain,
                    [&](const Operands &o) {
                        const bool x = compare(o).bits, y = (o.c != 0) != negated;
                        return Wanted{.bits = uint64_t{logic(x, y)} | uint64_t{logic(!x, y)} << 1};
                    },
                    operands);
                count++;
            }
        }
        if (HasFailure()) return;
    }
    EXPECT_EQ(count, 72 * 6);
}

// The two results without logic, and results that overwrite what the instruction reads.
TEST(Forms, ComparisonsThatOverwriteTheirPredicate) {
    const std::vector<Operands> operands = operand_values("s32", "s32", "pred");
    const auto less = [](const Operands &o) {
        return static_cast<int32_t>(o.a) < static_cast<int32_t>(o.b);
    };
    check(
        {"setp", "b32", "s32", "s32", "pred",
         "setp.lt.s32 %p4|$c, $a, $b; selp.u32 $d, 1, 0, %p4; @$c add.u32 $d, $d, 2;"},
        Use::kPlain, [&](const Operands &o) { return Wanted{.bits = less(o) ? 1u : 2u}; },
        operands);
    check(
        {"setp", "b32", "s32", "s32", "pred",
         "setp.lt.and.s32 $c|%p4, $a, $b, $c; selp.u32 $d, 1, 0, $c; @%p4 add.u32 $d, $d, 2;"},
        Use::kPlain,
        [&](const Operands &o) { return Wanted{.bits = !o.c      ? 0u
                                                       : less(o) ? 1u
                                                                 : 2u}; }, operands);
    check(
        {"setp", "b32", "s32", "s32", "pred",
         "setp.lt.or.s32 _|$c, $a, $b, $c; selp.u32 $d, 1, 0, $c;"},
        Use::kPlain, [&](const Operands &o) { return Wanted{.bits = o.c || !less(o)}; }, operands);
}

TEST(Forms, HalvesThatOverwriteWhatTheyRead) {
    const std::vector<Operands> operands = operand_values("b64", "none", "none");
    check(
        {"mov", "b64", "b64", "none", "none",
         "mov.b64 {%r1, %r2}, $a; mov.b64 $a, {%r2, %r1}; mov.b64 $d, $a;"},
        Use::kPlain, [](const Operands &o) { return Wanted{.bits = o.a << 32 | o.a >> 32}; },
        operands);
    check(
        {"mov", "b32", "b32", "none", "none", "mov.b32 {%h1, %h2}, $a; mov.b32 $d, {%h2, %h1};"},
        Use::kPlain,
        [](const Operands &o) {
            return Wanted{.bits = (o.a << 16 | (o.a & 0xffffffff) >> 16) & 0xffffffff};
        },
        operand_values("b32", "none", "none"));
}

struct Constant {
    const char *type, *text;
    uint64_t bits;
};

TEST(Forms, TakeNumbers) {
    const Constant constants[] = {{"b32", "0", 0},
                                  {"b32", "4294967295", 0xffffffff},
                                  {"s32", "-1", 0xffffffff},
                                  {"s32", "-2147483648", 0x80000000},
                                  {"b32", "0xFFFFFFFF", 0xffffffff},
                                  {"u32", "0x80000000U", 0x80000000},
                                  {"u32", "017", 15},
                                  {"u32", "0b101", 5},
                                  {"b16", "65535", 0xffff},
                                  {"s16", "-32768", 0x8000},
                                  {"b64", "18446744073709551615", ~uint64_t{0}},
                                  {"s64", "-9223372036854775808", uint64_t{1} << 63},
                                  {"f32", "0f3F800000", 0x3f800000},
                                  {"f32", "0fFF800000", 0xff800000},
                                  {"f32", "0F7fc00001", 0x7fc00001},
                                  {"f32", "0f00000001", 1},
                                  {"f32", "1.5", 0x3fc00000},
                                  {"f32", "-0.0", 0x80000000},
                                  {"f64", "0d3FF0000000000000", 0x3ff0000000000000},
                                  {"f64", "0D8000000000000001", 0x8000000000000001},
                                  {"f64", "0.1", 0x3fb999999999999a}};
    for (const Constant &constant : constants) {
        const std::string type = constant.type;
        check({std::string("mov of ") + constant.text, type, type, "none", "none",
               "mov." + type + " $d, " + constant.text + ";"},
              Use::kPlain, [&](const Operands &) { return Wanted{.bits = constant.bits}; }, {{}});
    }
}

}  // namespace

}  // namespace software_cuda::tests
