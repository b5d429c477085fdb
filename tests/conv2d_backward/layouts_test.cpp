// Rows of one layout on images of the other, of copies, and what memory gradients take.

#include "hk/memory.h"
#include "tests/conv2d_backward/case.h"
#include "tests/convolution/layout_test.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

TEST(BackwardRows, RefuseTheOtherLayout) {
    expect_other_layouts_refused<BackwardDataCase>(rows_of(Pass::data), takes_copies);
    expect_other_layouts_refused<BackwardWeightCase>(rows_of(Pass::weight), takes_copies);
    expect_other_layouts_refused<BackwardBiasCase>(rows_of(Pass::bias));
}

TEST(BackwardRows, OfNhwcTakeCopiesOfNchw) {
    expect_copies_are_taken<BackwardDataCase>(rows_of(Pass::data));
    expect_copies_are_taken<BackwardWeightCase>(rows_of(Pass::weight));
}

// Images of nchw with one pixel are those of nhwc where groups are next to each other, and where
// not, as here, they are copied.
TEST(Conv2dBackwardLayouts, OfOnePixelBesideOthers) {
    constexpr int64_t kGroups = 8;
    const auto one_of_six = [](float value) {
        const Tensor six({1, kGroups, 1, 6}, DataType::f32);
        six.fill(value);
        return six.slice(3, 2, 1);
    };
    Conv2dOptions options;
    options.layout = Layout::nchw;
    options.groups = kGroups;
    const Tensor input = one_of_six(3), output_gradient = one_of_six(5);
    const Tensor weight({kGroups, 1, 1, 1}, DataType::f32), gradient(weight.shape(), DataType::f32);
    weight.fill(7);
    const Tensor input_gradient = one_of_six(0);
    conv2d_backward_data(output_gradient, weight, input_gradient, options);
    conv2d_backward_weight(output_gradient, input, gradient, options);
    EXPECT_EQ(reference::read(input_gradient), std::vector<double>(kGroups, 35));
    EXPECT_EQ(reference::read(gradient), std::vector<double>(kGroups, 15));
}

// Selects the row of a strided 1x1 filter of nchw, from 1 to 3 pixels apart.
template<typename Case, typename Select>
void check_met_pixels(const Select &select) {
    uint64_t seed = 1;
    for (const std::array<int64_t, 2> &stride : {std::array<int64_t, 2>{2, 2}, {1, 2}, {3, 1}}) {
        for (const bool accumulate : {false, true}) {
            Case c;
            Conv2dOptions options;
            options.layout = Layout::nchw;
            options.stride = stride;
            c.problem =
                Conv2dProblem::from_shapes({2, 32, 53, 52}, {24, 32, 1, 1}, DataType::f32, options);
            c.seed = seed++;
            c.accumulate = accumulate;
            c.data = accumulate ? Data::reals : Data::integers;
            ASSERT_EQ(check(c, Device::cpu()), Outcome::passed) << to_string(c);
            const Selection selection =
                select(c.problem, DeviceType::cpu, Device::cpu().limits(), false);
            ASSERT_TRUE(selection.kernel);
            EXPECT_EQ(selection.kernel->layout, Layout::nchw) << selection.kernel->name;
        }
    }
}

// Gradients of a strided 1x1 filter of nchw are those of a copy of the pixels that it meets, by
// rows of nchw. Beside one a call may have the others.
TEST(Conv2dBackwardLayouts, OfPixelsThatAStridedFilterMeets) {
    check_met_pixels<BackwardWeightCase>(select_conv2d_backward_weight);
    check_met_pixels<BackwardDataCase>(select_conv2d_backward_data);
    const auto filled = [](const Shape &shape, float value) {
        const Tensor tensor(shape, DataType::f32);
        tensor.fill(value);
        return tensor;
    };
    const Tensor output = filled({1, 24, 7, 6}, 3), input = filled({1, 32, 13, 12}, 5),
                 weight = filled({24, 32, 1, 1}, 2);
    const Conv2dGradients gradients{filled(input.shape(), 7), filled(weight.shape(), 7),
                                    filled({24}, 7)};
    Conv2dOptions options;
    options.layout = Layout::nchw;
    options.stride = {2, 2};
    conv2d_backward(output, input, weight, gradients, options);
    EXPECT_EQ(reference::read(gradients.weight), std::vector<double>(24 * 32, 3 * 5 * 42));
    EXPECT_EQ(reference::read(gradients.bias), std::vector<double>(24, 3 * 42));
    const Tensor met = gradients.input.slice(2, 0, 7, 2).slice(3, 0, 6, 2);
    EXPECT_EQ(reference::read(met), std::vector<double>(32 * 42, 24 * 2 * 3));
    const Tensor unmet = gradients.input.slice(2, 1, 6, 2);
    EXPECT_EQ(reference::read(unmet), std::vector<double>(32 * 6 * 12, 0));
}

// Two taps, one at each end of an image that is tall, or has many channels. Of nchw there are
// copies of all three tensors.
TEST(Conv2dBackwardScratch, DoesNotGrowWithTheImage) {
    struct Image {
        Layout layout;
        int64_t rows, channels;
    };
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    const auto ones = [](const Shape &shape) {
        const Tensor tensor(shape, DataType::f32);
        tensor.fill(1);
        return tensor;
    };
    for (const auto &[layout, rows, channels] :
         {Image{Layout::nhwc, 20000, 17}, Image{Layout::nchw, 20000, 17},
          Image{Layout::nchw, 8400, 1100}}) {
        Conv2dOptions options;
        options.layout = layout;
        options.dilation = {rows - 1, 1};
        const Tensor gradient = ones(image_shape(layout, 1, 1, 1, 2));
        const Tensor weight = ones(image_shape(layout, 2, 2, 1, channels));
        const Tensor result(image_shape(layout, 1, rows, 1, channels), DataType::f32);
        pool.trim();
        pool.reset_peaks();
        const int64_t before = pool.statistics().in_use;
        conv2d_backward_data(gradient, weight, result, options);
        const int64_t of_tensors =
            4 * (gradient.elements() + weight.elements() + result.elements());
        const int64_t copies = layout == Layout::nchw ? of_tensors + of_tensors / 32 : 0;
        EXPECT_LT(pool.statistics().peak_in_use - before, copies + (1 << 16))
            << name_of(layout) << ", " << rows << " rows of " << channels << " channels";
        for (const int64_t row : {int64_t{0}, int64_t{1}, rows / 2, rows - 1}) {
            const double wanted = row == 0 || row == rows - 1 ? 2 : 0;
            const Tensor line = result.slice(layout == Layout::nhwc ? 1 : 2, row, 1);
            EXPECT_EQ(reference::read(line),
                      std::vector<double>(static_cast<size_t>(channels), wanted))
                << row;
        }
    }
}

}  // namespace
}  // namespace hk::test
