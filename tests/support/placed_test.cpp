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
    for (int64_t i = 0; i < content.elements(); i++) {
        EXPECT_TRUE(is_poison(content, i)) << i;
    }
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
    const float kept = first[-1];
    first[-1] = 0;
    EXPECT_NE(placed_.damage(), "");
    first[-1] = kept;
    const Shape &strides = placed_.tensor().strides();
    first[strides[0] + 2 * strides[1] + 4 * strides[2] + 1] = 0;
    EXPECT_NE(placed_.damage(), "");
}

INSTANTIATE_TEST_SUITE_P(All, PlacedTest,
                         testing::Values(Placement::packed, Placement::margins, Placement::steps),
                         [](const auto &info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace hk::test
