// Bad input of group normalisation: refused before any kernel runs, with both values in the
// message.

#include <limits>

#include "hk/group_norm.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

Tensor made(const Shape &shape, DataType type = DataType::f32) {
    return Tensor::zeros(shape, type);
}

// Calls that are right, to be spoilt in one place.
struct Arguments {
    Tensor input = made({2, 3, 3, 8}), output = made({2, 3, 3, 8}), gradient = made({2, 3, 3, 8});
    Tensor weight = made({8}), bias = made({8}), mean = made({2, 4}), rstd = made({2, 4});
    Tensor of_weight = made({8}), of_bias = made({8});
    GroupNormOptions options{Layout::nhwc, 4, 1e-5f};

    void forward() const { group_norm(input, weight, bias, output, {mean, rstd}, options); }
    void backward() const {
        group_norm_backward(gradient, input, weight, {mean, rstd}, {output, of_weight, of_bias},
                            options);
    }
};

template<typename F>
void expect_refused(const std::string &part, F &&spoil) {
    Arguments arguments;
    spoil(arguments);
    EXPECT_INVALID("group_norm: " + part, arguments.forward());
}

template<typename F>
void expect_refused_backward(const std::string &part, F &&spoil) {
    Arguments arguments;
    spoil(arguments);
    EXPECT_INVALID("group_norm_backward: " + part, arguments.backward());
}

TEST(GroupNormInput, TheUnspoiltCallsRun) {
    Arguments a;
    a.forward();
    a.backward();
    a.weight = a.bias = {};
    a.forward();
    a.backward();
    a.of_weight = {};
    a.backward();
    group_norm(a.input, {}, {}, inplace(a.input), {}, a.options);
}

TEST(GroupNormInput, UndefinedTensors) {
    expect_refused("input is undefined", [](Arguments &a) { a.input = {}; });
    expect_refused("output is undefined", [](Arguments &a) { a.output = {}; });
    expect_refused_backward("input is undefined", [](Arguments &a) { a.input = {}; });
    expect_refused_backward("output gradient is undefined", [](Arguments &a) { a.gradient = {}; });
    expect_refused_backward("mean is undefined", [](Arguments &a) { a.mean = {}; });
    expect_refused_backward("rstd is undefined", [](Arguments &a) { a.rstd = {}; });
    expect_refused_backward("all gradients are undefined",
                            [](Arguments &a) { a.output = a.of_weight = a.of_bias = {}; });
}

TEST(GroupNormInput, Options) {
    expect_refused("groups are 3, they must divide the channels, which are 8",
                   [](Arguments &a) { a.options.groups = 3; });
    expect_refused("groups are 0", [](Arguments &a) { a.options.groups = 0; });
    expect_refused("groups are -4", [](Arguments &a) { a.options.groups = -4; });
    expect_refused("epsilon is -", [](Arguments &a) { a.options.epsilon = -1e-3f; });
    expect_refused("epsilon is nan", [](Arguments &a) {
        a.options.epsilon = std::numeric_limits<float>::quiet_NaN();
    });
    expect_refused("epsilon is inf", [](Arguments &a) {
        a.options.epsilon = std::numeric_limits<float>::infinity();
    });
    expect_refused("layout 2, not nhwc or nchw",
                   [](Arguments &a) { a.options.layout = Layout::any; });
}

TEST(GroupNormInput, ShapesAndTypes) {
    expect_refused("input has 2 dimensions, [18, 8], it needs 4", [](Arguments &a) {
        a.input = made({18, 8});
    });
    expect_refused("input has shape [2, 0, 3, 8], of which only the batch may be 0",
                   [](Arguments &a) {
                       a.input = made({2, 0, 3, 8});
                   });
    expect_refused("output has shape [2, 3, 4, 8], it must have [2, 3, 3, 8]", [](Arguments &a) {
        a.output = made({2, 3, 4, 8});
    });
    expect_refused("weight has shape [4], it must have [8]",
                   [](Arguments &a) { a.weight = made({4}); });
    expect_refused("bias has shape [8, 1], it must have [8]", [](Arguments &a) {
        a.bias = made({8, 1});
    });
    expect_refused("mean has shape [2, 8], it must have [2, 4]", [](Arguments &a) {
        a.mean = made({2, 8});
    });
    expect_refused_backward("input gradient has shape [2, 9, 1, 8], it must have [2, 3, 3, 8]",
                            [](Arguments &a) {
                                a.output = made({2, 9, 1, 8});
                            });
    expect_refused("the type is f64, it must be f32, f16 or bf16", [](Arguments &a) {
        a.input = made({2, 3, 3, 8}, DataType::f64);
    });
    expect_refused("weight is f16, input is f32",
                   [](Arguments &a) { a.weight = made({8}, DataType::f16); });
    expect_refused("rstd is f16, it must be f32", [](Arguments &a) {
        a.rstd = made({2, 4}, DataType::f16);
    });
}

TEST(GroupNormInput, Memory) {
    expect_refused("output and input overlap", [](Arguments &a) { a.output = a.input; });
    expect_refused("rstd and mean overlap", [](Arguments &a) { a.rstd = a.mean; });
    expect_refused("mean and weight overlap", [](Arguments &a) { a.weight = a.mean.reshape({8}); });
    expect_refused("input's channels have the stride 2", [](Arguments &a) {
        a.input = made({2, 3, 3, 16}).slice(3, 0, 8, 2);
    });
    expect_refused_backward("input gradient and input overlap",
                            [](Arguments &a) { a.output = a.input; });
    expect_refused_backward("bias gradient and weight gradient overlap",
                            [](Arguments &a) { a.of_bias = a.of_weight; });
    expect_refused_backward("weight gradient and weight overlap",
                            [](Arguments &a) { a.of_weight = a.weight; });
    const Arguments a;
    const Tensor none;
    EXPECT_INVALID("output is inplace(), but it is not the same view as input",
                   group_norm(a.input, {}, {}, inplace(a.output), {}, a.options));
    EXPECT_INVALID("input gradient is inplace() of an undefined tensor",
                   group_norm_backward(a.gradient, a.input, {}, {a.mean, a.rstd},
                                       {inplace(none), a.of_weight, a.of_bias}, a.options));
}

}  // namespace
}  // namespace hk
