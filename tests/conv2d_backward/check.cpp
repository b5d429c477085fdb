#include "tests/conv2d_backward/check.h"

#include "tests/support/values.h"

namespace hk::test {
namespace {

void run(const Conv2dBackwardCase &c, const KernelInfo *row, const Tensor &output,
         const Tensor &factor, const Tensor &gradient) {
    const Conv2dOptions &options = c.problem.options;
    const float beta = c.accumulate ? 1 : 0;
    switch (c.pass) {
        case Pass::data:
            return row ? conv2d_backward_data_with(*row, output, factor, gradient, options, beta)
                       : conv2d_backward_data(output, factor, gradient, options, beta);
        case Pass::weight:
            return row ? conv2d_backward_weight_with(*row, output, factor, gradient, options, beta)
                       : conv2d_backward_weight(output, factor, gradient, options, beta);
        case Pass::bias:
            return row ? conv2d_backward_bias_with(*row, output, gradient, options.layout, beta)
                       : conv2d_backward_bias(output, gradient, options.layout, beta);
    }
}

}  // namespace

std::span<const KernelInfo> rows_of(Pass pass) {
    switch (pass) {
        case Pass::data:
            return conv2d_backward_data_kernels();
        case Pass::weight:
            return conv2d_backward_weight_kernels();
        case Pass::bias:
            return conv2d_backward_bias_kernels();
    }
    return {};
}

Outcome check(const Conv2dBackwardCase &c, Device device, const KernelInfo *row) {
    const DataType type = c.problem.type;
    const BackwardOperands o = backward_operands(c);
    Random random(c.seed + 2);
    const Placed output(host_tensor(o.output_shape, type, o.output_gradient), device, c.input,
                        random);
    std::optional<Placed> factor;
    if (c.pass != Pass::bias) {
        factor.emplace(host_tensor(o.factor_shape, type, o.factor), device, c.weight, random);
    }
    // The gradient of a bias is packed.
    const bool vector = c.pass == Pass::bias && c.output == Placement::steps;
    const Placed gradient(filled(o.gradient_shape, type, o.previous), device,
                          vector ? Placement::margins : c.output, random);
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"output gradient", &output}, {"factor", address_of(factor)}};
    checked.call = [&] { run(c, row, output.tensor(), tensor_of(factor), gradient.tensor()); };
    const KernelInfo *runs = row;
    if (!row && c.pass == Pass::data) {
        runs = select_conv2d_backward_data(c.problem, device.type(), device.limits()).kernel;
    }
    checked.outputs = {
        {"gradient", &gradient, [&](const Tensor &result) { return compare(c, o, result, runs); }}};
    return checked.run();
}

}  // namespace hk::test
