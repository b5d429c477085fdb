// Bad input of activations, their gradients and SGD: refused before any kernel runs, with both
// values in the message.

#include <limits>

#include "hk/activation.h"
#include "hk/sgd.h"
#include "tests/support/refused.h"

namespace hk {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor made(const Shape &shape, DataType type = DataType::f32) {
    return Tensor::zeros(shape, type);
}

// Calls that are right, to be spoilt in one place.
struct Forward {
    Tensor input = made({3, 4}), output = made({3, 4});
    ActivationOptions options{};

    static constexpr const char *kOperation = "activate: ";
    void run() const { activate(input, output, options); }
};

struct Backward {
    Tensor output_gradient = made({3, 4}), saved = made({3, 4}), input_gradient = made({3, 4});
    ActivationOptions options{};

    static constexpr const char *kOperation = "activate_backward: ";
    void run() const { activate_backward(output_gradient, saved, input_gradient, options); }
};

struct Step {
    Tensor parameter = made({3, 4}), velocity = made({3, 4}), gradient = made({3, 4});
    SgdOptions options{0.1f, 0.9f, 0.01f, true};

    static constexpr const char *kOperation = "sgd_step: ";
    void run() const { sgd_step(parameter, velocity, gradient, options); }
};

TEST(ElementwiseInput, TheUnspoiltCallsRun) {
    Forward().run();
    Backward().run();
    Step().run();
}

TEST(ElementwiseInput, UndefinedTensors) {
    EXPECT_REFUSED_BY(Forward, "input is undefined", a.input = {});
    EXPECT_REFUSED_BY(Forward, "output is undefined", a.output = {});
    EXPECT_REFUSED_BY(Backward, "output_gradient is undefined", a.output_gradient = {});
    EXPECT_REFUSED_BY(Backward, "saved is undefined", a.saved = {});
    EXPECT_REFUSED_BY(Backward, "input_gradient is undefined", a.input_gradient = {});
    EXPECT_REFUSED_BY(Step, "parameter is undefined", a.parameter = {});
    EXPECT_REFUSED_BY(Step, "velocity is undefined, momentum is 0.9", a.velocity = {});
    EXPECT_REFUSED_BY(Step, "gradient is undefined", a.gradient = {});
}

TEST(ElementwiseInput, ActivationsThatDoNotExist) {
    const auto none = static_cast<Activation>(200);
    EXPECT_EQ(name_of(none), "unknown");
    EXPECT_REFUSED_BY(Forward, "activation 200 does not exist", a.options.activation = none);
    EXPECT_REFUSED_BY(Backward, "activation 200 does not exist", a.options.activation = none);
}

TEST(ElementwiseInput, Shapes) {
    EXPECT_REFUSED_BY(Forward, "input has shape [4, 3], it must have [3, 4]",
                      a.input = made({4, 3}));
    EXPECT_REFUSED_BY(Backward, "saved has shape [12], it must have [3, 4]", a.saved = made({12}));
    EXPECT_REFUSED_BY(Backward, "output_gradient has shape [3, 4, 1], it must have [3, 4]",
                      a.output_gradient = made({3, 4, 1}));
    EXPECT_REFUSED_BY(Step, "velocity has shape [3, 5], it must have [3, 4]",
                      a.velocity = made({3, 5}));
    EXPECT_REFUSED_BY(Step, "gradient has shape [0, 4], it must have [3, 4]",
                      a.gradient = made({0, 4}));
}

TEST(ElementwiseInput, Types) {
    EXPECT_REFUSED_BY(Forward, "input is f16, output is f32",
                      a.input = made({3, 4}, DataType::f16));
    EXPECT_REFUSED_BY(Backward, "saved is bf16, input_gradient is f32",
                      a.saved = made({3, 4}, DataType::bf16));
    EXPECT_REFUSED_BY(Step, "velocity is f16, parameter is f32",
                      a.velocity = made({3, 4}, DataType::f16));
    EXPECT_REFUSED_BY(Forward, "the type is s32, it must be f32, f16 or bf16",
                      a.input = a.output = made({3, 4}, DataType::s32));
    EXPECT_REFUSED_BY(Step, "the type is f64",
                      a.parameter = a.velocity = a.gradient = made({3, 4}, DataType::f64));
}

TEST(ElementwiseInput, Devices) {
    const Device device = Device::opencl();
    if (!device.available()) GTEST_SKIP() << "no OpenCL device";
    EXPECT_REFUSED_BY(Forward, "input is on opencl:0, output is on cpu",
                      a.input = a.input.to(device));
    EXPECT_REFUSED_BY(Backward, "saved is on opencl:0, input_gradient is on cpu",
                      a.saved = a.saved.to(device));
    EXPECT_REFUSED_BY(Step, "velocity is on cpu, parameter is on opencl:0",
                      a.parameter = a.parameter.to(device));
}

// Each of them begins at element 0 of a storage of its own.
TEST(ElementwiseInput, OverlapOfBorrowedMemory) {
    std::vector<float> both(16);
    EXPECT_REFUSED_BY(Forward, "and begins 16 bytes after output", {
        a.output = Tensor::borrow(both.data(), DataType::f32, {3, 4});
        a.input = Tensor::borrow(both.data() + 4, DataType::f32, {3, 4});
    });
}

TEST(ElementwiseInput, Overlap) {
    const Tensor both = made({4, 4});
    const Tensor first = both.slice(0, 0, 3), second = both.slice(0, 1, 3);
    EXPECT_REFUSED_BY(Forward,
                      "output and input overlap: output has shape [3, 4], strides [4, 1]; input "
                      "has shape [3, 4], strides [4, 1], and begins 16 bytes before output",
                      {
                          a.input = first;
                          a.output = second;
                      });
    // The same view without inplace() is an accident too.
    EXPECT_REFUSED_BY(Forward, "output and input overlap", a.output = a.input);
    EXPECT_REFUSED_BY(Backward, "input_gradient and saved overlap", {
        a.saved = first;
        a.input_gradient = second;
    });
    EXPECT_REFUSED_BY(Step, "parameter and gradient overlap", {
        a.parameter = first;
        a.gradient = second;
    });
    EXPECT_REFUSED_BY(Step, "parameter and velocity overlap", a.velocity = a.parameter);
    EXPECT_REFUSED_BY(Step, "velocity and gradient overlap", a.velocity = a.gradient);
    const auto repeated = [&] {
        return Tensor::borrow(both.data<float>(), DataType::f32, {3, 4}, {0, 1});
    };
    EXPECT_REFUSED_BY(Forward, "elements of the output overlap: shape [3, 4], strides [0, 1]",
                      a.output = repeated());
    EXPECT_REFUSED_BY(Step, "elements of the parameter overlap", a.parameter = repeated());
    EXPECT_REFUSED_BY(Step, "elements of the velocity overlap", a.velocity = repeated());
}

TEST(ElementwiseInput, InPlaceOfAnotherView) {
    const Tensor whole = made({4, 4}), other = made({4, 4});
    EXPECT_INVALID("output is inplace(), but it is not the same view as input",
                   activate(whole, inplace(other)));
    EXPECT_INVALID("output and input overlap", activate(whole, inplace(whole.permute({1, 0}))));
    EXPECT_INVALID(
        "input_gradient is inplace(), but it is not the same view as output_gradient or saved",
        activate_backward(whole, other, inplace(made({4, 4}))));
    // One tensor for all three is no accident where it is said.
    activate_backward(whole, whole, inplace(whole));
    EXPECT_INVALID("input_gradient and saved overlap",
                   activate_backward(whole, other.permute({1, 0}), inplace(other)));
}

TEST(ElementwiseInput, ReadTensorsMayRepeatElements) {
    float value = -3;
    const Tensor repeated = Tensor::borrow(&value, DataType::f32, {3, 4}, {0, 0});
    const Tensor output = made({3, 4});
    activate(repeated, output, {Activation::leaky_relu, 0.5f});
    for (int i = 0; i < 12; i++) EXPECT_EQ(output.data<float>()[i], -1.5f);
}

TEST(ElementwiseInput, Activations) {
    const auto refused = [](const std::string &part, const ActivationOptions &options) {
        EXPECT_REFUSED_BY(Forward, part, a.options = options);
        EXPECT_REFUSED_BY(Backward, part, a.options = options);
    };
    refused("activation 17 does not exist", {static_cast<Activation>(17)});
    refused("clamp goes from nan", {Activation::clamp, kNaN, 1});
    refused("clamp goes from 1.000000 to nan", {Activation::clamp, 1, kNaN});
    refused("leaky_relu's slope is -inf, it must be finite", {Activation::leaky_relu});
    refused("leaky_relu's slope is inf", {Activation::leaky_relu, kInfinity});
}

TEST(ElementwiseInput, NumbersOfSgd) {
    const auto refused = [](const std::string &part, const SgdOptions &options) {
        EXPECT_REFUSED_BY(Step, part, a.options = options);
    };
    refused("learning_rate is -0.1", {-0.1f, 0.9f});
    refused("learning_rate is nan", {kNaN, 0.9f});
    refused("momentum is -1.0", {0.1f, -1});
    refused("momentum is inf", {0.1f, kInfinity});
    refused("weight_decay is -0.5", {0.1f, 0.9f, -0.5f});
    refused("nesterov asks for a momentum, it is 0", {0.1f, 0, 0, true});
}

TEST(ElementwiseInput, WithoutMomentumNoVelocityIsAsked) {
    Step step;
    step.options = {0.5f};
    step.velocity = {};
    step.run();
    // One that is there has to be right all the same.
    step.velocity = step.parameter;
    EXPECT_INVALID("parameter and velocity overlap", step.run());
}

TEST(ElementwiseInput, RowsOfTheTable) {
    const Forward a;
    const Step s;
    for (const KernelInfo &kernel : activate_kernels()) {
        if (kernel.type == DataType::f32 && kernel.device == DeviceType::cpu) continue;
        EXPECT_INVALID(kernel.name, activate_with(kernel, a.input, a.output));
    }
    for (const KernelInfo &kernel : sgd_kernels()) {
        if (std::string_view(kernel.algorithm) == "momentum") continue;
        EXPECT_INVALID(kernel.name,
                       sgd_step_with(kernel, s.parameter, s.velocity, s.gradient, s.options));
    }
}

}  // namespace
}  // namespace hk
