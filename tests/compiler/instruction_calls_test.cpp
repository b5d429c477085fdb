#include "compiler/instruction_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/compiler/product.h"

namespace {

using Halide::CompileError;
using hk::compiler::make_instructions;
using hk::test::expect_part;

// Four calls, as LLVM writes them, with these arguments in place of the first.
std::string calls(const std::vector<std::string> &of, const std::string &between = "") {
    std::string text =
        ".extern .func  (.param .b32 func_retval0) hk_ldmatrix_0\n(\n\t.param .b32 "
        "hk_ldmatrix_0_param_0\n)\n;\n\tmov.b32 %r1, 0;\n";
    for (size_t i = 0; i < of.size(); i++) {
        const std::string number = std::to_string(i);
        text += "\t{ // callseq " + number +
                ", 0\n\t.param .b32 \tparam0;\n\tst.param.b32 \t[param0], " + of[i] +
                ";\n\t.param .b32 \tretval0;\n\tcall.uni (retval0), hk_ldmatrix_" + number +
                ", (param0);\n\tld.param.b32 \t%r" + std::to_string(10 + i) +
                ", [retval0];\n\t} // callseq " + number + "\n" + between;
    }
    return text + "\tret;\n";
}

TEST(InstructionCalls, FourCallsAreOneInstruction) {
    EXPECT_EQ(make_instructions(calls({"%r7", "%r7", "%r7", "%r7"})),
              "\tmov.b32 %r1, 0;\n"
              "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 \t{%r10, %r11, %r12, %r13}, [%r7];\n"
              "\tret;\n");
}

TEST(InstructionCalls, NumbersGetRegisters) {
    const std::string ptx = make_instructions(calls({"128", "128", "128", "128"}));
    expect_part(ptx, "\t{ .reg .b32 \t%number<1>; mov.b32 \t%number0, 128;");
    expect_part(ptx, "{%r10, %r11, %r12, %r13}, [%number0]; }\n");
}

TEST(InstructionCalls, CallsThatAreNotOneInstructionAreRefused) {
    EXPECT_THROW(make_instructions(calls({"%r7", "%r8", "%r7", "%r7"})), CompileError);
    EXPECT_THROW(make_instructions(calls({"%r7", "%r7", "%r7"})), CompileError);
    EXPECT_THROW(make_instructions(calls({"%r7", "%r7", "%r7", "%r7"}, "\tadd.s32 %r7, %r7, 1;\n")),
                 CompileError);
}

// A call of a load from %r7 and a number, as LLVM writes it.
std::string load(const std::string &function, const std::string &offset, const std::string &to) {
    return "\t{ // callseq 0, 0\n\tst.param.b32 \t[param0], %r7;\n\tst.param.b32 \t[param1], " +
           offset + ";\n\tcall.uni (retval0), " + function +
           ", (param0, param1);\n\tld.param.b32 \t" + to + ", [retval0];\n\t} // callseq 0\n";
}

TEST(InstructionCalls, LoadsAreOfARegisterAndANumber) {
    EXPECT_EQ(make_instructions(load("hk_load_word_0", "512", "%r1")),
              "\tld.shared.b32 \t%r1, [%r7+512];\n");
    EXPECT_EQ(make_instructions(load("hk_load_pair_0", "16", "%r1") +
                                load("hk_load_pair_1", "16", "%r2")),
              "\tld.shared.v2.b32 \t{%r1, %r2}, [%r7+16];\n");
    EXPECT_THROW(make_instructions(load("hk_load_word_0", "%r8", "%r1")), CompileError);
    EXPECT_THROW(make_instructions(load("hk_load_pair_0", "16", "%r1") +
                                   load("hk_load_pair_1", "24", "%r2")),
                 CompileError);
}

// What is left of loads of matrices at %r8 behind these lines.
std::string matrices_behind(const std::string &lines, const std::string &after = "") {
    return make_instructions(lines + calls({"%r8", "%r8", "%r8", "%r8"}) + after + "}\n");
}

TEST(InstructionCalls, AnAddressIsARegisterAndANumberWhereItWasMadeOfThem) {
    const std::string sum = "\tadd.s32 \t%r8, %r7, 1024;\n";
    const std::string alone = matrices_behind(sum);
    expect_part(alone, "[%r7+1024];");
    EXPECT_EQ(alone.find("add.s32"), std::string::npos) << alone;
    const std::string shared = matrices_behind(sum, "\tmov.b32 \t%r9, %r8;\n");
    expect_part(shared, "[%r7+1024];");
    expect_part(shared, sum);
    expect_part(matrices_behind(sum + "\tadd.s32 \t%r7, %r7, 64;\n"), "[%r8];");
    expect_part(matrices_behind(sum + "$L__BB0_1:\n"), "[%r8];");
    expect_part(matrices_behind("\tadd.s32 \t%r8, %r7, %r6;\n"), "[%r8];");
    expect_part(matrices_behind("\tsub.s32 \t%r8, %r7, 64;\n"), "[%r8];");
}

TEST(InstructionCalls, OtherTextStays) {
    const std::string ptx =
        "\t{ // callseq 0, 0\n\tcall.uni (retval0), other, ();\n\t} // callseq 0\n";
    EXPECT_EQ(make_instructions(ptx), ptx);
}

}  // namespace
