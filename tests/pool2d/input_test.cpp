// Bad input of pooling and of its gradient: refused before any kernel runs, with both values in the
// message.

#include <limits>

#include "hk/pool2d.h"
#include "tests/runtime/repeated.h"
#include "tests/support/refused.h"

namespace hk {
namespace {

Tensor made(const Shape &shape, DataType type = DataType::f32) {
    return Tensor::zeros(shape, type);
}

// Calls that are right, to be spoilt in one place.
struct Arguments {
    Tensor input = made({2, 9, 8, 5}), output = made({2, 4, 4, 5});
    Tensor output_gradient = made({2, 4, 4, 5}), input_gradient = made({2, 9, 8, 5});
    Pool2dOptions options{.kernel = {3, 2}};

    void forward() const { pool2d(input, output, options); }
    void backward() const {
        pool2d_backward(output_gradient, input, output, input_gradient, options);
    }
};

struct Forward : Arguments {
    static constexpr const char *kPrefix = "pool2d: ";
    void run() const { forward(); }
};
struct Backward : Arguments {
    static constexpr const char *kPrefix = "pool2d_backward: ";
    void run() const { backward(); }
};

#define EXPECT_BOTH_REFUSED(part, ...)             \
    EXPECT_REFUSED_BY(Forward, part, __VA_ARGS__); \
    EXPECT_REFUSED_BY(Backward, part, __VA_ARGS__)

TEST(Pool2dInput, TheUnspoiltCallsRun) {
    Arguments arguments;
    arguments.forward();
    arguments.backward();
    arguments.options.pooling = Pooling::average;
    arguments.input = arguments.output = {};
    arguments.backward();
}

TEST(Pool2dInput, UndefinedTensors) {
    EXPECT_INVALID("pool2d: input is undefined", pool2d({}));
    EXPECT_REFUSED_BY(Forward, "input is undefined", a.input = {});
    EXPECT_REFUSED_BY(Forward, "output is undefined", a.output = {});
    EXPECT_REFUSED_BY(Backward, "output gradient is undefined", a.output_gradient = {});
    EXPECT_REFUSED_BY(Backward, "input gradient is undefined", a.input_gradient = {});
    EXPECT_REFUSED_BY(Backward, "input is undefined", a.input = {});
    EXPECT_REFUSED_BY(Backward, "output is undefined", a.output = {});
}

TEST(Pool2dInput, Options) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    EXPECT_BOTH_REFUSED("the kernel's height is 0, it must be 1 to 2147483647",
                        a.options.kernel[0] = 0);
    EXPECT_BOTH_REFUSED("the kernel's width is 9223372036854775807", a.options.kernel[1] = kMost);
    EXPECT_BOTH_REFUSED("the layout is any, it must be nhwc or nchw",
                        a.options.layout = Layout::any);
    EXPECT_BOTH_REFUSED("the layout is unknown", a.options.layout = static_cast<Layout>(200));
    EXPECT_BOTH_REFUSED("stride of x is 0, it must be 1", a.options.stride[1] = 0);
    EXPECT_BOTH_REFUSED("stride of y is -2, it must be 1", a.options.stride[0] = -2);
    EXPECT_BOTH_REFUSED("padding at the top is -1", a.options.padding.top = -1);
    EXPECT_BOTH_REFUSED(
        "padding at the bottom is 3, it must be smaller than the kernel, which has 3",
        a.options.padding.bottom = 3);
    EXPECT_BOTH_REFUSED(
        "padding at the right is 2, it must be smaller than the kernel, which has 2",
        a.options.padding.right = 2);
    EXPECT_BOTH_REFUSED("the kernel reaches over 10 rows, the padded input has 9",
                        a.options.kernel[0] = 10);
    EXPECT_BOTH_REFUSED(
        "the padded input's number of rows is 4294967301, it must be 1 to 2147483647", {
            a.options.kernel[0] = 2147483647;
            a.options.padding.top = a.options.padding.bottom = 2147483646;
        });
    EXPECT_INVALID(
        "the padded input has 33554435 columns and the stride is 33554433: with 128 strides",
        Pool2dProblem::from_shape({1, 1, 33554435, 1}, DataType::f32,
                                  {.kernel = {1, 1}, .stride = {1, 33554433}}));
    EXPECT_BOTH_REFUSED("pooling 7 does not exist", a.options.pooling = static_cast<Pooling>(7));
}

// Poolings have no groups.
TEST(Pool2dInput, Channels) {
    for (const int64_t channels : {int64_t{0}, int64_t{1} << 31}) {
        EXPECT_INVALID("pool2d: the input's number of channels is " + std::to_string(channels) +
                           ", it must be 1 to 2147483647",
                       Pool2dProblem::from_shape({1, 4, 4, channels}, DataType::f32, {}));
    }
}

TEST(Pool2dInput, ShapesAndTypes) {
    EXPECT_REFUSED_BY(Forward, "input has 3 dimensions, [9, 8, 5], it needs 4",
                      a.input = made({9, 8, 5}));
    EXPECT_REFUSED_BY(Forward, "output has shape [2, 4, 4, 6], it must have [2, 4, 4, 5]",
                      a.output = made({2, 4, 4, 6}));
    EXPECT_REFUSED_BY(Forward, "output is f16, input is f32",
                      a.output = made({2, 4, 4, 5}, DataType::f16));
    EXPECT_REFUSED_BY(Forward, "the type is s32, it must be f32, f16 or bf16", {
        a.input = made({2, 9, 8, 5}, DataType::s32);
        a.output = made({2, 4, 4, 5}, DataType::s32);
    });
    EXPECT_REFUSED_BY(Backward, "output gradient has shape [2, 4, 4, 4], it must have [2, 4, 4, 5]",
                      a.output_gradient = made({2, 4, 4, 4}));
    EXPECT_REFUSED_BY(Backward, "input has shape [2, 9, 9, 5], it must have [2, 9, 8, 5]",
                      a.input = made({2, 9, 9, 5}));
    EXPECT_REFUSED_BY(Backward, "output has shape [2, 4, 3, 5], it must have [2, 4, 4, 5]",
                      a.output = made({2, 4, 3, 5}));
    EXPECT_REFUSED_BY(Backward, "input gradient is bf16, output gradient is f32",
                      a.input_gradient = made({2, 9, 8, 5}, DataType::bf16));
}

TEST(Pool2dInput, Memory) {
    Arguments a;
    a.output = made({2, 4, 4, 10}).slice(3, 0, 5, 2);
    EXPECT_INVALID("output's channels have the stride 2", a.forward());
    a.output = a.input.slice(1, 0, 4).slice(2, 0, 4);
    EXPECT_INVALID("output and input overlap", a.forward());
    a = {};
    a.input_gradient = a.input;
    EXPECT_INVALID("input gradient and input overlap", a.backward());
    a.input_gradient = made({1, 9, 8, 5});
    a.input_gradient =
        Tensor::borrow(a.input_gradient.data<float>(), DataType::f32, {2, 9, 8, 5}, {0, 40, 5, 1});
    EXPECT_INVALID("elements of the input gradient overlap", a.backward());
}

TEST(Pool2dInput, RepeatedElements) {
    const std::string refused =
        " has this many elements, repeated ones counted: 4294967296, a kernel";
    const Tensor many = repeated({1, 1 << 16, 1 << 16, 1}), few = made({1, 1 << 10, 1 << 10, 1});
    const Pool2dOptions options{
        .pooling = Pooling::average, .kernel = {64, 64}, .stride = {64, 64}};
    EXPECT_INVALID("pool2d: input" + refused, pool2d(many, few, options));
}

TEST(Pool2dInput, RowsOfAnotherKind) {
    const Arguments a;
    for (const KernelInfo &row : pool2d_kernels()) {
        const bool takes = row.device == DeviceType::cpu && row.type == DataType::f32 &&
                           row.layout == Layout::nhwc && std::string_view(row.row) == "max";
        if (takes) {
            pool2d_with(row, a.input, a.output, a.options);
        } else {
            EXPECT_INVALID("pool2d: kernel ", pool2d_with(row, a.input, a.output, a.options));
        }
    }
}

}  // namespace
}  // namespace hk
