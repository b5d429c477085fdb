// Does the shipped library work: gradients of random problems, on every device that is here, with
// the rows that selection takes; and several of them in one call.

#include "tests/conv2d_backward/check.h"
#include "tests/convolution/layout_test.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

constexpr int problems = 60;

class Conv2dBackward : public LayoutTest {
protected:
    void SetUp() override { need(std::get<0>(GetParam()), rows_of(Pass::data)); }
};

TEST_P(Conv2dBackward, MatchesTheReferenceForTheInput) {
    check_problems<BackwardDataCase>(problems);
}
TEST_P(Conv2dBackward, MatchesTheReferenceForTheWeight) {
    check_problems<BackwardWeightCase>(problems);
}
TEST_P(Conv2dBackward, MatchesTheReferenceForTheBias) {
    check_problems<BackwardBiasCase>(problems);
}

TEST_P(Conv2dBackward, RunsInTwoThreadsAtOnce) {
    check_threads<BackwardDataCase>();
    check_threads<BackwardWeightCase>();
}

std::vector<double> read(const Tensor &tensor) { return reference::read(tensor.to(Device::cpu())); }

// Every subset of the three in one call has the bits of the calls for one each, again and again,
// and leaves the others as they were.
TEST_P(Conv2dBackward, ComputesAnySubset) {
    const auto [device_type, layout, type] = GetParam();
    for (const Device device : devices_) {
        for (const uint64_t seed : seeds(6)) {
            Random random(seed);
            const auto p = random_problem(random, request(Data::reals));
            if (!p) continue;
            const auto made = [&](const Shape &shape) {
                return host_tensor(shape, type, reals(random, shape)).to(device);
            };
            const Tensor output = made(p->output_shape()), input = made(input_shape(*p)),
                         weight = made(weight_shape(*p));
            const Tensor wanted[] = {
                conv2d_backward_data(output, weight, input_shape(*p), p->options),
                conv2d_backward_weight(output, input, weight_shape(*p), p->options),
                conv2d_backward_bias(output, layout)};
            for (int subset = 0; subset < 8; subset++) {
                Tensor got[3];
                for (int i = 0; i < 3; i++) {
                    if (subset & 1 << i) got[i] = made(wanted[i].shape());
                }
                conv2d_backward(output, subset & 2 ? input : Tensor(),
                                subset & 1 ? weight : Tensor(), {got[0], got[1], got[2]},
                                p->options);
                device.synchronize();
                for (int i = 0; i < 3; i++) {
                    if (!(subset & 1 << i)) continue;
                    ASSERT_EQ(read(got[i]), read(wanted[i]))
                        << "gradient " << i << " of subset " << subset << ", " << to_string(*p)
                        << "\nrepeat  " << repeat_command(seed);
                }
            }
        }
    }
}

// Strided input gradients on a CPU, which run in phases: strides and dilations with and without
// common divisors, filters smaller than the stride, and than the image, crops.
TEST(Conv2dBackwardPhases, MatchTheReference) {
    const auto check_one = [](uint64_t seed, Layout layout, int64_t stride, int64_t dilation,
                              int64_t kernel) {
        Random random(seed);
        BackwardDataCase c;
        c.seed = seed;
        c.accumulate = one_in(random, 2);
        draw_placements(random, c);
        Conv2dProblem &p = c.problem;
        p.batch = 2;
        const bool depthwise = one_in(random, 3);
        p.options.groups = depthwise ? pick(random, std::vector<int64_t>{5, 8, 16}) : 2;
        p.channels = p.options.groups * (depthwise ? 1 : 3);
        p.filters = p.options.groups * (depthwise ? 1 : 2);
        p.kernel_height = uniform(random, 1, 4);
        p.kernel_width = kernel;
        p.options.layout = layout;
        p.options.stride = {uniform(random, 1, 4), stride};
        p.options.dilation = {uniform(random, 1, 4), dilation};
        const int64_t reach_y = p.options.dilation[0] * (p.kernel_height - 1),
                      reach_x = dilation * (kernel - 1);
        p.options.padding = {uniform(random, 0, reach_y + 2), uniform(random, 0, reach_y + 2),
                             uniform(random, 0, reach_x + 2), uniform(random, 0, reach_x + 2)};
        p.height = uniform(random, 1, 11);
        p.width = uniform(random, 1, 19);
        if (p.output_height() < 1 || p.output_width() < 1) return;
        EXPECT_EQ(check(c, Device::cpu()), Outcome::passed) << to_string(c);
    };
    for (const uint64_t seed : seeds(3)) {
        for (int64_t i = 0; i < 4 * 6 * 4; i++) {
            const int64_t stride = i % 4 + 1, dilation = i / 4 % 6 + 1, kernel = i / 24 + 1;
            for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
                check_one(seed * 97 + static_cast<uint64_t>(i), layout, stride, dilation, kernel);
                if (HasFailure()) return;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Conv2dBackward, layout_tests(), parameter_name);

}  // namespace
}  // namespace hk::test
