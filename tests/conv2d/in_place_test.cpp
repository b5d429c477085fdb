// Is the output in place of the residual bit for bit the one apart: every row of the table, on
// every device that it runs on here; rows that take none in place say so, and leave it as it was.

#include "hk/error.h"
#include "tests/conv2d/check.h"
#include "tests/convolution/layout_test.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

class Conv2dInPlace : public testing::TestWithParam<KernelInfo> {};

bool takes_in_place(const KernelInfo &row, const Conv2dProblem &problem) {
    return std::ranges::none_of(row.where, [&](const Constraint &constraint) {
        return std::string_view(constraint.field) == "groups_in_place" &&
               !holds(constraint, problem.options.groups);
    });
}

Outcome compare_in_place(const KernelInfo &row, const Conv2dCase &c, Device device) {
    const DataType type = c.problem.type;
    const Conv2dOperands o = conv2d_operands(c);
    Random random(c.seed + 2);
    const Placed input(host_tensor(o.input_shape, type, o.input), device, c.input, random);
    const Placed weight(host_tensor(o.weight_shape, type, o.weight), device, c.weight, random);
    const Tensor residual_values = host_tensor(o.output_shape, type, o.residual);
    const Placed residual(residual_values, device, c.output, random);
    const Placed apart(o.output_shape, type, device, c.output, random);
    std::optional<Placed> bias;
    if (c.bias)
        bias.emplace(host_tensor({c.problem.filters}, type, o.bias), device, c.weight, random);
    const auto run = [&](const Output &output) {
        conv2d_with(row, input.tensor(), weight.tensor(), tensor_of(bias), residual.tensor(),
                    output, c.problem.options);
    };
    try {
        run(apart.tensor());
    } catch (const InvalidArgument &) {
        return Outcome::refused;
    }
    const Tensor expected = apart.fetch();
    if (!takes_in_place(row, c.problem)) {
        EXPECT_THROW(run(inplace(residual.tensor())), InvalidArgument) << to_string(c);
        EXPECT_EQ(residual.change(), "") << to_string(c);
        return Outcome::passed;
    }
    CheckedCall checked(to_string(c) + " in place", c.seed, device, &row);
    checked.inputs = {{"input", &input}, {"weight", &weight}, {"bias", address_of(bias)}};
    checked.call = [&] { run(inplace(residual.tensor())); };
    const auto fault = [&](const Tensor &result) {
        const auto got = reference::bits(result), wanted = reference::bits(expected);
        const auto place = std::ranges::mismatch(got, wanted).in1;
        return place == got.end()
                   ? std::string()
                   : "element " + std::to_string(place - got.begin()) + " is not what it is apart";
    };
    checked.outputs = {{"residual", &residual, fault}};
    return checked.run();
}

TEST_P(Conv2dInPlace, IsWhatItIsApart) {
    const KernelInfo &row = GetParam();
    constexpr int problems = 16;
    for (const Device device : devices_of(row.device)) {
        int passed = 0;
        for (const uint64_t seed : seeds(problems * 40)) {
            const Data data = seed % 2 ? Data::reals : Data::integers;
            auto c = random_case<Conv2dCase>(
                seed, {row.type, row.layout, data, row.where, operations_of(row)});
            if (!c) continue;
            c->residual = true;
            passed += compare_in_place(row, *c, device) == Outcome::passed;
            if (HasFailure() || passed == problems) break;
        }
        EXPECT_TRUE(HasFailure() || passed == problems || std::getenv("HK_SEED")) << passed;
    }
}

// Groups that don't fill the last vector: another row than apart, and the same result.
TEST(Conv2dInPlaceSelection, PassesOnWhatARowCanNotDo) {
    Conv2dProblem problem;
    problem.channels = problem.filters = problem.options.groups = 37;
    problem.height = problem.width = 9;
    problem.kernel_height = problem.kernel_width = 3;
    problem.options.padding = {1, 1, 1, 1};
    const DeviceLimits limits = Device::cpu().limits();
    const Selection apart = select_conv2d(problem, DeviceType::cpu, limits);
    problem.in_place = true;
    const Selection in_place = select_conv2d(problem, DeviceType::cpu, limits, true);
    ASSERT_TRUE(apart.kernel && in_place.kernel);
    EXPECT_NE(apart.kernel, in_place.kernel);
    EXPECT_TRUE(takes_in_place(*in_place.kernel, problem));
    EXPECT_TRUE(std::ranges::any_of(in_place.rejected, [&](const Rejection &rejection) {
        return rejection.kernel == apart.kernel &&
               rejection.reason.find("groups_in_place is 37") != std::string::npos;
    }));

    Random random(1);
    const auto tensor = [&](const Shape &shape) {
        return host_tensor(shape, problem.type, whole_numbers(random, shape, -4, 4));
    };
    const Tensor input = tensor({1, 9, 9, 37}), weight = tensor({37, 3, 3, 1});
    const Tensor residual = tensor({1, 9, 9, 37}), output({1, 9, 9, 37}, problem.type);
    conv2d(input, weight, {}, residual, output, problem.options);
    conv2d(input, weight, {}, residual, inplace(residual), problem.options);
    EXPECT_EQ(reference::bits(residual), reference::bits(output));
}

INSTANTIATE_TEST_SUITE_P(Table, Conv2dInPlace,
                         testing::ValuesIn(conv2d_kernels().begin(), conv2d_kernels().end()),
                         parameter_name);

}  // namespace
}  // namespace hk::test
