// Do GPU rows of bytes come to the instructions that they are made for?

#include <gtest/gtest.h>

#include "candidate.h"
#include "compiler/pipeline.h"
#include "tables.h"

namespace hk::explorer {
namespace {

std::string ptx_of(const KernelInfo &row) {
    const Candidate candidate = Candidate::of(row);
    const Halide::Target target(candidate.target());
    const compiler::Built built(candidate.family, candidate.parameters(), target);
    const Halide::Buffer<> code = built.module("kernel", target).get_device_code_buffer();
    return {static_cast<const char *>(code.data()), code.size_in_bytes()};
}

class TilesOfBytes : public testing::TestWithParam<const KernelInfo *> {};

// They are multiplied four at a time and added to the sum by the same instruction: as many of them
// as a thread has sums, for each word and tap that are unrolled.
TEST_P(TilesOfBytes, AreMultipliedFourAtATime) {
    const std::string all = ptx_of(*GetParam());
    // The function that has them: others have registers of the same names.
    const size_t first = all.find("dp4a.u32.s32"), begin = all.rfind(".entry", first),
                 end = all.find(".entry", first);
    ASSERT_NE(first, all.npos);
    const std::string code = all.substr(begin, end - begin);
    int found = 0;
    for (size_t at = 0; (at = code.find("dp4a.u32.s32", at)) != code.npos; at++) {
        found++;
        // dp4a d, a, b, c: c is a register, and not one that was just set to 0.
        const std::string line = code.substr(at, code.find('\n', at) - at);
        const size_t last = line.rfind('%');
        ASSERT_NE(last, line.npos) << line;
        const std::string addend = line.substr(last, line.find(';') - last);
        ASSERT_EQ(code.find("mov.b32 \t" + addend + ", 0;"), code.npos) << line;
    }
    EXPECT_GE(found, 64);
    EXPECT_EQ(all.find("\tatom."), all.npos);
}

std::vector<const KernelInfo *> tiles_of_bytes() {
    std::vector<const KernelInfo *> result;
    for (const Table &table : tables()) {
        for (const KernelInfo &row : table.kernels) {
            if (table.family == "quantized_conv2d" && row.device == DeviceType::cuda &&
                row.type == DataType::u8 && std::string_view(row.schedule) == "words") {
                result.push_back(&row);
            }
        }
    }
    return result;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TilesOfBytes);  // a build without CUDA
INSTANTIATE_TEST_SUITE_P(Table, TilesOfBytes, testing::ValuesIn(tiles_of_bytes()),
                         [](const auto &info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hk::explorer
