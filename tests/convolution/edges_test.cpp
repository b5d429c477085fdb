// What is absent, and strides and paddings at the edges of what kernels count: of conv2d and
// quantized_conv2d, on every device that is here.

#include <gtest/gtest.h>

#include "hk/memory.h"
#include "hk/quantized_conv2d.h"
#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/runtime/expect_error.h"
#include "tests/support/guarded.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

Tensor integers(const Shape &shape, uint64_t seed = 1, DataType type = DataType::f32) {
    Random random(seed);
    return host_tensor(shape, type, whole_numbers(random, shape, -4, 4));
}

Tensor quantized(const QuantizedTensor &input, const QuantizedTensor &weight,
                 const Conv2dOptions &options) {
    return quantized_conv2d(input, weight, {}, DataType::f32, {}, options).values;
}

// Memory begins with the view's last image, so that everything before that is out of bounds.
TEST(Conv2dAbsent, ResidualOfAReversedOutput) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        const Tensor input = integers(image_shape(layout, 8, 9, 9, 16));
        const Tensor weight = integers(image_shape(layout, 16, 3, 3, 16), 2);
        for (const Activation activation :
             {Activation::none, Activation::leaky_relu, Activation::silu, Activation::gelu}) {
            Conv2dOptions options;
            options.layout = layout;
            options.activation = activation;
            options.alpha = activation == Activation::leaky_relu ? .25f : 0;
            const Tensor expected = conv2d(input, weight, {}, {}, options);
            const Guarded whole(Tensor(expected.shape(), DataType::f32), false);
            const Tensor reversed = whole.tensor().slice(0, 7, 8, -1);
            conv2d(input, weight, {}, {}, reversed, options);
            EXPECT_EQ(reference::read(reversed.to(Device::cpu())), reference::read(expected))
                << name_of(layout) << ' ' << name_of(activation);
        }
    }
}

// One filter for all channels, stored once, at the end of its memory.
TEST(Conv2dAbsent, BiasBesideARepeatedFilter) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        Conv2dOptions options;
        options.layout = layout;
        const Tensor input = integers(image_shape(layout, 1, 9, 9, 2));
        const Guarded filter(integers(image_shape(layout, 1, 1, 1, 2), 2), true);
        Shape shape = filter.tensor().shape(), strides = filter.tensor().strides();
        shape[0] = 48;
        strides[0] = 0;
        const Tensor repeated =
            Tensor::borrow(filter.tensor().data<float>(), DataType::f32, shape, strides);
        EXPECT_EQ(reference::read(conv2d(input, repeated, {}, {}, options)),
                  reference::read(conv2d(input, repeated.to(Device::cpu()), {}, {}, options)))
            << name_of(layout);
    }
}

// Bias and scales are four bytes a filter, and the weight is one.
TEST(Conv2dAbsent, BiasAndScalesBesideAFilterOfBytes) {
    for (const DataType type : {DataType::u8, DataType::f32}) {
        const Tensor values = integers({1, 9, 9, 64}, 1, DataType::f32);
        const Quantization quantization(.5f, 0);
        const Tensor input =
            type == DataType::f32 ? values : integers({1, 9, 9, 64}, 1, DataType::s8);
        const QuantizedTensor x{input, type == DataType::f32 ? Quantization() : quantization};
        const Tensor weight = integers({64, 1, 1, 1}, 2, DataType::s8);
        const Guarded alone(weight, true);
        Conv2dOptions options;
        options.groups = 64;
        const Tensor expected = quantized(x, {weight, quantization}, options);
        const Tensor got = quantized(x, {alone.tensor(), quantization}, options);
        EXPECT_EQ(reference::read(got), reference::read(expected)) << name_of(type);
    }
}

struct Geometry {
    const char *what;
    int64_t size;  // of both axes
    Padding padding;
};

// A stride with one output is never gone: neither the result nor the scratch depends on it.
TEST(Conv2dStrides, OfOneOutputAreNoMatterHowLong) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    const Geometry geometries[] = {{"no padding", 5, {}}, {"padding", 2, {1, 2, 2, 1}}};
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        for (const auto &[what, size, padding] : geometries) {
            for (const int64_t taps : {1, 3}) {
                for (const int64_t groups : {1, 16}) {
                    Conv2dOptions options;
                    options.layout = layout;
                    options.padding = padding;
                    options.groups = groups;
                    const int64_t c = 16 / groups;
                    const Tensor input = integers(image_shape(layout, 2, size, size, 16));
                    const Tensor weight = integers(image_shape(layout, 16, taps, taps, c), 2);
                    options.stride = {5, 5};
                    const auto expected = reference::read(conv2d(input, weight, {}, {}, options));
                    for (const int64_t stride :
                         {1000000, 17000000, 1 << 30, std::numeric_limits<int32_t>::max()}) {
                        options.stride = {stride, stride};
                        pool.trim();
                        pool.reset_peaks();
                        EXPECT_EQ(reference::read(conv2d(input, weight, {}, {}, options)), expected)
                            << name_of(layout) << ' ' << what << ' ' << taps << ' ' << stride;
                        EXPECT_LT(pool.statistics().peak_in_use, 1 << 20);
                    }
                }
            }
        }
    }
}

TEST(Conv2dStrides, OfOneOutputOfBytesAreNoMatterHowLong) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    const Quantization quantization(.5f, 0);
    const QuantizedTensor input{integers({1, 5, 5, 16}, 1, DataType::s8), quantization};
    const QuantizedTensor weight{integers({16, 3, 3, 16}, 2, DataType::s8), quantization};
    Conv2dOptions options;
    options.stride = {3, 3};
    const auto expected = reference::read(quantized(input, weight, options));
    for (const int64_t stride : {1000000, 17000000, 1 << 30, std::numeric_limits<int32_t>::max()}) {
        options.stride = {stride, stride};
        pool.trim();
        pool.reset_peaks();
        EXPECT_EQ(reference::read(quantized(input, weight, options)), expected);
        EXPECT_LT(pool.statistics().peak_in_use, 1 << 20);
    }
}

// Rows that copy whole rows of the padded image leave this to those that don't: of four columns of
// outputs the second meets the image, the others padding alone.
TEST(Conv2dStrides, WithSeveralOutputsCopyABoundedPart) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    constexpr int64_t far = 10000000;
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        const int columns = layout == Layout::nhwc ? 2 : 3;
        for (const int64_t groups : {1, 2, 16}) {
            Conv2dOptions options;
            options.layout = layout;
            options.groups = groups;
            options.padding = {1, 1, 0, 0};
            const int64_t c = 16 / groups;
            const Tensor input = integers(image_shape(layout, 1, 4, 4, 16));
            const Tensor weight = integers(image_shape(layout, 16, 3, 3, c), 2);
            const auto met = reference::read(
                conv2d(input.slice(columns, 1, 3), weight, {}, {}, options).to(Device::cpu()));
            options.padding.left = far - 1;
            options.padding.right = 2 * far;
            options.stride = {1, far};
            pool.trim();
            pool.reset_peaks();
            const Tensor output = conv2d(input, weight, {}, {}, options);
            EXPECT_LT(pool.statistics().peak_in_use, 64 << 20) << name_of(layout);
            ASSERT_EQ(output.shape()[static_cast<size_t>(columns)], 4);
            for (int64_t x = 0; x < 4; x++) {
                const auto column = reference::read(output.slice(columns, x, 1).to(Device::cpu()));
                EXPECT_EQ(column, x == 1 ? met : std::vector<double>(met.size())) << x;
            }
        }
    }
}

// An image of one column is one of one row to kernels, also beside a prepared filter that an image
// of several columns took as it is.
TEST(Conv2dEdges, ImagesOfOneColumn) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        Conv2dOptions options;
        options.layout = layout;
        options.padding = {2, 1, 0, 0};
        options.stride = {2, 1};
        options.dilation = {2, 1};
        const Filter filter = prepare_filter(integers(image_shape(layout, 16, 3, 1, 5), 2));
        const Tensor image = integers(image_shape(layout, 2, 20, 3, 5));
        const int columns = layout == Layout::nhwc ? 2 : 3;
        const Tensor column = image.slice(columns, 1, 1).to(Device::cpu());
        const Tensor expected = conv2d(image, filter, {}, {}, options).slice(columns, 1, 1);
        EXPECT_EQ(reference::read(conv2d(column, filter, {}, {}, options)),
                  reference::read(expected.to(Device::cpu())))
            << name_of(layout);

        const auto row = [&](int64_t h, int64_t w, int64_t kh, int64_t kw, const Padding &padding) {
            Conv2dOptions plain;
            plain.layout = layout;
            plain.padding = padding;
            const Conv2dProblem problem =
                Conv2dProblem::from_shapes(image_shape(layout, 1, h, w, 64),
                                           image_shape(layout, 64, kh, kw, 64), DataType::f32, plain);
            return select_conv2d(problem, DeviceType::cpu, Device::cpu().limits(), false).kernel;
        };
        EXPECT_EQ(row(40, 1, 5, 1, {2, 1, 0, 0}), row(1, 40, 1, 5, {0, 0, 2, 1})) << name_of(layout);
    }
}

TEST(Conv2dEdges, PaddedInputsBeyondWhatKernelsCountAreRejected) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const Tensor input = integers({1, 4, 4, 16}), weight = integers({16, 3, 3, 16}, 2);
    Conv2dOptions options;
    options.padding.top = kMost;
    options.stride = {1 << 30, 1};
    EXPECT_INVALID("the padded input's number of rows is 2147483651",
                   conv2d(input, weight, {}, {}, options));
    const Quantization one(1.f, 0);
    EXPECT_INVALID("the padded input's number of rows is 2147483651",
                   quantized_conv2d({integers({1, 4, 4, 16}, 1, DataType::s8), one},
                                    {integers({16, 3, 3, 16}, 1, DataType::s8), one}, {},
                                    DataType::f32, {}, options));
    options.padding = {0, 0, 1 << 30, (1 << 30) - 8};
    options.stride = {1, 1 << 30};
    EXPECT_INVALID("128 strides more", conv2d(input, weight, {}, {}, options));
}

}  // namespace
}  // namespace hk::test
