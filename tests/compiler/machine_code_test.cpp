// What NVIDIA's assembler makes of kernels of tensor cores: the instructions that a chip executes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/compiler/product.h"
#include "tests/support/folder.h"

namespace {

using namespace Halide;
using hk::test::count;
using hk::test::Product;

class MachineCode : public testing::TestWithParam<const char *> {
protected:
    void SetUp() override {
        for (const char *tool : {HK_TEST_PTXAS, HK_TEST_NVDISASM})
            if (!std::filesystem::exists(tool)) GTEST_SKIP() << "no ptxas or nvdisasm";
    }

    // Of the chip, in the disassembler's words.
    static std::string code_of(const Product &product) {
        const std::filesystem::path folder = hk::test::own_folder();
        const std::string name = (folder / GetParam()).string();
        std::ofstream(name + ".ptx") << product.ptx();
        run(std::string(HK_TEST_PTXAS) + " -arch=" + GetParam() + " " + name + ".ptx -o " + name +
            ".cubin");
        run(std::string(HK_TEST_NVDISASM) + " -c " + name + ".cubin > " + name + ".sass");
        std::ifstream code(name + ".sass");
        return {std::istreambuf_iterator<char>(code), {}};
    }

private:
    static void run(const std::string &command) {
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
    }
};

TEST_P(MachineCode, HasProductsOfMatricesAndNoOthers) {
    const struct {
        Product product;
        const char *multiply, *load;
    } kinds[] = {
        {{.type = Float(16), .stages = 3}, "HMMA.16816.F32 ", "LDSM.16.M88.4"},
        {{.type = BFloat(16), .stages = 3}, "HMMA.16816.F32.BF16", "LDSM.16.M88.4"},
        {{.type = Float(32), .stages = 3}, "HMMA.1688.F32.TF32", "LDSM.16.M88.4"},
        {{.type = BFloat(16), .across = true, .stages = 3},
         "HMMA.16816.F32.BF16",
         "LDSM.16.MT88.4"},
        {{.type = Int(8), .stages = 3, .of_rows = UInt(8)}, "IMMA.16832.U8.S8", "LDSM.16.M88.4"},
        {{.type = Int(8), .stages = 3}, "IMMA.16832.S8.S8", "LDSM.16.M88.4"},
    };
    for (const auto &[product, multiply, load] : kinds) {
        const std::string code = code_of(product);
        const int products = count(code, multiply);
        // The loop may be there more than once, of as many steps as it is unrolled to.
        EXPECT_GT(products, 0) << multiply;
        EXPECT_EQ(products % 8, 0);
        EXPECT_EQ(count(code, load) * 8, products * 6) << load;
        EXPECT_EQ(count(code, "HMMA") + count(code, "IMMA"), products);
        EXPECT_EQ(count(code, "LDSM"), count(code, load));
        EXPECT_GT(count(code, "LDGSTS.E.BYPASS.128"), 0) << "copies pass registers";
        for (const char *other : {" FFMA", " IDP", " LDL", " STL", " STS"})
            EXPECT_EQ(count(code, other), 0) << other << " of " << multiply;
    }
}

// Words are loaded to where products have them: none is moved.
TEST_P(MachineCode, LoadsWordsThatNoInstructionTransposes) {
    const std::string code = code_of({.type = Float(32), .across = true, .stages = 3});
    const int products = count(code, "HMMA.1688.F32.TF32");
    EXPECT_GT(products, 0);
    EXPECT_EQ(products % 8, 0);
    // Those to RZ are none: what a chip of before the copies needs.
    EXPECT_EQ((count(code, " LDS R") - count(code, " LDS RZ")) * 8, products * 16);
    EXPECT_EQ(count(code, " LDS.64 R") * 8, products * 4);
    for (const char *other : {"LDSM", " FFMA", " LDL", " STL", " STS"})
        EXPECT_EQ(count(code, other), 0) << other;
}

TEST_P(MachineCode, RoundsTwoResultsAtOnce) {
    const std::string code = code_of({.type = BFloat(16), .result = BFloat(16)});
    EXPECT_GT(count(code, "F2FP.BF16"), 0);
}

INSTANTIATE_TEST_SUITE_P(Chips, MachineCode, testing::Values("sm_80", "sm_90"),
                         [](const auto &chip) { return std::string(chip.param); });

}  // namespace
