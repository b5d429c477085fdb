#include <nanobind/nanobind.h>

#include "call.h"
#include "hk/activation.h"
#include "hk/error.h"
#include "hk/sgd.h"
#include "hk/softmax_cross_entropy.h"
#include "operations.h"

namespace hk::python {

namespace {

using namespace nb::literals;

ActivationOptions options_of(std::string_view activation, std::optional<float> alpha,
                             std::optional<float> beta) {
    ActivationOptions options;
    read_activation(activation, alpha, beta, options.activation, options.alpha, options.beta);
    return options;
}

[[noreturn]] void refuse_explanation(const char *operation) {
    throw InvalidArgument(std::string("explain: ") + operation +
                          " has one row a type and device, see kernels()");
}

Result activate(First input, std::string_view activation, std::optional<float> alpha,
                std::optional<float> beta, OptionalArray out) {
    Call call("activate");
    if (explaining()) refuse_explanation("activate");
    const Tensor x = call.read(input, "input");
    const ActivationOptions options = options_of(activation, alpha, beta);
    Written y = call.write_or_make(out, "out", x.shape(), x.type());
    const bool in_place = out.given() && out.object.is(input.object);
    call.run([&] {
        hk::activate(in_place ? y.tensor : x, in_place ? inplace(y.tensor) : Output(y.tensor),
                     options, call.stream());
    });
    return call.give(y);
}

Result activate_backward(First output_gradient, OptionalArray saved, std::string_view activation,
                         std::optional<float> alpha, std::optional<float> beta, OptionalArray out) {
    Call call("activate_backward");
    if (explaining()) refuse_explanation("activate_backward");
    const Tensor dy = call.read(output_gradient, "output_gradient");
    const Tensor v = call.optional(saved, "saved");
    const ActivationOptions options = options_of(activation, alpha, beta);
    Written dx = call.write_or_make(out, "out", dy.shape(), dy.type());
    const bool over_gradient = out.given() && out.object.is(output_gradient.object);
    const bool over_saved = out.given() && out.object.is(saved.object);
    call.run([&] {
        hk::activate_backward(over_gradient ? dx.tensor : dy, over_saved ? dx.tensor : v,
                              over_gradient || over_saved ? inplace(dx.tensor) : Output(dx.tensor),
                              options, call.stream());
    });
    return call.give(dx);
}

nb::object softmax_cross_entropy(First logits, Array labels, bool gradient, float scale) {
    Call call("softmax_cross_entropy");
    const Tensor x = call.image(logits, "logits");
    const Tensor truth = call.read(labels, "labels");
    if (x.rank() != 2) {
        throw InvalidArgument("softmax_cross_entropy: logits have shape " + to_string(x.shape()) +
                              ", they must be [N, C]");
    }
    const int64_t rows = x.shape()[0], classes = x.shape()[1];
    if (explaining()) {
        return explain_with(call,
                            [&](DeviceType type, const DeviceLimits &limits) {
                                return select_softmax_cross_entropy(rows, classes, x.type(), type,
                                                                    limits, true);
                            })
            .object;
    }
    Written loss = call.make({rows}, DataType::f32);
    Written dx = gradient ? call.make(x.shape(), x.type()) : Written();
    call.run(
        [&] { hk::softmax_cross_entropy(x, truth, loss.tensor, dx.tensor, scale, call.stream()); });
    const nb::object losses = call.give(loss).object;
    return gradient ? nb::make_tuple(losses, call.give(dx).object) : losses;
}

void sgd_step(Array parameter, OptionalArray velocity, Array gradient, float learning_rate,
              float momentum, float weight_decay, bool nesterov) {
    Call call("sgd_step");
    if (explaining()) refuse_explanation("sgd_step");
    const Written p = call.write(parameter, "parameter");
    const Written v = velocity.given() ? call.write(velocity, "velocity") : Written();
    const Tensor g = call.read(gradient, "gradient");
    SgdOptions options;
    options.learning_rate = learning_rate;
    options.momentum = momentum;
    options.weight_decay = weight_decay;
    options.nesterov = nesterov;
    call.run([&] { hk::sgd_step(p.tensor, v.tensor, g, options, call.stream()); });
}

constexpr const char *kActivate = R"(An activation, element by element.

Args:
    input: any shape; float32, float16, bfloat16.
    activation: "none", "relu", "clamp" (alpha: lower, beta: upper bound), "leaky_relu" (alpha: slope
        below 0), "silu", "gelu" (the exact form).
    out: what is written, and returned; it may be the input itself.

Source: runtime/include/hk/activation.h.)";

constexpr const char *kBackward = R"(Gradient of activate's input from that of its output.

Args:
    saved: the input of activate; of "relu", "clamp" and "leaky_relu" its output does as well.
    out: what is written, and returned; it may be one of the other two.

Source: runtime/include/hk/activation.h.)";

constexpr const char *kLoss = R"(Cross-entropy of the softmax of each row, and its gradient.

Args:
    logits: [N, C]; float32, float16, bfloat16.
    labels: [N], from 0 to C - 1; int32 or int64.
    gradient: whether the gradient is wanted too.
    scale: of the gradient; 1/N for that of the mean loss.

Returns: the losses, float32 [N]; with gradient (losses, gradient), the latter as the logits.

Source: runtime/include/hk/softmax_cross_entropy.h; torch.nn.functional.cross_entropy.)";

constexpr const char *kSgd = R"(A step of gradient descent with momentum, in place.

    g = gradient + weight_decay * parameter
    velocity = momentum * velocity + g
    parameter -= learning_rate * (g + momentum * velocity if nesterov else velocity)

Args:
    parameter, velocity: written; of one shape and type. Without momentum velocity is None.

Source: runtime/include/hk/sgd.h; torch.optim.SGD with dampening 0.)";

}  // namespace

void add_elementwise(nb::module_ &module) {
    module.def("activate", activate, "input"_a, "activation"_a = "relu", nb::kw_only(),
               "alpha"_a = nb::none(), "beta"_a = nb::none(), "out"_a = nb::none(), kActivate);
    module.def("activate_backward", activate_backward, "output_gradient"_a, "saved"_a = nb::none(),
               "activation"_a = "relu", nb::kw_only(), "alpha"_a = nb::none(),
               "beta"_a = nb::none(), "out"_a = nb::none(), kBackward);
    module.def("softmax_cross_entropy", softmax_cross_entropy, "logits"_a, "labels"_a,
               nb::kw_only(), "gradient"_a = false, "scale"_a = 1.0f, kLoss,
               nb::sig("def softmax_cross_entropy(logits: halide_kernels.typing.A, labels: "
                       "halide_kernels.typing.Array, *, gradient: bool = False, scale: float = "
                       "1.0) -> halide_kernels.typing.A | tuple[halide_kernels.typing.A, "
                       "halide_kernels.typing.A]"));
    module.def("sgd_step", sgd_step, "parameter"_a, "velocity"_a.none(), "gradient"_a,
               nb::kw_only(), "learning_rate"_a, "momentum"_a = 0.0f, "weight_decay"_a = 0.0f,
               "nesterov"_a = false, kSgd);
}

}  // namespace hk::python
