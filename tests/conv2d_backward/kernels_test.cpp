// Does the shipped library work: gradients of random problems, on every device that is here, with
// the rows that selection takes; and several of them in one call.

#include <tuple>

#include "hk/memory.h"
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

    template<typename Case>
    void check_gradient() {
        for (const Device device : devices_) {
            check_random<Case>(device, problems, [&](uint64_t seed) {
                return request(seed % 3 == 0 ? Data::reals : Data::integers);
            });
            check_empty<Case>(device, request(Data::integers));
        }
    }
};

TEST_P(Conv2dBackward, MatchesTheReferenceForTheInput) { check_gradient<BackwardDataCase>(); }
TEST_P(Conv2dBackward, MatchesTheReferenceForTheWeight) { check_gradient<BackwardWeightCase>(); }
TEST_P(Conv2dBackward, MatchesTheReferenceForTheBias) { check_gradient<BackwardBiasCase>(); }

TEST_P(Conv2dBackward, RunsInTwoThreadsAtOnce) {
    for (const Device device : devices_) {
        check_two_threads<BackwardDataCase>(device, request(Data::integers));
        check_two_threads<BackwardWeightCase>(device, request(Data::integers));
    }
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

// Two taps, one at each end of an image that is tall, or has many channels.
TEST(Conv2dBackwardScratch, DoesNotGrowWithTheImage) {
    struct Image {
        Layout layout;
        int64_t rows, channels;
    };
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    const auto ones = [](const Shape &shape) {
        const Tensor tensor(shape, DataType::f32);
        tensor.fill(1);
        return tensor;
    };
    for (const auto &[layout, rows, channels] :
         {Image{Layout::nhwc, 20000, 17}, Image{Layout::nchw, 20000, 17},
          Image{Layout::nchw, 20, 20000}}) {
        const bool nhwc = layout == Layout::nhwc;
        Conv2dOptions options;
        options.layout = layout;
        options.dilation = {rows - 1, 1};
        const Tensor gradient = ones(nhwc ? Shape{1, 1, 3, 2} : Shape{1, 2, 1, 3});
        const Tensor weight = ones(nhwc ? Shape{2, 2, 1, channels} : Shape{2, channels, 2, 1});
        const Tensor result(nhwc ? Shape{1, rows, 3, channels} : Shape{1, channels, rows, 3},
                            DataType::f32);
        pool.trim();
        pool.reset_peaks();
        const int64_t before = pool.statistics().in_use;
        conv2d_backward_data(gradient, weight, result, options);
        EXPECT_LT(pool.statistics().peak_in_use - before, 1 << 20) << name_of(layout);
        for (const int64_t row : {int64_t{0}, int64_t{1}, rows / 2, rows - 1}) {
            const double wanted = row == 0 || row == rows - 1 ? 2 : 0;
            const Tensor line = result.slice(nhwc ? 1 : 2, row, 1);
            EXPECT_EQ(reference::read(line),
                      std::vector<double>(static_cast<size_t>(3 * channels), wanted))
                << row;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, Conv2dBackward,
    testing::Combine(testing::Values(DeviceType::cpu, DeviceType::opencl, DeviceType::cuda),
                     testing::Values(Layout::nhwc, Layout::nchw),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16)),
    parameter_name);

}  // namespace
}  // namespace hk::test
