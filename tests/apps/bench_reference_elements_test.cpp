// The references of what bench holds against memcpy: every right result passes, and one wrong value
// is found.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "conv2d_data.h"
#include "elementwise_check.h"
#include "pool2d_check.h"
#include "softmax_cross_entropy_check.h"

namespace hk::bench {

namespace {

constexpr DataType kTypes[] = {DataType::f32, DataType::f16, DataType::bf16};

// In host memory, rounded to the type.
Tensor tensor_of(const Shape &shape, DataType type, const std::vector<float> &values) {
    const Tensor tensor(shape, type);
    for (size_t i = 0; i < values.size(); ++i) {
        if (type == DataType::f32) {
            tensor.data<float>()[i] = values[i];
        } else {
            tensor.data<uint16_t>()[i] =
                type == DataType::f16 ? f16_from_f32(values[i]) : bf16_from_f32(values[i]);
        }
    }
    return tensor;
}

// That `check` takes `values` and nothing that is off by a 25th in one of them, or NaN.
template<typename CheckOf>
void expect_one_wrong_is_found(const Shape &shape, DataType type, std::vector<float> values,
                               CheckOf check) {
    EXPECT_EQ(check(tensor_of(shape, type, values)).failure, "");
    for (size_t i = 0; i < values.size(); ++i) {
        const float right = values[i];
        const std::string place = "element " + std::to_string(i) + " ";
        for (const float wrong : {right + 0.04f * std::max(std::abs(right), 1.f), std::nanf("")}) {
            values[i] = wrong;
            const std::string failure = check(tensor_of(shape, type, values)).failure;
            EXPECT_EQ(failure.rfind(place, 0), 0u) << place << failure;
        }
        values[i] = right;
    }
}

Pool2dProblem problem_of(Layout layout, Pooling pooling, DataType type) {
    Pool2dOptions options;
    options.layout = layout;
    options.pooling = pooling;
    options.kernel = {2, 3};
    options.stride = {2, 1};
    options.padding = {0, 0, 1, 0};
    return Pool2dProblem::from_shape(layout == Layout::nhwc ? Shape{1, 2, 3, 2} : Shape{1, 2, 2, 3},
                                     type, options);
}

// Two channels of 2 x 3, in either layout; of the first the maximum is there twice.
std::vector<float> laid_out(Layout layout, const std::vector<float> &first,
                            const std::vector<float> &second) {
    std::vector<float> result = first;
    result.insert(result.end(), second.begin(), second.end());
    if (layout == Layout::nchw) return result;
    for (size_t i = 0; i < first.size(); ++i) {
        result[2 * i] = first[i];
        result[2 * i + 1] = second[i];
    }
    return result;
}

// Windows of 2 x 3 a step of 1 apart, with a column of padding: the first has two columns.
TEST(PoolReference, FindsOneWrongValue) {
    for (const DataType type : kTypes) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            const Shape output = layout == Layout::nhwc ? Shape{1, 1, 2, 2} : Shape{1, 2, 1, 2};
            const Shape image = layout == Layout::nhwc ? Shape{1, 2, 3, 2} : Shape{1, 2, 2, 3};
            const auto input = laid_out(layout, {1, 5, 2, 5, 0, 5}, {-6, -5, -4, -3, -2, -1});
            const auto gradient = laid_out(layout, {2, 4}, {8, 16});
            struct {
                Pooling pooling;
                std::vector<float> output, input_gradient;
            } const cases[] = {
                {Pooling::max, laid_out(layout, {5, 5}, {-2, -1}),
                 laid_out(layout, {0, 6, 0, 0, 0, 0}, {0, 0, 0, 0, 8, 16})},
                {Pooling::average, laid_out(layout, {2.75f, 3}, {-4, -3.5f}),
                 laid_out(layout,
                          {0.5f + 2 / 3.f, 0.5f + 2 / 3.f, 2 / 3.f, 0.5f + 2 / 3.f, 0.5f + 2 / 3.f,
                           2 / 3.f},
                          {2 + 8 / 3.f, 2 + 8 / 3.f, 8 / 3.f, 2 + 8 / 3.f, 2 + 8 / 3.f, 8 / 3.f})}};
            for (const auto &c : cases) {
                const Pool2dProblem problem = problem_of(layout, c.pooling, type);
                expect_one_wrong_is_found(output, type, c.output, [&](const Tensor &result) {
                    return check_pool2d(problem, input, result);
                });
                expect_one_wrong_is_found(image, type, c.input_gradient, [&](const Tensor &result) {
                    return check_pool2d_backward(problem, gradient, input, result);
                });
            }
        }
    }
}

// Rows whose exponentials are 1, 2 and 1, and 3, 1 and 4.
TEST(SoftmaxCrossEntropyReference, FindsOneWrongValue) {
    const std::vector<float> logits = {0, std::log(2.f), 0, std::log(3.f), 0, std::log(4.f)};
    const std::vector<int32_t> labels = {1, 0};
    const std::vector<float> losses = {std::log(2.f), std::log(8 / 3.f)};
    for (const DataType type : kTypes) {
        const std::vector<float> gradients = {0.25f, -0.5f, 0.25f, -0.625f, 0.125f, 0.5f};
        const Tensor loss = tensor_of({2}, DataType::f32, losses);
        const Tensor gradient = tensor_of({2, 3}, type, gradients);
        expect_one_wrong_is_found({2}, DataType::f32, losses, [&](const Tensor &result) {
            return check_softmax_cross_entropy(logits, labels, result, gradient);
        });
        expect_one_wrong_is_found({2}, DataType::f32, losses, [&](const Tensor &result) {
            return check_softmax_cross_entropy(logits, labels, result, {});
        });
        expect_one_wrong_is_found({2, 3}, type, gradients, [&](const Tensor &result) {
            return check_softmax_cross_entropy(logits, labels, loss, result);
        });
    }
}

TEST(ElementwiseReference, FindsOneWrongValue) {
    const std::vector<float> values = {-1, 0.5f, 0.25f}, gradients = {0.5f, 1, -1};
    for (const DataType type : kTypes) {
        expect_one_wrong_is_found({3}, type, {0, 0.5f, 0.25f}, [&](const Tensor &result) {
            return check_activation({Activation::relu}, false, values, gradients, result);
        });
        expect_one_wrong_is_found({3}, type, {0, 1, -1}, [&](const Tensor &result) {
            return check_activation({Activation::relu}, true, values, gradients, result);
        });
        // v: 0.5 * 0.5 + 1 = 1.25, -0.75, 0.5; p: less half of that.
        const SgdOptions options{0.5f, 0.5f};
        const std::vector<float> velocity = {1.25f, -0.75f, 0.5f};
        const std::vector<float> parameter = {-0.625f, 0.375f, -0.25f};
        const Tensor right = tensor_of({3}, type, velocity);
        const std::array<std::vector<float>, 3> before{
            std::vector<float>{0, 0, 0}, std::vector<float>{0.5f, 0.5f, -1}, {1, -1, 1}};
        expect_one_wrong_is_found({3}, type, parameter, [&](const Tensor &result) {
            return check_sgd(options, before, result, right);
        });
        const Tensor p = tensor_of({3}, type, parameter);
        expect_one_wrong_is_found({3}, type, velocity, [&](const Tensor &result) {
            return check_sgd(options, before, p, result);
        });
    }
}

}  // namespace

}  // namespace hk::bench
