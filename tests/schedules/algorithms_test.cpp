// Is each algorithm the definition (algorithm.h); pool2d's and tensor_product's are in tests
// of their own.

#include <gtest/gtest.h>

#include "Halide.h"
#include "tests/conv2d/case.h"
#include "tests/conv2d_backward/case.h"
#include "tests/quantized_conv2d/check.h"
#include "tests/schedules/algorithm.h"

namespace hk::test {
namespace {

using explorer::Compiled;
using Relation = Constraint::Relation;

class Conv2dAlgorithm : public RootTest {};
TEST_P(Conv2dAlgorithm, IsTheDefinition) { check_convolution<Conv2dCase>(); }

class BackwardDataAlgorithm : public RootTest {};
TEST_P(BackwardDataAlgorithm, IsTheDefinition) { check_convolution<BackwardDataCase>(); }

class BackwardWeightAlgorithm : public RootTest {};
TEST_P(BackwardWeightAlgorithm, IsTheDefinition) { check_convolution<BackwardWeightCase>(); }

class BackwardBiasAlgorithm : public RootTest {};
TEST_P(BackwardBiasAlgorithm, IsTheDefinition) { check_convolution<BackwardBiasCase>(); }

class QuantizedConv2dAlgorithm : public RootTest {};
TEST_P(QuantizedConv2dAlgorithm, IsTheDefinition) {
    using enum Data;
    const bool to_bytes = kernel().where.back().value == 1;
    if (kernel().type == DataType::u8)
        check_convolution<QuantizedConv2dCase>({integers});
    else if (to_bytes)
        check_convolution<QuantizedConv2dCase>({integers, reals});
    else
        check_convolution<QuantizedConv2dCase>();
}

const Where kWinogradSizes = fixed({{"kernel_w", 3},
                                    {"kernel_h", 3},
                                    {"stride_x", 1},
                                    {"stride_y", 1},
                                    {"dilation_x", 1},
                                    {"dilation_y", 1}});

// All of conv2d and quantized_conv2d; `lanes`: of what `dot` wants a multiple.
std::vector<Algorithm> convolutions(const char *family, int64_t lanes) {
    const Sizes one_channel{{"channels_per_group", 1}, {"filters_per_group", 1}};
    return {{family, "packed", ""},
            {family, "packed", "_3x3", fixed({{"kernel_w", 3}, {"kernel_h", 3}})},
            {family, "packed", "_1x1", fixed({{"kernel_w", 1}, {"kernel_h", 1}, {"padding", 0}})},
            {family, "sliced", ""},
            {family, "dot", "", {{"channels_per_group", Relation::multiple_of, lanes}}},
            {family, "depthwise", "", fixed(one_channel)}};
}

std::vector<Algorithm> conv2d_algorithms() {
    std::vector<Algorithm> all =
        convolutions("conv2d", Halide::get_host_target().natural_vector_size<float>());
    all.push_back({"conv2d", "grouped", "", {{"filters_per_group", Relation::at_most, 16}}});
    return all;
}

// Images in rows (nchw), of whole tiles' columns and more.
std::vector<Algorithm> depthwise_of_rows(const char *family, const char *width,
                                         const Sizes &known) {
    std::vector<Algorithm> all;
    for (const char *algorithm : {"depthwise_rows", "depthwise_transposed"}) {
        Where where = fixed({{"channels_per_group", 1}, {"filters_per_group", 1}});
        for (const Constraint &constraint : fixed(known)) where.push_back(constraint);
        where.push_back({width, Relation::at_least, 4});
        all.push_back({family, algorithm, "", where});
    }
    return all;
}

// Of a tile's columns and more, which are a line.
std::vector<Algorithm> panels_of_rows() {
    Where where = fixed({{"line", 1}});
    where.push_back({"out_pixels", Relation::at_least, 48});
    return {{"conv2d", "packed_panels", "", where}};
}

// 1x1, of a vector's columns and more.
std::vector<Algorithm> columns_of_rows(const char *family) {
    Where where =
        fixed({{"kernel_w", 1}, {"kernel_h", 1}, {"padding", 0}, {"stride_x", 1}, {"stride_y", 1}});
    where.push_back({"out_w", Relation::at_least, 16});
    return {{family, "packed_columns", "", where}};
}

// Planes are lines.
std::vector<Algorithm> depthwise_of_planes(const char *family, const Sizes &known,
                                           const Sizes &least) {
    Where where = fixed({{"channels_per_group", 1}, {"filters_per_group", 1}, {"line", 1}});
    for (const Constraint &constraint : fixed(known)) where.push_back(constraint);
    for (const auto &[field, value] : least) where.push_back({field, Relation::at_least, value});
    return {{family, "depthwise_planes", "", where}};
}

// Products of matrices, of which a library may have no rows: these pack the filter.
std::vector<Algorithm> algorithms_of_slices() {
    const auto rows = conv2d_filter_kernels();
    const auto is_of_slices = [](const KernelInfo &row) {
        return row.algorithm == std::string_view("slices");
    };
    if (std::ranges::none_of(rows, is_of_slices)) return {};
    Where line =
        fixed({{"kernel_w", 1}, {"kernel_h", 1}, {"padding", 0}, {"stride_x", 1}, {"stride_y", 1}});
    line.push_back({"out_w", Relation::at_least, 32});
    line.push_back({"channels_per_group", Relation::multiple_of, 32});
    return {{"conv2d", "slices", ""},
            {"conv2d", "slices", "_1x1", fixed({{"kernel_w", 1}, {"kernel_h", 1}, {"padding", 0}})},
            {"conv2d", "slices_of_line", "", line},
            {"conv2d", "slices_of_taps", ""},
            {"conv2d", "slices_of_windows", "", fixed({{"dilation_x", 1}})}};
}

// Winograd's is of f32 alone, by the row that transforms filters.
const Algorithm kWinograd[] = {{"conv2d", "winograd", "", kWinogradSizes}};
const Algorithm kWinogradGradient[] = {{"conv2d_backward_data", "winograd", "", kWinogradSizes}};

// Words of four channels, in the lanes of a vector of s32; to bytes and to words.
std::vector<Algorithm> to_bytes_and_words(const std::vector<Algorithm> &algorithms) {
    std::vector<Algorithm> all;
    for (const auto &[name, bytes] : {std::pair{"_to_8", 1}, {"_to_32", 4}}) {
        for (Algorithm algorithm : algorithms) {
            algorithm.where.push_back({"output_bytes", Relation::equal, bytes});
            algorithm.name += name;
            all.push_back(algorithm);
        }
    }
    return all;
}

std::vector<Algorithm> quantized_algorithms() {
    const int lanes = Halide::get_host_target().natural_vector_size<int32_t>();
    return to_bytes_and_words(convolutions("quantized_conv2d", 4 * lanes));
}

// Sizes that the compiler knows turn arguments into numbers: strides alone, with dilations of their
// own or with a factor in common.
std::vector<Algorithm> backward_data_algorithms() {
    const auto of = [](const char *algorithm, const char *name, const Sizes &sizes) {
        return Algorithm{"conv2d_backward_data", algorithm, name, fixed(sizes)};
    };
    const Sizes s1{{"stride_x", 1}, {"stride_y", 1}},
        s2{{"stride_x", 2}, {"stride_y", 2}, {"dilation_x", 1}, {"dilation_y", 1}},
        pointwise{{"kernel_w", 1}, {"kernel_h", 1}, {"padding", 0}},
        depthwise{{"channels_per_group", 1}, {"filters_per_group", 1}};
    const auto both = [](Sizes first, const Sizes &second) {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    };
    const Sizes padded =
        both(s2, {{"kernel_w", 5}, {"kernel_h", 5}, {"padding_left", 2}, {"padding_top", 2}});
    std::vector<Algorithm> all;
    for (const char *algorithm :
         {"flip_expand", "expand_flip", "flip_expand_sliced", "expand_flip_sliced"}) {
        all.push_back(of(algorithm, "", {}));
        all.push_back(of(algorithm, "_s1", s1));
        all.push_back(of(algorithm, "_s2", both(s2, {{"kernel_w", 3}, {"kernel_h", 3}})));
        all.push_back(of(algorithm, "_s3_d2", {{"stride_x", 3}, {"dilation_x", 2}}));
        all.push_back(of(algorithm, "_s2_d2", {{"stride_y", 2}, {"dilation_y", 2}}));
        all.push_back(of(algorithm, "_1x1", both(pointwise, s1)));
        all.push_back(of(algorithm, "_1x1_s2", pointwise));
    }
    all.push_back(of("flip_expand", "_s2_padded", padded));
    all.push_back(of("rows", "_s2_padded", padded));
    all.push_back(of("rows", "", {}));
    // conv2d's.
    all.push_back(of("packed", "", s1));
    all.push_back(of("packed", "_1x1", both(pointwise, s1)));
    all.push_back(of("packed", "_sizes",
                     both({{"channels_per_group", 3},
                           {"filters_per_group", 5},
                           {"kernel_w", 3},
                           {"dilation_x", 2}},
                          s1)));
    all.push_back(of("depthwise", "", both(depthwise, s1)));
    all.push_back(of("depthwise_tiles", "", both(depthwise, s1)));
    all.push_back(of("flip_expand_tiles", "_s2_padded", both(depthwise, padded)));
    return all;
}

// Of images of whole vectors, of four columns of the output.
Where columns(int64_t rows) {
    using enum Constraint::Relation;
    return {{"width", at_least, 16},
            {"out_w", at_least, 4},
            {"out_h", at_least, rows},
            {"padding", at_most, 16}};
}

// Tiles that no image is a multiple of, lanes of columns, slices that end in a row, empty parts.
const Algorithm kBackwardWeight[] = {
    {"conv2d_backward_weight", "tiles", "_pixels_1", {}, "pixels:1"},
    {"conv2d_backward_weight", "tiles", "_pixels_5", {}, "pixels:5,step:2"},
    {"conv2d_backward_weight", "tiles", "_lanes_4", columns(1), "pixels:12,lanes:4"},
    {"conv2d_backward_weight", "tiles", "_lanes_4_rows_3", columns(3), "pixels:12,lanes:4,step:3"},
    {"conv2d_backward_weight", "sliced", "_1", {}, "tile_c:1"},
    {"conv2d_backward_weight", "sliced", "_8", {}, "tile_c:8"},
    {"conv2d_backward_weight", "sliced", "_parts", {}, "tile_c:4,parts:3"},
};

// Peeled: of images in nchw planes that are lines are transposed.
std::vector<Algorithm> backward_weight_depthwise(Layout layout) {
    Where where = fixed({{"channels_per_group", 1}, {"filters_per_group", 1}});
    if (layout == Layout::nchw)
        where.insert(where.end(), {{"line", Relation::equal, 1},
                                   {"pixels", Relation::at_least, 16},
                                   {"out_pixels", Relation::at_least, 16}});
    Where of_3x3 = kWinogradSizes;
    for (const char *one : {"channels_per_group", "filters_per_group"})
        of_3x3.push_back({one, Relation::equal, 1});
    std::vector<Algorithm> all = {
        {"conv2d_backward_weight", "peeled", "", where},
        {"conv2d_backward_weight", "peeled", "_parts", where, "pixels:8,part:1"},
        {"conv2d_backward_weight", "depthwise_row_sums", "", of_3x3, "vector:1"},
        {"conv2d_backward_weight", "depthwise_row_sums", "_parts", of_3x3,
         "vector:1,groups:16,rows:2,columns:4,blocks:132"}};
    if (layout == Layout::nhwc) return all;
    // Where nothing reads by masks rows are copied: of vectors of columns.
    for (Constraint &constraint : columns(1)) of_3x3.push_back(constraint);
    of_3x3.push_back({"out_w", Relation::at_least, 8});
    all.push_back({"conv2d_backward_weight", "columns", "", of_3x3, "lanes:8,pixels:8"});
    for (Constraint &constraint : of_3x3)
        if (std::string_view(constraint.field).starts_with("stride")) constraint.value = 2;
    all.push_back({"conv2d_backward_weight", "columns", "_s2", of_3x3, "lanes:8,pixels:8"});
    return all;
}

// Of planes that are lines: tiles of a run, that several end in, of images, and all of them.
std::vector<Algorithm> backward_weight_of_lines() {
    Where where = fixed({{"kernel_w", 1},
                         {"kernel_h", 1},
                         {"padding", 0},
                         {"stride_x", 1},
                         {"stride_y", 1},
                         {"line", 1}});
    where.push_back({"out_h", Relation::at_most, 1});
    where.push_back({"out_w", Relation::at_least, 16});
    for (const char *size : {"channels_per_group", "filters_per_group"})
        where.push_back({size, Relation::multiple_of, 16});
    const auto of = [&](const char *name, const char *knobs, const char *schedule) {
        return Algorithm{"conv2d_backward_weight", "planes", name, where, knobs, schedule};
    };
    return {of("", "v:16,pixels:16", "root"),
            of("_images", "v:16,pixels:64", "root"),
            of("_whole", "v:16,whole:1", "root"),
            of("_filters", "v:16,pixels:16,filters:1", "root"),
            of("_in_registers", "v:16,pixels:16", "panels"),
            of("_filters_in_registers", "v:16,pixels:16,filters:1", "panels")};
}
const Algorithm kBackwardBias[] = {
    {"conv2d_backward_bias", "partial_sums", "_1", {}, "lanes:1,parts:1"},
    {"conv2d_backward_bias", "partial_sums", "_1_parts", {}, "lanes:1,parts:8"},
    {"conv2d_backward_bias", "partial_sums", "_4_parts", {}, "lanes:4,parts:3"},
};

// Known sizes are arithmetic of indices, which no type changes.
std::vector<Algorithm> of_any_sizes(std::vector<Algorithm> algorithms) {
    std::erase_if(algorithms, [](const Algorithm &one) { return !one.name.empty(); });
    return algorithms;
}
template<size_t count>
std::vector<Algorithm> all(const Algorithm (&algorithms)[count]) {
    return {algorithms, algorithms + count};
}

// bf16 is read and rounded as f16 is, and tested by the rows that have it (tests/FAMILY).
const std::vector<DataType> kTypes = {DataType::f32, DataType::f16};

INSTANTIATE_TEST_SUITE_P(Root, Conv2dAlgorithm, in_layouts(conv2d_algorithms(), kTypes),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(
    RootOfRows, Conv2dAlgorithm,
    testing::Combine(testing::ValuesIn(depthwise_of_rows("conv2d", "width", {})),
                     testing::Values(Layout::nchw), testing::Values(DataType::f32, DataType::f16)),
    parameter_name);
INSTANTIATE_TEST_SUITE_P(
    RootOfRows, BackwardDataAlgorithm,
    testing::Combine(testing::ValuesIn(depthwise_of_rows("conv2d_backward_data", "out_w",
                                                         {{"stride_x", 1}, {"stride_y", 1}})),
                     testing::Values(Layout::nchw), testing::Values(DataType::f32, DataType::f16)),
    parameter_name);
INSTANTIATE_TEST_SUITE_P(RootOfColumns, Conv2dAlgorithm,
                         testing::Combine(testing::ValuesIn(columns_of_rows("conv2d")),
                                          testing::Values(Layout::nchw),
                                          testing::Values(DataType::f32)),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(RootOfPanels, Conv2dAlgorithm,
                         testing::Combine(testing::ValuesIn(panels_of_rows()),
                                          testing::Values(Layout::nchw),
                                          testing::Values(DataType::f32)),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(
    RootOfColumns, BackwardDataAlgorithm,
    testing::Combine(testing::ValuesIn(columns_of_rows("conv2d_backward_data")),
                     testing::Values(Layout::nchw), testing::Values(DataType::f32)),
    parameter_name);
INSTANTIATE_TEST_SUITE_P(
    RootOfPlanes, Conv2dAlgorithm,
    testing::Combine(testing::ValuesIn(depthwise_of_planes(
                         "conv2d", {}, {{"groups", 16}, {"width", 4}, {"out_pixels", 16}})),
                     testing::Values(Layout::nchw), testing::Values(DataType::f32, DataType::f16)),
    parameter_name);
INSTANTIATE_TEST_SUITE_P(
    RootOfPlanes, BackwardDataAlgorithm,
    testing::Combine(testing::ValuesIn(depthwise_of_planes(
                         "conv2d_backward_data", {{"stride_x", 1}, {"stride_y", 1}},
                         {{"groups", 16}, {"out_w", 4}, {"width", 4}, {"height", 4}})),
                     testing::Values(Layout::nchw), testing::Values(DataType::f32, DataType::f16)),
    parameter_name);
INSTANTIATE_TEST_SUITE_P(Slices, Conv2dAlgorithm,
                         testing::Combine(testing::ValuesIn(algorithms_of_slices()),
                                          testing::Values(Layout::nhwc),
                                          testing::Values(DataType::bf16)),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Winograd, Conv2dAlgorithm, in_layouts(all(kWinograd), {DataType::f32}),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Winograd, BackwardDataAlgorithm,
                         in_layouts(all(kWinogradGradient), {DataType::f32}), parameter_name);
INSTANTIATE_TEST_SUITE_P(Root, BackwardDataAlgorithm,
                         in_layouts(backward_data_algorithms(), {DataType::f32}), parameter_name);
INSTANTIATE_TEST_SUITE_P(RootOfHalves, BackwardDataAlgorithm,
                         in_layouts(of_any_sizes(backward_data_algorithms()), {DataType::f16}),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Root, BackwardWeightAlgorithm, in_layouts(all(kBackwardWeight), kTypes),
                         parameter_name);
auto of_depthwise(Layout layout) {
    return testing::Combine(testing::ValuesIn(backward_weight_depthwise(layout)),
                            testing::Values(layout), testing::ValuesIn(kTypes));
}
INSTANTIATE_TEST_SUITE_P(Nhwc, BackwardWeightAlgorithm, of_depthwise(Layout::nhwc), parameter_name);
INSTANTIATE_TEST_SUITE_P(Nchw, BackwardWeightAlgorithm, of_depthwise(Layout::nchw), parameter_name);
INSTANTIATE_TEST_SUITE_P(RootOfLines, BackwardWeightAlgorithm,
                         testing::Combine(testing::ValuesIn(backward_weight_of_lines()),
                                          testing::Values(Layout::nchw),
                                          testing::Values(DataType::f32)),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Root, BackwardBiasAlgorithm, in_layouts(all(kBackwardBias), kTypes),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Root, QuantizedConv2dAlgorithm,
                         in_layouts(quantized_algorithms(), {DataType::u8, DataType::f32}),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(RootOfWords, QuantizedConv2dAlgorithm,
                         in_layouts(to_bytes_and_words({{"quantized_conv2d", "words", ""}}),
                                    {DataType::u8}),
                         parameter_name);
// Grouped, of real numbers, where a sum in another order would have other bits.
TEST(Conv2dBackwardDataFormulations, GiveTheSameBits) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        for (const auto &[first, other, schedule] :
             {std::array{"flip_expand", "expand_flip", "root"},
              {"flip_expand", "expand_flip", "buffered_phases"},
              {"flip_expand_sliced", "expand_flip_sliced", "root"}}) {
            const auto compiled = [&](const char *algorithm) {
                return candidate({"conv2d_backward_data", algorithm, "", {}, "", schedule}, layout,
                                 DataType::f32);
            };
            const Compiled one(compiled(first)), two(compiled(other));
            const KernelInfo &row = one.kernel();
            expect_same_bits(row, two.kernel(), Device::cpu(),
                             {row.type, row.layout, Data::reals, row.where, 5e4});
        }
    }
}

}  // namespace
}  // namespace hk::test
