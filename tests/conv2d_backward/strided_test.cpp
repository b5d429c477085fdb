// Input gradients by tensor cores whose pixels are no line: those of a strided problem's phases,
// and of views.

#include "tests/conv2d_backward/case.h"
#include "tests/convolution/layout_test.h"

namespace hk::test {
namespace {

struct Shapes {
    const char *name;
    Shape input, weight;  // nhwc
    Conv2dOptions options;
};

void PrintTo(const Shapes &shapes, std::ostream *out) { *out << shapes.name; }

const Shapes kShapes[] = {
    {"s1_3x3", {2, 6, 9, 24}, {32, 3, 3, 24}, {.padding = {1, 1, 1, 1}}},
    {"s2_1x1", {2, 9, 8, 24}, {40, 1, 1, 24}, {.stride = {2, 2}}},
    {"s2_2x2", {1, 8, 10, 16}, {16, 2, 2, 16}, {.stride = {2, 2}}},
    {"s2_3x3", {2, 7, 11, 72}, {16, 3, 3, 72}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}},
    {"s2_7x7", {1, 13, 12, 16}, {16, 7, 7, 16}, {.stride = {2, 2}, .padding = {3, 3, 3, 3}}},
    {"s2_many", {1, 17, 15, 136}, {72, 3, 3, 136}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}},
    {"s3_3x3", {2, 10, 7, 16}, {24, 3, 3, 16}, {.stride = {3, 3}, .padding = {0, 1, 1, 0}}},
    {"s3_2x2", {1, 11, 9, 16}, {16, 2, 2, 16}, {.stride = {3, 3}}},
    {"s12_3x3", {2, 7, 9, 16}, {16, 3, 3, 16}, {.stride = {1, 2}, .padding = {1, 1, 1, 1}}},
    {"s32_5x3", {1, 13, 9, 16}, {16, 5, 3, 16}, {.stride = {3, 2}, .padding = {2, 2, 0, 1}}},
    {"s2_dilated", {1, 11, 12, 16}, {16, 3, 3, 16}, {.stride = {2, 2}, .dilation = {2, 3}}},
    {"s4_dilated", {1, 19, 17, 16}, {16, 3, 2, 16}, {.stride = {4, 4}, .dilation = {2, 6}}},
    {"s2_groups",
     {2, 9, 7, 48},
     {32, 3, 3, 24},
     {.stride = {2, 2}, .padding = {1, 1, 1, 1}, .groups = 2}},
    {"s2_few_pixels", {3, 2, 3, 16}, {16, 3, 3, 16}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}},
};

using ApartParameter = std::tuple<Shapes, DataType, Layout>;

class TensorCoresApart : public testing::TestWithParam<ApartParameter> {
protected:
    void SetUp() override {
        if (devices_of(DeviceType::cuda).empty()) GTEST_SKIP() << "no CUDA device is here";
    }

    static BackwardDataCase made() {
        const auto &[shapes, type, layout] = GetParam();
        const auto in_layout = [layout = layout](const Shape &s) {
            return layout == Layout::nhwc ? s : Shape{s[0], s[3], s[1], s[2]};
        };
        Conv2dOptions options = shapes.options;
        options.layout = layout;
        BackwardDataCase c;
        c.problem = Conv2dProblem::from_shapes(in_layout(shapes.input), in_layout(shapes.weight),
                                               type, options);
        c.input = c.weight = Placement::aligned;
        return c;
    }
};

TEST_P(TensorCoresApart, ComputeTheGradient) {
    uint64_t seed = 1;
    for (const Device device : devices_of(DeviceType::cuda)) {
        for (const Placement placement : {Placement::aligned, Placement::vectors}) {
            for (const bool accumulate : {false, true}) {
                BackwardDataCase c = made();
                c.seed = seed++;
                c.data = accumulate ? Data::reals : Data::integers;
                c.accumulate = accumulate;
                c.output = placement;
                ASSERT_EQ(check(c, device), Outcome::passed) << to_string(c);
            }
        }
    }
}

// An infinity of the output reaches the pixels of its taps alone.
TEST_P(TensorCoresApart, LeaveOutPixelsWithoutTaps) {
    for (const Device device : devices_of(DeviceType::cuda)) {
        BackwardDataCase c = made();
        c.seed = 1;
        c.data = Data::one_infinity;
        c.output = Placement::aligned;
        ASSERT_EQ(check(c, device), Outcome::passed) << to_string(c);
    }
}

TEST_P(TensorCoresApart, AreSelected) {
    for (const Device device : devices_of(DeviceType::cuda)) {
        const Selection selection =
            select_conv2d_backward_data(made().problem, DeviceType::cuda, device.limits());
        ASSERT_TRUE(selection.kernel);
        EXPECT_TRUE(std::string_view(selection.kernel->algorithm).starts_with("products"))
            << selection.kernel->name;
    }
}

std::string name_of_case(const testing::TestParamInfo<ApartParameter> &info) {
    const auto &[shapes, type, layout] = info.param;
    std::string name = shapes.name;
    return name.append("_")
        .append(hk::name_of(type))
        .append("_")
        .append(hk::name_of(layout))
        .append("_matrices_cuda");
}

INSTANTIATE_TEST_SUITE_P(All, TensorCoresApart,
                         testing::Combine(testing::ValuesIn(kShapes),
                                          testing::Values(DataType::f16, DataType::bf16),
                                          testing::Values(Layout::nhwc, Layout::nchw)),
                         name_of_case);

}  // namespace
}  // namespace hk::test
