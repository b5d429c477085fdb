// Windows whose taps are channels (runtime/src/convolution/fold_taps.h): of those that don't
// overlap, where taps follow each other in memory, and of few channels for the weight's gradient
// (conv2d_backward/joined_windows.h). And filters of which some taps meet nothing but padding
// (convolution/met_taps.h). All passes, on every device.

#include "tests/conv2d/case.h"
#include "tests/conv2d_backward/case.h"
#include "tests/quantized_conv2d/check.h"

namespace hk::test {
namespace {

struct Patches {
    const char *name;
    Shape input, weight;  // nhwc
    Conv2dOptions options;
};

const Patches kPatches[] = {
    {"patches", {2, 8, 24, 3}, {37, 8, 8, 3}, {.stride = {8, 8}}},
    {"of_vectors", {1, 9, 16, 16}, {40, 2, 2, 16}, {.stride = {2, 2}}},
    {"rows_overlap", {2, 9, 12, 5}, {19, 5, 4, 5}, {.stride = {2, 4}, .padding = {1, 2, 0, 0}}},
    {"columns_left", {2, 8, 17, 3}, {16, 8, 8, 3}, {.stride = {8, 8}}},
    {"column", {2, 12, 1, 24}, {33, 4, 1, 24}, {.stride = {4, 1}}},
    {"few_channels", {2, 9, 12, 5}, {20, 3, 3, 5}, {.padding = {1, 1, 1, 1}}},
    {"few_channels_strided", {1, 9, 12, 3}, {7, 5, 4, 3}, {.stride = {2, 3}}},
    {"few_channels_of_no_image", {0, 9, 12, 2}, {20, 3, 3, 2}, {.padding = {1, 1, 1, 1}}},
    {"few_channels_of_a_column", {2, 14, 1, 2}, {11, 3, 1, 2}, {.padding = {0, 2, 0, 0}}},
    {"whole", {9, 5, 5, 16}, {120, 5, 5, 16}, {}},
    {"whole_of_one_channel", {3, 4, 7, 1}, {6, 4, 7, 1}, {.stride = {3, 2}}},
    {"row_alone", {2, 1, 21, 40}, {6, 5, 5, 40}, {.stride = {2, 2}, .padding = {2, 2, 2, 2}}},
    {"pixel_alone", {3, 1, 1, 20}, {24, 3, 3, 20}, {.padding = {1, 1, 1, 1}}},
    {"far_taps", {1, 7, 9, 19}, {17, 3, 3, 19}, {.dilation = {12, 6}, .padding = {12, 12, 6, 6}}},
    {"first_taps", {2, 3, 6, 8}, {9, 6, 2, 8}, {.padding = {0, 5, 0, 0}}},
    {"last_taps", {2, 2, 6, 8}, {9, 7, 1, 8}, {.stride = {2, 1}, .padding = {6, 0, 0, 0}}},
    {"far_taps_of_groups",
     {2, 4, 5, 32},
     {32, 3, 5, 1},
     {.dilation = {5, 1}, .padding = {5, 5, 2, 2}, .groups = 32}},
};

template<typename Case>
Case case_of(const Patches &patches, DataType type, Layout layout, uint64_t seed) {
    const auto in_layout = [layout](const Shape &s) {
        return layout == Layout::nhwc ? s : Shape{s[0], s[3], s[1], s[2]};
    };
    Conv2dOptions options = patches.options;
    options.layout = layout;
    Case c;
    c.problem = Conv2dProblem::from_shapes(in_layout(patches.input), in_layout(patches.weight),
                                           DataType::f32, options);
    c.problem.type = type;
    c.seed = seed;
    return c;
}

using Parameter = std::tuple<Patches, DataType, Layout>;

void PrintTo(const Patches &patches, std::ostream *out) { *out << patches.name; }

// Calls with a case on each device, packed and of views, which are not folded.
class OfPatches : public testing::TestWithParam<Parameter> {
protected:
    template<typename Case>
    static void expect_reference(DataType type, auto change) {
        uint64_t seed = 1;
        for (const Device device : Device::all()) {
            for (const Placement placement : {Placement::packed, Placement::margins}) {
                auto c =
                    case_of<Case>(std::get<0>(GetParam()), type, std::get<2>(GetParam()), seed++);
                c.input = c.weight = placement;
                change(c);
                EXPECT_EQ(check(c, device), Outcome::passed) << to_string(c);
            }
        }
    }
};

TEST_P(OfPatches, Forward) {
    for (const bool prepared : {false, true}) {
        expect_reference<Conv2dCase>(std::get<1>(GetParam()), [&](Conv2dCase &c) {
            c.bias = c.residual = !prepared;
            c.problem.prepared_filter = prepared;
        });
    }
}

TEST_P(OfPatches, InputGradient) {
    expect_reference<BackwardDataCase>(std::get<1>(GetParam()), [](BackwardDataCase &c) {
        c.accumulate = c.input == Placement::packed;
    });
}

TEST_P(OfPatches, WeightGradient) {
    expect_reference<BackwardWeightCase>(std::get<1>(GetParam()), [](BackwardWeightCase &c) {
        c.accumulate = c.input == Placement::packed;
    });
}

class OfQuantizedPatches : public OfPatches {};

TEST_P(OfQuantizedPatches, Forward) {
    const DataType type = std::get<1>(GetParam());
    expect_reference<QuantizedConv2dCase>(type, [&](QuantizedConv2dCase &c) {
        c.output_type = type;
        if (type == DataType::f32) return;
        c.input_zero_point = 7;
        c.output_scale = 4096;
    });
}

std::string name_of_case(const testing::TestParamInfo<Parameter> &info) {
    const auto &[patches, type, layout] = info.param;
    std::string name = patches.name;
    return name.append("_").append(hk::name_of(type)).append("_").append(hk::name_of(layout));
}

INSTANTIATE_TEST_SUITE_P(All, OfPatches,
                         testing::Combine(testing::ValuesIn(kPatches),
                                          testing::Values(DataType::f32, DataType::bf16),
                                          testing::Values(Layout::nhwc, Layout::nchw)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(All, OfQuantizedPatches,
                         testing::Combine(testing::ValuesIn(kPatches),
                                          testing::Values(DataType::f32, DataType::u8),
                                          testing::Values(Layout::nhwc, Layout::nchw)),
                         name_of_case);

}  // namespace
}  // namespace hk::test
