// Loads of matrices, on every instruction set of the host that this CPU runs and any number of
// lanes at once, and what a module with instructions on matrices is refused for.
#include <gtest/gtest.h>

#include <random>

#include "software_cuda/ptx/module.h"
#include "tests/software_cuda/form_runner.h"
#include "tests/software_cuda/machine_case.h"

namespace software_cuda::tests {

namespace {

// Rows of 16 bytes lie in any order; %rd20 and %r20 are the address of a lane's row, less 128.
void check_load(int count, bool transposed, bool wide, const Settings &settings) {
    std::vector<uint8_t> memory(1024);
    std::mt19937 random(4);
    for (uint8_t &byte : memory) byte = static_cast<uint8_t>(random());
    MachineCase c;
    c.settings = settings;
    c.settings.check = Check::kAll;
    c.settings.threads = 1;
    c.p0 = c.memory.allocate(memory.size());
    c.p1 = c.memory.allocate(32 * 16);
    std::vector<uint32_t> results(32 * 4);
    EXPECT_TRUE(c.memory.write(c.p0, memory.data(), memory.size()));
    std::string text =
        "shl.b32 %r3, %r0, 5; cvt.u64.u32 %rd3, %r3; add.s64 %rd3, %rd3, %rd0;\n"
        "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd3]; st.shared.v4.b32 [%r3], {%r4, %r5, %r6, "
        "%r7};\n"
        "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd3+16]; st.shared.v4.b32 [%r3+16], {%r4, %r5, "
        "%r6, %r7};\nbar.sync 0;\n"
        "mad.lo.u32 %r20, %r0, 5, 3; and.b32 %r20, %r20, 31; shl.b32 %r20, %r20, 4;\n"
        "cvt.u64.u32 %rd20, %r20; mov.u32 %r8, 77; mov.u32 %r9, 77; mov.u32 %r10, 77; mov.u32 "
        "%r11, 77;\n"
        "ldmatrix.sync.aligned.m8n8.x" +
        std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 " +
        (count == 1   ? "{%r8}"
         : count == 2 ? "{%r8, %r9}"
                      : "{%r8, %r9, %r10, %r11}") +
        ", [" + (wide ? "%rd20" : "%r20") +
        "+128];\nmul.wide.u32 %rd4, %r0, 16; add.s64 %rd4, %rd4, %rd1; st.global.v4.b32 [%rd4], "
        "{%r8, %r9, %r10, %r11};";
    const Outcome outcome = c.run(text);
    EXPECT_EQ(outcome.status, Outcome::kDone);
    for (const Finding &finding : outcome.findings) ADD_FAILURE() << finding.message;
    EXPECT_TRUE(c.memory.read(results.data(), c.p1, results.size() * 4));
    const auto element = [&](int matrix, int row, int column) {
        const int lane = matrix * 8 + row;
        const auto at = static_cast<size_t>(128 + (lane * 5 + 3) % 32 * 16 + 2 * column);
        return uint32_t{memory[at]} | uint32_t{memory[at + 1]} << 8;
    };
    for (int lane = 0; lane < 32; lane++) {
        for (int m = 0; m < 4; m++) {
            const int x = lane / 4, y = lane % 4 * 2;
            const uint32_t wanted = m >= count   ? 77
                                    : transposed ? element(m, y, x) | element(m, y + 1, x) << 16
                                                 : element(m, x, y) | element(m, x, y + 1) << 16;
            ASSERT_EQ(results[static_cast<size_t>(lane * 4 + m)], wanted)
                << "lane " << lane << ", matrix " << m << " of " << count << ", "
                << name_of(settings.instruction_set) << ", " << settings.lanes << " lanes";
        }
    }
}

TEST(MatrixForms, Loads) {
    for (const int count : {1, 2, 4}) {
        for (const bool transposed : {false, true}) {
            for (const bool wide : {false, true}) {
                for (const InstructionSet set : instruction_sets())
                    check_load(count, transposed, wide, {.instruction_set = set});
                for (const unsigned lanes : {1u, 16u})
                    check_load(count, transposed, wide, {.lanes = lanes});
                if (HasFailure()) return;
            }
        }
    }
}

// What a module with such an instruction is refused for.
std::string refusal(const std::string &instruction, uint32_t target = 80) {
    std::string text = kernel_of(instruction);
    text.replace(text.find("sm_80"), 5, "sm_" + std::to_string(target));
    try {
        parse_module(text, 90);
    } catch (const ModuleError &error) {
        EXPECT_EQ(error.status(), ModuleError::kInvalidPtx);
        return error.what();
    }
    return "";
}

TEST(MatrixForms, AreRefusedWhereTheyAreNotKnown) {
    const std::string a = " {%r4, %r5, %r6, %r7}", b = " {%r8, %r9}",
                      product = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" + a + "," + a +
                                "," + b + "," + a + ";";
    const std::string load = "ldmatrix.sync.aligned.m8n8.x2.shared.b16" + b + ", [%r3];";
    EXPECT_EQ(refusal(product), "");
    EXPECT_EQ(refusal(load), "");
    const auto expect = [](const std::string &message, const char *part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    expect(refusal(product, 75), "needs .target sm_80");
    expect(refusal(load, 70), "needs .target sm_75");
    EXPECT_EQ(refusal(load, 75), "");
    for (const char *name : {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                             "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
                             "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
                             "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
                             "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
                             "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
                             "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"}) {
        expect(refusal(name + a + "," + a + "," + b + "," + a + ";"),
               ("instruction '" + std::string(name) + "' is not known").c_str());
    }
    for (const char *name :
         {"ldmatrix.sync.aligned.m8n8.x3.shared.b16", "ldmatrix.sync.aligned.m8n8.x2.global.b16",
          "ldmatrix.sync.aligned.m8n16.x2.shared.b16"})
        expect(refusal(name + b + ", [%r3];"), "is not known");
    expect(refusal("ldmatrix.sync.aligned.m8n8.x2.b16" + b + ", [%rd3];"), "without a state space");
    expect(refusal("ldmatrix.sync.aligned.m8n8.x4.shared.b16" + b + ", [%r3];"),
           "with another number of registers");
    expect(refusal("ldmatrix.sync.aligned.m8n8.x2.shared.b16" + b + ", %r3;"),
           "without an address");
    expect(refusal("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" + a + "," + b + "," + b +
                   "," + a + ";"),
           "with another number of registers");
    expect(
        refusal("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" + a + "," + a + "," + b + ";"),
        "with another number of operands");
    expect(refusal("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" + a + "," + a +
                   ", {%rd8, %rd9}," + a + ";"),
           "register %rd8 is of another width");
}

}  // namespace

}  // namespace software_cuda::tests
