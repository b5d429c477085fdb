// Asynchronous copies in all their forms, on every instruction set of the host that this CPU runs
// and any number of lanes at once, and what a module with them is refused for.
#include <gtest/gtest.h>

#include <random>

#include "software_cuda/ptx/module.h"
#include "tests/software_cuda/form_runner.h"
#include "tests/software_cuda/machine_case.h"

namespace software_cuda::tests {

namespace {

constexpr uint32_t kCopyThreads = 64;
constexpr const char *kRowOfOnes =
    "mov.b32 %r8, 0x01010101; shl.b32 %r20, %r0, 4; st.shared.v4.b32 [%r20], {%r8, %r8, %r8, "
    "%r8}; bar.sync 0;\n";
// A thread's 16 bytes of shared memory, to p1.
constexpr const char *kGiveRow =
    "ld.shared.v4.b32 {%r8, %r9, %r10, %r11}, [%r20]; mul.wide.u32 %rd9, %r0, 16; "
    "add.s64 %rd9, %rd9, %rd1; st.global.v4.b32 [%rd9], {%r8, %r9, %r10, %r11};";

struct CopyForm {
    std::string caches;
    uint32_t bytes;
    enum Size : uint8_t { kNoSize, kNumber, kRegister } size;
    uint32_t number;  // that size; of a register: of the first thread, then one more each
    bool wide, guarded;
    std::string suffix;  // of the name

    uint32_t size_of(uint32_t thread) const {
        return size == kNoSize ? bytes : size == kNumber ? number : (thread + number) % (bytes + 1);
    }
    // From row thread * 5 % 64 of p0, 16 bytes behind [%rd3], to the thread's, before [%r3] and
    // [%rd4]. Threads that read nothing have an address that is none.
    std::string text() const {
        const std::string count = std::to_string(bytes);
        std::string text = kRowOfOnes;
        text +=
            "mad.lo.u32 %r4, %r0, 5, 0; and.b32 %r4, %r4, 63; shl.b32 %r4, %r4, 4; cvt.u64.u32 "
            "%rd3, %r4; add.s64 %rd3, %rd3, %rd0; add.s64 %rd3, %rd3, -16;\n"
            "add.u32 %r3, %r20, 32; cvt.u64.u32 %rd4, %r3; add.u32 %r5, %r0, " +
            std::to_string(number) + "; rem.u32 %r5, %r5, " + std::to_string(bytes + 1) +
            "; rem.u32 %r6, %r0, 3; setp.ne.u32 %p1, %r6, 0;\n";
        if (size == kRegister) text += "setp.eq.u32 %p2, %r5, 0; selp.b64 %rd3, 5, %rd3, %p2;\n";
        if (size == kNumber && number == 0) text += "mov.b64 %rd3, 7;\n";
        text += (guarded ? "@%p1 " : "") + name() + " [" + (wide ? "%rd4" : "%r3") +
                "+-32], [%rd3+16], " + count;
        if (size == kNumber) text += ", " + std::to_string(number);
        if (size == kRegister) text += ", %r5";
        return text + ";\ncp.async.wait_all;\n" + kGiveRow;
    }
    std::string name() const { return "cp.async." + caches + ".shared" + suffix; }
};

std::vector<CopyForm> copy_forms() {
    std::vector<CopyForm> forms;
    for (const auto &[caches, bytes] :
         {std::pair{"cg", 16u}, {"ca", 16u}, {"ca", 8u}, {"ca", 4u}}) {
        for (const bool guarded : {false, true}) {
            for (const bool wide : {false, true}) {
                const auto add = [&, of = caches, most = bytes](CopyForm::Size size,
                                                                uint32_t number,
                                                                const char *suffix = ".global") {
                    forms.push_back({of, most, size, number, wide, guarded, suffix});
                };
                add(CopyForm::kNoSize, 0);
                add(CopyForm::kNoSize, 0, "::cta.global");
                add(CopyForm::kNoSize, 0, ".global.L2::128B");
                for (uint32_t number = 0; number <= bytes; number++) add(CopyForm::kNumber, number);
                add(CopyForm::kRegister, 0);
                add(CopyForm::kRegister, 3);
            }
        }
    }
    return forms;
}

void check_copy(const CopyForm &form, const Settings &settings) {
    std::vector<uint8_t> memory(16 * kCopyThreads), results(memory.size());
    std::mt19937 random(6);
    for (uint8_t &byte : memory) byte = static_cast<uint8_t>(random() | 2);
    MachineCase c;
    c.settings = settings;
    c.block.x = kCopyThreads;
    c.p0 = c.memory.allocate(memory.size());
    c.p1 = c.memory.allocate(results.size());
    EXPECT_TRUE(c.memory.write(c.p0, memory.data(), memory.size()));
    const Outcome outcome = c.run(form.text());
    EXPECT_EQ(outcome.status, Outcome::kDone);
    for (const Finding &finding : outcome.findings) ADD_FAILURE() << finding.message;
    EXPECT_TRUE(c.memory.read(results.data(), c.p1, results.size()));
    for (uint32_t thread = 0; thread < kCopyThreads; thread++) {
        const bool copies = !form.guarded || thread % 3 != 0;
        for (uint32_t n = 0; n < 16; n++) {
            const uint8_t wanted = !copies || n >= form.bytes ? 1
                                   : n < form.size_of(thread) ? memory[thread * 5 % 64 * 16 + n]
                                                              : 0;
            ASSERT_EQ(results[16 * thread + n], wanted)
                << form.text() << "\nthread " << thread << ", byte " << n << ", "
                << name_of(settings.instruction_set) << ", " << settings.lanes << " lanes";
        }
    }
}

TEST(CopyForms, Copy) {
    for (const CopyForm &form : copy_forms()) {
        for (const InstructionSet set : instruction_sets())
            check_copy(form, {.check = Check::kAll, .threads = 1, .instruction_set = set});
        for (const unsigned lanes : {1u, 16u})
            check_copy(form, {.check = Check::kAll, .lanes = lanes, .threads = 1});
        check_copy(form, {.threads = 1});
        if (HasFailure()) return;
    }
}

// Words n of the thread's 16 bytes are copied in turn, by `instructions`; others are 0x01010101.
// Which of them have arrived at the end, of all threads, a bit each.
std::vector<uint32_t> arrived_words(const std::string &instructions) {
    std::vector<uint32_t> memory(4, 7), results(4 * kCopyThreads), words(kCopyThreads);
    MachineCase c;
    c.settings.check = Check::kNone;
    c.block.x = kCopyThreads;
    c.p0 = c.memory.allocate(16);
    c.p1 = c.memory.allocate(4 * results.size());
    EXPECT_TRUE(c.memory.write(c.p0, memory.data(), 16));
    EXPECT_EQ(c.run(kRowOfOnes + instructions + kGiveRow).status, Outcome::kDone);
    EXPECT_TRUE(c.memory.read(results.data(), c.p1, 4 * results.size()));
    for (size_t n = 0; n < results.size(); n++) {
        EXPECT_TRUE(results[n] == 7 || results[n] == 0x01010101) << results[n];
        if (results[n] == 7) words[n / 4] |= 1u << n % 4;
    }
    return words;
}
void expect_arrived(const std::string &instructions, uint32_t words) {
    EXPECT_EQ(arrived_words(instructions), std::vector<uint32_t>(kCopyThreads, words))
        << instructions;
}
std::string copied_word(uint32_t n) {
    const std::string offset = std::to_string(4 * n);
    return "cp.async.ca.shared.global [%r20+" + offset + "], [%rd0+" + offset + "], 4;\n";
}
constexpr const char *kCommit = "cp.async.commit_group;\n";

// Of groups in flight, all but the last N have arrived after a wait; without one, none.
TEST(CopyForms, WaitForGroups) {
    for (uint32_t groups = 0; groups <= 4; groups++) {
        std::string copies;
        for (uint32_t n = 0; n < groups; n++) copies += copied_word(n) + kCommit;
        expect_arrived(copies, 0);
        for (uint32_t left = 0; left <= 3; left++) {
            const uint32_t done = groups > left ? groups - left : 0;
            const std::string wait = "cp.async.wait_group " + std::to_string(left) + ";\n";
            expect_arrived(copies + wait, (1u << done) - 1);
            expect_arrived(copies + wait + wait, (1u << done) - 1);
        }
        expect_arrived(copies + "cp.async.wait_group 4294967295;\n", 0);
        expect_arrived(copies + "cp.async.wait_all;\n", (1u << groups) - 1);
    }
}

TEST(CopyForms, GroupsHaveAnyNumberOfCopies) {
    const std::string zero = copied_word(0), one = copied_word(1), two = copied_word(2),
                      three = copied_word(3), commit = kCommit, wait0 = "cp.async.wait_group 0;\n",
                      wait1 = "cp.async.wait_group 1;\n";
    expect_arrived(zero + one + commit + two + commit + wait1, 3);
    expect_arrived(zero + commit + commit + wait1, 1);
    expect_arrived(commit + zero + commit + wait1, 0);
    expect_arrived(zero + commit + one + wait0, 1);
    expect_arrived(zero + commit + one + wait1, 0);
    expect_arrived(zero + commit + one + "cp.async.wait_all;\n", 3);
    expect_arrived(zero + commit + wait0 + one + commit + two + commit + wait1 + three + commit, 3);
    expect_arrived("cp.async.wait_all;\n" + zero + commit + wait0, 1);
}

// Threads whose predicate is false copy, commit and wait for nothing.
TEST(CopyForms, GroupsAreOfAThread) {
    const std::string odd = "and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 1;\n";
    const auto expect = [&](const std::string &instructions, uint32_t of_even, uint32_t of_odd) {
        const std::vector<uint32_t> words = arrived_words(odd + instructions);
        for (uint32_t thread = 0; thread < kCopyThreads; thread++)
            ASSERT_EQ(words[thread], thread % 2 ? of_odd : of_even)
                << instructions << "thread " << thread;
    };
    const std::string commit = kCommit, wait1 = "cp.async.wait_group 1;\n";
    expect(copied_word(0) + "@%p1 " + commit + copied_word(1) + commit + wait1, 0, 1);
    expect("@%p1 " + copied_word(0) + copied_word(1) + "cp.async.wait_all;\n", 2, 3);
    expect(copied_word(0) + commit + "@!%p1 cp.async.wait_group 0;\n", 1, 0);
    expect(copied_word(0) + "@!%p1 bra end;\ncp.async.wait_all;\nend:\n", 0, 1);
}

// What is there when a copy is issued, not when it arrives.
TEST(CopyForms, ReadTheirSourceWhenTheyAreIssued) {
    expect_arrived(copied_word(0) + "mov.b32 %r5, 9; bar.sync 0; st.global.b32 [%rd0], %r5; " +
                       "cp.async.wait_all; bar.sync 0;\n",
                   1);
}

std::string refusal_of_copy(const std::string &instruction, uint32_t target = 80) {
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

TEST(CopyForms, AreRefusedWhereTheyAreNotKnown) {
    const auto expect = [](const std::string &instruction, const std::string &part) {
        const std::string message = refusal_of_copy(instruction);
        EXPECT_NE(message.find(part), std::string::npos) << instruction << ": " << message;
    };
    const std::string copy = "cp.async.cg.shared.global [%r3], [%rd3], 16";
    EXPECT_EQ(refusal_of_copy(copy + ";"), "");
    for (const std::string &instruction :
         {copy + ";", std::string("cp.async.commit_group;"), std::string("cp.async.wait_all;"),
          std::string("cp.async.wait_group 1;")}) {
        EXPECT_NE(refusal_of_copy(instruction, 75).find("needs .target sm_80"), std::string::npos);
    }
    for (const char *name :
         {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
          "cp.async.bulk.commit_group", "cp.async.mbarrier.arrive.shared.b64",
          "mbarrier.init.shared.b64", "cp.async.cg.global.shared", "cp.async.cs.shared.global",
          "cp.async.cg.shared.global.L2::cache_hint", "cp.async.cg.shared::cluster.global",
          "cp.async.shared.global", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"}) {
        expect(std::string(name) + " [%r3], [%rd3], 16;",
               "instruction '" + std::string(name) + "' is not known");
    }
    expect(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], "
        "[%rd3, {%r4}], [%r5];",
        "tile.mbarrier::complete_tx::bytes' is not known");
    expect(
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd3, {%r4}], "
        "[%r3];",
        "tile.bulk_group' is not known");
    expect("cp.async.cg.shared.global [%r3], [%rd3], 8;", "of 8 bytes is not known");
    expect("cp.async.ca.shared.global [%r3], [%rd3], 12;", "of 12 bytes is not known");
    expect("cp.async.ca.shared.global [%r3], [%rd3], %r4;", "without a number");
    expect(copy + ", 17;", "reads more than its 16 bytes");
    expect(copy + ", -1;", "reads more than its 16 bytes");
    expect(copy + ", %rd4;", "with a size that is not of 32 bits");
    expect(copy + ", %p1;", "with a size that is not of 32 bits");
    expect(copy + ", 16, %rd4;", "with another number of operands");
    expect("cp.async.cg.shared.global [%r3], [%rd3];", "with another number of operands");
    expect("cp.async.cg.shared.global [%r3], [%r3], 16;", "with an address of another width");
    expect("cp.async.cg.shared.global %r3, [%rd3], 16;", "without an address");
    expect("cp.async.wait_group;", "with another number of operands");
    expect("cp.async.wait_group %r3;", "without a number");
    expect("cp.async.wait_all 0;", "with another number of operands");
    expect("cp.async.commit_group 0;", "with another number of operands");
}

}  // namespace

}  // namespace software_cuda::tests
