// hk::conv2d_backward: any of the three gradients, alone and together, new and accumulated.

#include "hk/conv2d_backward.h"

#include "tests/conv2d_backward/reference.h"
#include "tests/convolution/random_problem.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/family.h"
#include "tests/reference/elements.h"
#include "tests/support/checked_call.h"

namespace hk::fuzz {
namespace {

struct Call {
    Conv2dOptions options;
    float beta = 0;
    bool together = false;
    const Operand *output_gradient = &Case::none(), *input = &Case::none(), *weight = &Case::none();
    // Of input, weight and bias; one that is not asked for is none.
    const Operand *input_gradient = &Case::none(), *weight_gradient = &Case::none(),
                  *bias_gradient = &Case::none();
    Conv2dGradients gradients;

    // Copied before the call, in which allocations fail.
    void prepare() {
        gradients = {input_gradient->tensor, weight_gradient->tensor, bias_gradient->tensor};
    }

    void operator()() const {
        const Tensor &g = output_gradient->tensor;
        if (together) {
            hk::conv2d_backward(g, input->tensor, weight->tensor, gradients, options, beta);
        } else if (input_gradient != &Case::none()) {
            conv2d_backward_data(g, weight->tensor, input_gradient->tensor, options, beta);
        } else if (weight_gradient != &Case::none()) {
            conv2d_backward_weight(g, input->tensor, weight_gradient->tensor, options, beta);
        } else {
            conv2d_backward_bias(g, bias_gradient->tensor, options.layout, beta);
        }
    }

    std::string check() const {
        const Tensor &g = output_gradient->before;
        Conv2dOptions used = options;  // a bias' gradient alone takes the layout
        if (!together && input_gradient == &Case::none() && weight_gradient == &Case::none())
            used.activation = Activation::none;
        if (const std::string wrong = accepted(used); !wrong.empty()) return wrong;
        const auto in_order = [&](const Tensor &t) {
            return reference::read(reference::channels_last(t, options.layout));
        };
        const auto filters = [&](const Tensor &t) {
            return reference::read_filters(t, options.layout);
        };
        std::string wrong;
        if (bias_gradient->before.defined()) {
            const Shape shape = reference::channels_last(g, options.layout).shape();
            Conv2dProblem p{g.type(), shape[0], 1, shape[1], shape[2], shape[3], 1, 1, {}};
            const auto wanted = reference::conv2d_backward_bias(p, in_order(g));
            wrong += compare_one("bias", bias_gradient, wanted,
                                 [](const Tensor &t) { return reference::read(t); });
        }
        const auto shape_of = [](const Operand *gradient, const Operand *factor) {
            return (gradient->before.defined() ? gradient : factor)->before.shape();
        };
        const Shape x = shape_of(input_gradient, input), w = shape_of(weight_gradient, weight);
        if (x.empty() || w.empty()) return wrong;
        const auto p = Conv2dProblem::from_shapes(x, w, g.type(), options);
        if (!small(p)) return wrong;
        if (input_gradient->before.defined()) {
            if (!weight->before.defined()) return "accepted without a weight";
            auto wanted = reference::conv2d_backward_data(p, in_order(g), filters(weight->before));
            const Device device = output_gradient->tensor.device();
            if (reference::is_winograd(
                    select_conv2d_backward_data(p, device.type(), device.limits()).kernel)) {
                reference::bound_by_winograd(
                    reference::convolution_of_gradient(p), in_order(g),
                    reference::magnitudes_of_channels(p, filters(weight->before)), wanted);
            }
            wrong += compare_one("input", input_gradient, wanted, in_order);
        }
        if (weight_gradient->before.defined()) {
            if (!input->before.defined()) return "accepted without an input";
            const auto wanted =
                reference::conv2d_backward_weight(p, in_order(g), in_order(input->before));
            wrong += compare_one("weight", weight_gradient, wanted, filters);
        }
        return wrong;
    }

private:
    std::string compare_one(const char *name, const Operand *gradient,
                            reference::Conv2dResult wanted,
                            const std::function<std::vector<double>(const Tensor &)> &read) const {
        if (beta != 0) reference::accumulate(wanted, read(gradient->before), beta);
        const Tensor got = gradient->after();
        const std::string wrong =
            compare(got.type(), read(got), wanted.value, wanted.magnitude, wanted.terms + 1) +
            (beta == 0 ? test::unwritten(got) : "");
        return wrong.empty() ? "" : std::string(name) + ": " + wrong;
    }
};

std::span<const KernelInfo> draw_kernels(Random &random) {
    return one_in(random, 2) ? conv2d_backward_data_kernels() : conv2d_backward_weight_kernels();
}

}  // namespace

Result conv2d_backward(Case &c) {
    const DataType type = draw_type(c.random);
    const Layout layout = draw_layout(c.random);
    const Conv2dProblem p = draw_convolution(c, type, layout, draw_kernels(c.random));
    Call call;
    call.options = p.options;
    spoil(c, p, call.options);
    if (c.hits()) c.spoil_enum(call.options.activation);
    call.together = one_in(c.random, 2);
    call.beta = one_in(c.random, 2) ? 0 : 1;
    c.spoil(call.beta);
    const Use use = call.beta != 0 ? Use::update : Use::write;
    int64_t asked = call.together ? uniform(c.random, 1, 7) : int64_t{1} << uniform(c.random, 0, 2);
    const Values values = one_in(c.random, 2) ? whole(-4, 4) : any_real();
    const bool adjacent = true;
    const auto read = [&](const char *name, const Shape &shape) {
        return &c.place({name, Use::read, shape, type, values, adjacent});
    };
    const auto written = [&](const char *name, const Shape &shape, bool packed = false) {
        return &c.place({name, use, shape, type, values, adjacent, packed});
    };
    call.output_gradient = read("output gradient", p.output_shape());
    const bool spare = call.together && one_in(c.random, 3);
    if ((asked & 1) || spare) call.weight = read("weight", test::weight_shape(p));
    if ((asked & 2) || spare) call.input = read("input", test::input_shape(p));
    if (asked & 1) call.input_gradient = written("input gradient", test::input_shape(p));
    if (asked & 2) call.weight_gradient = written("weight gradient", test::weight_shape(p));
    if (asked & 4) call.bias_gradient = written("bias gradient", {p.filters}, true);
    c.tell("conv2d_backward " + test::to_string(p) + " beta " + std::to_string(call.beta));
    c.prepare();
    call.prepare();
    return c.run([&] { call(); }, [&] { return call.check(); });
}

}  // namespace hk::fuzz
