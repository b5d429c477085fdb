// Does the shipped library work: every row of the table on random problems that meet its
// conditions, in place of the residual bit for bit as apart, and hk::conv2d with the rows that
// selection takes, on every device that is here.

#include "hk/conv2d.h"
#include "hk/error.h"
#include "tests/conv2d/case.h"
#include "tests/convolution/layout_test.h"
#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

// 3 types times 110 problems: more than 300 a layout and device.
constexpr int problems = 110;

class Conv2d : public LayoutTest {
protected:
    void SetUp() override { need(std::get<0>(GetParam()), conv2d_kernels()); }
};

TEST_P(Conv2d, MatchesTheReferenceOnRandomProblems) { check_problems<Conv2dCase>(problems); }
TEST_P(Conv2d, RunsInTwoThreadsAtOnce) { check_threads<Conv2dCase>(); }
INSTANTIATE_TEST_SUITE_P(All, Conv2d, layout_tests(), parameter_name);

// Padding on one side is another problem than the same on both: rows know where the left edge is.
TEST(Conv2dPadding, OfEachSideCounts) {
    for (const Padding &padding : {Padding{1, 1, 1, 1}, {1, 1, 2, 0}, {1, 1, 0, 2}, {2, 0, 1, 1}}) {
        Conv2dCase c;
        c.problem.channels = c.problem.filters = c.problem.options.groups = 16;
        c.problem.height = c.problem.width = 7;
        c.problem.kernel_height = c.problem.kernel_width = 3;
        c.problem.options.padding = padding;
        check(c, Device::cpu());
    }
}

// Rows of pixels that lie next to each other are copied as one.
TEST(Conv2dPicture, PixelsMayLieApart) {
    Random random(7);
    const Shape rgba{2, 19, 37, 4};
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        const Tensor weight =
            host_tensor({24, 3, 3, 3}, type, whole_numbers(random, {24, 3, 3, 3}, -3, 3));
        const Tensor apart =
            host_tensor(rgba, type, whole_numbers(random, rgba, -3, 3)).slice(3, 0, 3);
        for (const int64_t stride : {1, 2}) {
            Conv2dOptions options;
            options.padding = {1, 2, 2, 1};
            options.stride = {stride, stride};
            EXPECT_EQ(reference::read(conv2d(apart, weight, {}, {}, options)),
                      reference::read(conv2d(apart.to(Device::cpu()), weight, {}, {}, options)))
                << name_of(type) << " stride " << stride;
        }
    }
}

using Conv2dRow = LayoutRowTest<Conv2dCase>;

TEST_P(Conv2dRow, IsExactOnIntegers) {
    check_row(Data::integers, 16);
    check_several_tiles();
    check_whole_tiles(Data::integers, {Activation::clamp, Activation::leaky_relu});
}

TEST_P(Conv2dRow, IsCloseOnReals) {
    check_row(Data::reals, 8);
    check_whole_tiles(Data::reals, {Activation::silu, Activation::gelu});
}

TEST_P(Conv2dRow, PassesOnNanAndInfinity) {
    check_row(Data::one_nan, 4);
    check_row(Data::one_infinity, 3);
    check_last_vectors(Data::one_infinity);
}

TEST(Conv2dRows, RefuseTheOtherLayout) {
    expect_other_layouts_refused<Conv2dCase>(conv2d_kernels(), takes_copies);
}

TEST(Conv2dRows, OfNhwcTakeCopiesOfNchw) { expect_copies_are_taken<Conv2dCase>(conv2d_kernels()); }

INSTANTIATE_TEST_SUITE_P(Table, Conv2dRow, testing::ValuesIn(conv2d_kernels()), parameter_name);

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
    if (!takes_in_place(row, c.problem.options.groups)) {
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

// Images of nchw by a row of nhwc: of copies in place, too, and by a filter that keeps its own.
TEST(Conv2dCopies, AreInPlaceAndKeptWhatTheyAreApart) {
    Random random(1);
    const auto tensor = [&](const Shape &shape) {
        return host_tensor(shape, DataType::f32, whole_numbers(random, shape, -4, 4));
    };
    const Tensor input = tensor({2, 20, 9, 11}), weight = tensor({5, 20, 3, 3});
    const Tensor residual = tensor({2, 5, 9, 11}), bias = tensor({5}), none;
    const Tensor apart(residual.shape(), DataType::f32), kept(residual.shape(), DataType::f32);
    Conv2dOptions options;
    options.layout = Layout::nchw;
    options.padding = {1, 1, 1, 1};
    const auto row = std::ranges::find_if(conv2d_kernels(), [](const KernelInfo &kernel) {
        return std::string_view(kernel.name) == "conv2d_staged_f32_nhwc_cpu";
    });
    ASSERT_NE(row, conv2d_kernels().end());
    conv2d_with(*row, input, weight, bias, residual, apart, options);
    const Filter filter = prepare_filter(weight);
    for (int call = 0; call < 2; call++)
        conv2d_with(*row, input, filter, bias, residual, kept, options);
    EXPECT_EQ(reference::bits(kept), reference::bits(apart));
    EXPECT_GE(filter.bytes(), 2 * static_cast<size_t>(weight.elements()) * sizeof(float));
    Conv2dOptions direct = options;
    direct.direct = true;
    conv2d(input, weight, bias, residual, kept, direct);
    EXPECT_EQ(reference::bits(kept), reference::bits(apart));
    conv2d_with(*row, input, weight, bias, residual, inplace(residual), options);
    EXPECT_EQ(reference::bits(residual), reference::bits(apart));
}

TEST_P(Conv2dRow, IsInPlaceWhatItIsApart) {
    const KernelInfo &row = GetParam();
    const bool few = row.device == DeviceType::cuda || of_large_problems(row.where);
    const int problems = few ? 2 : 16;
    for (const Device device : devices_) {
        VariedCases<Conv2dCase, Conv2dRequest> cases(request_of(row, Data::reals, row.where),
                                                     problems * 40, seen_);
        int passed = 0;
        while (auto c = cases.next()) {
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
    EXPECT_TRUE(takes_in_place(*in_place.kernel, problem.options.groups));
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

}  // namespace
}  // namespace hk::test
