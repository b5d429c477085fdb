#include "tests/conv2d_backward/check.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/reference/elements.h"
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
    checked.outputs = {
        {"gradient", &gradient, [&](const Tensor &result) { return compare(c, o, result); }}};
    return checked.run();
}

void expect_same_bits(const KernelInfo &first, const KernelInfo &other, Device device,
                      double operations) {
    std::vector<Constraint> where(first.where.begin(), first.where.end());
    where.push_back({"groups", Constraint::Relation::at_least, 2});
    int checked = 0;
    for (const uint64_t seed : seeds(40)) {
        const auto c = random_case<BackwardDataCase>(
            seed, {first.type, first.layout, Data::reals, where, operations});
        if (!c) continue;
        const BackwardOperands o = backward_operands(*c);
        const auto tensor = [&](const Shape &shape, const std::vector<double> &values) {
            return host_tensor(shape, first.type, values).to(device);
        };
        const Tensor output = tensor(o.output_shape, o.output_gradient),
                     weight = tensor(o.factor_shape, o.factor);
        const auto computed = [&](const KernelInfo &kernel) {
            const Tensor gradient(o.gradient_shape, first.type, device);
            conv2d_backward_data_with(kernel, output, weight, gradient, c->problem.options);
            return reference::bits(gradient.to(Device::cpu()));
        };
        ASSERT_EQ(computed(first), computed(other))
            << to_string(*c) << "\nrepeat  " << repeat_command(seed);
        checked++;
    }
    EXPECT_GE(checked, std::getenv("HK_SEED") ? 0 : 10);
}

}  // namespace hk::test
