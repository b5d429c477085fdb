// Atomic operations and parameters in all their forms.
#include <gtest/gtest.h>

#include <map>

#include "software_cuda/ptx/module.h"
#include "tests/software_cuda/form_runner.h"
#include "tests/software_cuda/machine_case.h"
#include "tests/software_cuda/operand_values.h"

namespace software_cuda::tests {

namespace {

constexpr const char *kOperations[] = {"add", "min", "max", "and",  "or",
                                       "xor", "inc", "dec", "exch", "cas"};
constexpr const char *kTypeNames[] = {"b8",  "u8",   "s8",  "b16", "u16", "s16",
                                      "f16", "bf16", "b32", "u32", "s32", "f32",
                                      "b64", "u64",  "s64", "f64", "pred"};

// Sections "atom" and "red": the types of an operation, of 32 and 64 bits.
bool exists(const std::string &operation, const std::string &type, bool returns) {
    static const std::map<std::string, std::string> types{{"add", "u32 s32 u64 f32 f64"},
                                                          {"min", "u32 s32 u64 s64"},
                                                          {"max", "u32 s32 u64 s64"},
                                                          {"inc", "u32"},
                                                          {"dec", "u32"},
                                                          {"and", "b32 b64"},
                                                          {"or", "b32 b64"},
                                                          {"xor", "b32 b64"},
                                                          {"exch", "b32 b64"},
                                                          {"cas", "b32 b64"}};
    if (!returns && (operation == "exch" || operation == "cas")) return false;
    return (" " + types.at(operation) + " ").find(" " + type + " ") != std::string::npos;
}

// What is in memory after it: a is there, b and c are the operands.
Reference atomic_reference(const std::string &operation, const std::string &type, bool in_global) {
    if (operation == "exch") return [](const Operands &o) { return Wanted{.bits = o.b}; };
    if (operation == "cas")
        return [](const Operands &o) { return Wanted{.bits = o.a == o.b ? o.c : o.a}; };
    if (operation == "inc")
        return [](const Operands &o) { return Wanted{.bits = o.a >= o.b ? 0 : o.a + 1}; };
    if (operation == "dec")
        return
            [](const Operands &o) { return Wanted{.bits = o.a == 0 || o.a > o.b ? o.b : o.a - 1}; };
    // In global memory additions of f32 flush subnormals.
    const bool flushes = type == "f32" && in_global;
    return reference_of(operation + (flushes ? ".ftz." : ".") + type);
}

struct AtomicForm {
    std::string operation, type;
    bool returns, shared;

    unsigned bits() const {
        return float_format(type) ? (type == "f64" ? 64 : 32) : integer_type(type).bits;
    }
    std::string name() const {
        return std::string(returns ? "atom" : "red") + (shared ? ".shared." : ".global.") +
               operation + "." + type;
    }
    // Of the value at %rd10, or %r10 in shared memory, with b and c; what was there to d.
    std::string text() const {
        const std::string kind = bits() == 64 ? "%rd" : "%r";
        return name() + " " + (returns ? kind + "11, " : "") + (shared ? "[%r10]" : "[%rd10]") +
               ", " + kind + "12" + (operation == "cas" ? ", " + kind + "13" : "") + ";\n";
    }
};

// A thread of a block its own place; p0 has a, b and c of each, 8 bytes each, and takes what was
// there and what is.
std::string own_places(const AtomicForm &form) {
    const std::string width = std::to_string(form.bits()), kind = form.bits() == 64 ? "%rd" : "%r";
    std::string text =
        "mad.lo.s32 %r5, %r1, 64, %r0; mul.wide.u32 %rd10, %r5, 32; add.s64 %rd10, %rd10, %rd0;\n"
        "mul.lo.u32 %r10, %r0, 8; mov.u64 %rd15, %rd10;\n"
        "ld.global.b" +
        width + " " + kind + "12, [%rd15+8]; ld.global.b" + width + " " + kind +
        "13, [%rd15+16];\nmov.b" + width + " " + kind + "11, 0;\n";
    if (form.shared)
        text += "ld.global.b" + width + " " + kind + "14, [%rd10]; st.shared.b" + width +
                " [%r10], " + kind + "14;\n";
    text += form.text();
    if (form.shared)
        text += "ld.shared.b" + width + " " + kind + "14, [%r10]; st.global.b" + width +
                " [%rd10], " + kind + "14;\n";
    return text + "st.global.b" + width + " [%rd15+24], " + kind + "11;\n";
}

void check(const AtomicForm &form) {
    const Reference reference = atomic_reference(form.operation, form.type, !form.shared);
    ASSERT_TRUE(reference) << form.name();
    std::vector<Operands> operands = operand_values(form.type, form.type, form.type);
    for (size_t n = 0; n < operands.size(); n += 3)
        operands[n].b = operands[n].a;  // a cas that swaps
    MachineCase c;
    c.settings.check = Check::kNone;
    c.block.x = 64;
    c.grid.x = static_cast<uint32_t>(operands.size() / 64);
    operands.resize(size_t{64} * c.grid.x);
    std::vector<std::array<uint64_t, 4>> slots;
    for (const Operands &o : operands) slots.push_back({o.a, o.b, o.c, 0});
    const size_t bytes = slots.size() * sizeof slots[0];
    c.p0 = c.memory.allocate(bytes);
    ASSERT_TRUE(c.memory.write(c.p0, slots.data(), bytes));
    ASSERT_EQ(c.run(own_places(form)).status, Outcome::kDone) << form.name();
    ASSERT_TRUE(c.memory.read(slots.data(), c.p0, bytes));
    const uint64_t mask = ~uint64_t{0} >> (64 - form.bits());
    for (size_t n = 0; n < slots.size(); n++) {
        const Wanted wanted = reference(operands[n]);
        ASSERT_TRUE(wanted.allows(slots[n][0] & mask))
            << std::hex << form.name() << " of 0x" << operands[n].a << ", 0x" << operands[n].b
            << ", 0x" << operands[n].c << " leaves 0x" << slots[n][0] << ", not "
            << to_string(wanted);
        ASSERT_EQ(slots[n][3], form.returns ? operands[n].a : 0) << form.name();
    }
}

// Each that PTX has is right, and no other one is taken.
TEST(AtomicForms, ThoseOfTheIsaAndNoOthers) {
    for (const char *operation : kOperations) {
        for (const char *type : kTypeNames) {
            for (const bool returns : {false, true}) {
                for (const bool shared : {false, true}) {
                    const AtomicForm form{operation, type, returns, shared};
                    if (exists(operation, type, returns))
                        check(form);
                    else
                        EXPECT_THROW(MachineCase().run(form.text()), ModuleError) << form.name();
                }
            }
        }
        if (HasFailure()) return;
    }
}

struct Contended {
    const char *name, *type, *operand;
    uint64_t before, after;
};

// 256 threads of 4 blocks at one place.
TEST(AtomicForms, OfManyThreadsAtOnePlace) {
    const Contended all[] = {{"add", "u32", "%r6", 5, 5 + 256 * 255 / 2},
                             {"add", "f32", "0f3F800000", 0, 0x43800000},
                             {"add", "f64", "0d3FF0000000000000", 0, 0x4070000000000000},
                             {"min", "s32", "%r7", 7, 0xffffff02},
                             {"max", "u32", "%r6", 7, 255},
                             {"xor", "b32", "%r6", 0xabcd0000, 0xabcd0000},
                             {"or", "b32", "%r6", 0, 255},
                             {"and", "b32", "%r6", 0xff, 0},
                             {"inc", "u32", "99", 0, 256 % 100},
                             {"dec", "u32", "99", 0, 100 - 256 % 100}};
    for (const Contended &form : all) {
        for (const char *kind : {"red", "atom"}) {
            MachineCase c;
            c.settings.threads = 4;
            c.block.x = 64;
            c.grid.x = 4;
            c.p0 = c.memory.allocate(8);
            ASSERT_TRUE(c.memory.write(c.p0, &form.before, 8));
            const std::string to = kind == std::string("red")        ? ""
                                   : form.type == std::string("f64") ? "%rd9, "
                                                                     : "%r9, ";
            const Outcome outcome = c.run("mad.lo.s32 %r6, %r1, 64, %r0; sub.s32 %r7, 1, %r6;\n" +
                                          std::string(kind) + ".global." + form.name + "." +
                                          form.type + " " + to + "[%rd0], " + form.operand + ";");
            EXPECT_TRUE(outcome.findings.empty()) << form.name;
            uint64_t after = 0;
            ASSERT_TRUE(c.memory.read(&after, c.p0, 8));
            EXPECT_EQ(after, form.after) << kind << " " << form.name << " " << form.type;
        }
    }
}

struct ParameterForm {
    const char *instruction;  // of 8 bytes of parameters, 0x8877665544332211
    uint64_t wanted;          // in %rd4, or %r4 where it begins with that
};

TEST(ParameterForms, Loads) {
    const ParameterForm forms[] = {
        {"ld.param.u8 %r4, [p1+7]", 0x88},
        {"ld.param.s8 %r4, [p1+7]", 0xffffff88},
        {"ld.param.b8 %r4, [p1+0]", 0x11},
        {"ld.param.u16 %r4, [p1+6]", 0x8877},
        {"ld.param.s16 %r4, [p1+6]", 0xffff8877},
        {"ld.param.u32 %r4, [p1+4]", 0x88776655},
        {"ld.param.s32 %rd4, [p1+4]", 0xffffffff88776655},
        {"ld.param.u32 %rd4, [p1+4]", 0x88776655},
        {"ld.param.u64 %rd4, [p1]", 0x8877665544332211},
        {"ld.param.v2.u32 {%r5, %r4}, [p1]", 0x88776655},
        {"ld.param.v4.u16 {%r5, %r6, %r4, %r7}, [p1]", 0x6655},
    };
    for (const ParameterForm &form : forms) {
        const bool wide = std::string(form.instruction).find("%rd4") != std::string::npos;
        MachineCase c;
        c.block.x = 1;
        c.p0 = c.memory.allocate(8);
        c.p1 = 0x8877665544332211;
        EXPECT_EQ(c.run(std::string(form.instruction) + "; st.global." +
                        (wide ? "u64 [%rd0], %rd4;" : "u32 [%rd0], %r4;"))
                      .status,
                  Outcome::kDone);
        uint64_t result = 0;
        ASSERT_TRUE(c.memory.read(&result, c.p0, wide ? 8 : 4));
        EXPECT_EQ(result, form.wanted) << form.instruction;
    }
    for (const char *beyond : {"ld.param.u32 %r4, [p1+8]", "ld.param.u32 %r4, [p1+2]",
                               "ld.param.v2.u64 {%rd4, %rd5}, [p1]", "ld.param.u32 %r4, [q]"}) {
        EXPECT_THROW(MachineCase().run(std::string(beyond) + ";"), ModuleError) << beyond;
    }
}

}  // namespace

}  // namespace software_cuda::tests
