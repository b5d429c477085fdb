#include "tests/support/placed.h"

#include <gtest/gtest.h>

#include "tests/reference/elements.h"

namespace hk::test {
namespace {

class PlacedTest : public testing::TestWithParam<Placement> {
protected:
    Random random_{7};
    Placed placed_{{2, 3, 5}, DataType::f32, Device::cpu(), GetParam(), random_};
};

TEST_P(PlacedTest, StartsAsPoison) {
    const Tensor content = placed_.fetch();
    ASSERT_EQ(content.elements(), 30);
    for (int64_t i = 0; i < 30; i++) {
        EXPECT_EQ(first_poison(content), i);
        content.data<float>()[i] = 1;
    }
    EXPECT_EQ(first_poison(content), -1);
    EXPECT_EQ(placed_.change(), "");
}

TEST_P(PlacedTest, WritingTheTensorIsNoDamage) {
    reference::write(placed_.tensor(), std::vector<double>(30, 1.5));
    EXPECT_EQ(placed_.damage(), "");
    EXPECT_NE(placed_.change(), "");
    EXPECT_EQ(reference::read(placed_.fetch()), std::vector<double>(30, 1.5));
}

TEST_P(PlacedTest, FindsWritesNextToTheTensor) {
    float *first = placed_.tensor().data<float>();
    const Shape &strides = placed_.tensor().strides();
    const int64_t back = strides[2] < 0 ? 1 : -1;
    const float kept = first[back];
    first[back] = 0;
    EXPECT_NE(placed_.damage(), "");
    first[back] = kept;
    EXPECT_EQ(placed_.damage(), "");
    first[strides[0] + 2 * strides[1] + 4 * strides[2] - back] = 0;
    EXPECT_NE(placed_.damage(), "");
}

TEST_P(PlacedTest, HoldsTheBitsOfEveryType) {
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16, DataType::f64,
                                DataType::s8, DataType::u8, DataType::s16, DataType::u16,
                                DataType::s32, DataType::u32, DataType::s64, DataType::u64}) {
        const uint64_t mask = ~uint64_t{0} >> (64 - 8 * size_of(type));
        std::vector<uint64_t> bits;
        for (uint64_t i = 0; i < 30; i++) bits.push_back((i * 0x9e3779b97f4a7c15) & mask);
        Tensor values({2, 3, 5}, type);
        reference::write_bits(values, bits);
        const Placed placed(values, Device::cpu(), GetParam(), random_);
        EXPECT_EQ(reference::bits(placed.fetch()), bits) << hk::name_of(type);
        EXPECT_EQ(placed.change(), "") << hk::name_of(type);
        EXPECT_EQ(placed.damage(), "") << hk::name_of(type);
    }
}

INSTANTIATE_TEST_SUITE_P(All, PlacedTest,
                         testing::Values(Placement::packed, Placement::margins, Placement::steps,
                                         Placement::reversed, Placement::permuted,
                                         Placement::flipped, Placement::aligned,
                                         Placement::vectors),
                         [](const auto &info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace hk::test
