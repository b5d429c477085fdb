// Sums of any length keep an error that does not grow with it (generators/long_sum.h): every row of
// the loss and of gradients of biases, on every device that it runs on here, of terms that are all
// equal, so that roundings go one way.

#include <cmath>

#include "hk/conv2d_backward.h"
#include "hk/softmax_cross_entropy.h"
#include "tests/kernels/family.h"
#include "tests/kernels/long_sums.h"
#include "tests/reference/elements.h"
#include "tests/support/conditions.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

// Of the sum of magnitudes, which headers promise: 1024 roundings.
const double kBound = std::ldexp(1, -14);

// A batch of one, of values by channel.
Tensor image_of(const Shape &shape, DataType type, Layout layout, auto value_of) {
    const int64_t channels = shape[layout == Layout::nhwc ? 3 : 1];
    const int64_t inner = layout == Layout::nhwc ? 1 : shape[2] * shape[3];
    std::vector<double> values(static_cast<size_t>(shape[1] * shape[2] * shape[3]));
    for (size_t i = 0; i < values.size(); i++)
        values[i] = value_of(static_cast<int64_t>(i) / inner % channels);
    return host_tensor({1, shape[1], shape[2], shape[3]}, type, values);
}

class LongSums : public testing::TestWithParam<KernelInfo> {
protected:
    // What a device's simulation takes a second for is less.
    int64_t terms(int64_t of_cpu, int64_t of_device) const {
        return GetParam().device == DeviceType::cpu ? of_cpu : of_device;
    }
};

class LongBiasGradient : public LongSums {};
TEST_P(LongBiasGradient, KeepTheirDigits) {
    const KernelInfo &row = GetParam();
    for (const auto &[height, width] : {std::pair<int64_t, int64_t>{3, 5}, {1, 900}, {50, 41}}) {
        const int64_t batch = terms(1000000, 100000) / (height * width);
        const Shape shape = row.layout == Layout::nhwc ? Shape{batch, height, width, 19}
                                                       : Shape{batch, 19, height, width};
        const auto of_channel = [&](int64_t k) { return value(row.type, k) * kFactor; };
        const Tensor image = image_of(shape, row.type, row.layout, of_channel);
        std::vector<double> wanted;
        for (int64_t k = 0; k < 19; k++)
            wanted.push_back(reference::rounded(row.type, of_channel(k)) *
                             static_cast<double>(batch * height * width));
        for (const Device device : devices_of(row.device)) {
            const Tensor gradient({19}, row.type, device);
            conv2d_backward_bias_with(row, repeated_on(image, shape, device), gradient, row.layout);
            expect_near(row.name, gradient, wanted, kBound + half_ulp(row.type));
        }
    }
}

// Logits of two values, so that rounded exponentials are added, and each row's largest comes first
// or last.
class LongSoftmax : public LongSums {};
TEST_P(LongSoftmax, KeepTheirDigits) {
    const KernelInfo &row = GetParam();
    const int64_t classes = range_of(row.where, "classes").moved(terms(2000000, 100000));
    const auto logit = [&](int64_t n, int64_t c) {
        return c == (n == 0 ? 0 : classes - 1) ? 1.0 : -0.625;
    };
    std::vector<double> logits, losses;
    for (int64_t n = 0; n < 2; n++) {
        double sum = 0;
        for (int64_t c = 0; c < classes; c++) {
            logits.push_back(logit(n, c));
            sum += std::exp(logits.back() - 1);
        }
        losses.push_back(std::log(sum) + 1 - logit(n, 5));
    }
    const Tensor host = host_tensor({2, classes}, row.type, logits);
    const Tensor labels = host_tensor({2}, DataType::s32, {5, 5});
    for (const Device device : devices_of(row.device)) {
        const Tensor loss({2}, DataType::f32, device);
        softmax_cross_entropy_with(row, host.to(device), labels.to(device), loss, Tensor());
        const std::vector<double> got = reference::read(loss.to(Device::cpu()));
        for (size_t n = 0; n < 2; n++) EXPECT_NEAR(got[n], losses[n], kBound) << row.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Table, LongBiasGradient,
                         testing::ValuesIn(conv2d_backward_bias_kernels().begin(),
                                           conv2d_backward_bias_kernels().end()),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, LongSoftmax,
                         testing::ValuesIn(softmax_cross_entropy_kernels().begin(),
                                           softmax_cross_entropy_kernels().end()),
                         parameter_name);

}  // namespace
}  // namespace hk::test
