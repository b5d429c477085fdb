// Sums of any length keep an error that does not grow with it (generators/long_sum.h): the rows of
// convolutions that take such, by public calls, on every device that they run on here. Terms are
// all equal, so that roundings go one way, or stand between two large ones that cancel.

#include <cmath>

#include "hk/conv2d.h"
#include "hk/conv2d_backward.h"
#include "hk/quantized_conv2d.h"
#include "tests/kernels/family.h"
#include "tests/kernels/long_sums.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

// Of the sum of magnitudes, which headers promise.
const double kBound = std::ldexp(1, -14);

struct Terms {
    std::vector<double> factors;  // one operand of each term; of the other all are kOther
    double sum = 0, magnitude = 0;
};
constexpr double kOther = 1.0 / 128;

Terms terms_of(int64_t count, DataType type, bool cancel) {
    Terms terms;
    terms.factors.assign(static_cast<size_t>(count), reference::rounded(type, 0.0713));
    if (cancel) {
        terms.factors.front() = 57344;
        terms.factors.back() = -57344;
    }
    for (const double factor : terms.factors) {
        terms.sum += factor * kOther;
        terms.magnitude += std::abs(factor * kOther);
    }
    return terms;
}

void expect_near(const Tensor &result, const Terms &terms, const std::string &what) {
    const double bound =
        kBound * terms.magnitude + half_ulp(result.type()) * (1 + kBound) * std::abs(terms.sum);
    for (const double got : reference::read(result.to(Device::cpu())))
        ASSERT_NEAR(got, terms.sum, bound) << what;
}

struct Box {
    int64_t channels, height, width;

    int64_t terms() const { return channels * height * width; }
    Shape shape(Layout layout, int64_t n) const {
        return layout == Layout::nhwc ? Shape{n, height, width, channels}
                                      : Shape{n, channels, height, width};
    }
};
constexpr int64_t kFilters = 3;

// Long in channels, columns, rows, and all of them. A device's simulation takes a tenth.
std::vector<Box> boxes(DeviceType device) {
    if (device != DeviceType::cpu)
        return {{100003, 1, 1}, {3, 1, 33333}, {3, 33333, 1}, {64, 40, 40}};
    return {{1000003, 1, 1}, {25, 1, 40000}, {3, 333333, 1}, {512, 45, 45}};
}

Tensor constant(const Shape &shape, DataType type, double value) {
    const int64_t elements = shape[0] * shape[1] * shape[2] * shape[3];
    return host_tensor(shape, type, std::vector<double>(static_cast<size_t>(elements), value));
}

// Its innermost lines lie apart, so that taps are not taken as channels.
Tensor image(const Box &box, Layout layout, const Terms &terms, DataType type, Device device) {
    const Tensor packed = host_tensor(box.shape(layout, 1), type, terms.factors);
    Shape wider = packed.shape();
    const int64_t line = wider[3]++;
    const Tensor all(wider, type);
    all.slice(3, 0, line).copy_from(packed);
    return all.to(device).slice(3, 0, line);
}

class LongConvolution : public testing::TestWithParam<KernelInfo> {
protected:
    // Calls with each device, box and order of terms.
    void for_all(auto call) {
        const KernelInfo &row = GetParam();
        for (const Device device : devices_of(row.device)) {
            for (const Box &box : boxes(row.device)) {
                for (const bool cancel : {false, true}) {
                    const Terms terms = terms_of(box.terms(), row.type, cancel);
                    const std::string what = std::string(row.name) + ", " +
                                             hk::to_string(box.shape(row.layout, 1)) +
                                             (cancel ? ", cancelling" : "");
                    expect_near(call(device, box, terms), terms, what);
                }
            }
        }
    }
};

class LongForward : public LongConvolution {};
TEST_P(LongForward, KeepsItsDigits) {
    const auto &[type, layout] = std::pair(GetParam().type, GetParam().layout);
    for_all([&](Device device, const Box &box, const Terms &terms) {
        const Tensor input = image(box, layout, terms, type, device);
        const Tensor weight = constant(box.shape(layout, kFilters), type, kOther).to(device);
        return conv2d(input, weight, {}, {}, {.layout = layout});
    });
}

// The filter's channels are the gradient's terms.
class LongDataGradient : public LongConvolution {};
TEST_P(LongDataGradient, KeepsItsDigits) {
    const auto &[type, layout] = std::pair(GetParam().type, GetParam().layout);
    for_all([&](Device device, const Box &box, const Terms &terms) {
        const Box filter{kFilters, box.height, box.width};
        const Tensor gradient = host_tensor(box.shape(layout, 1), type, terms.factors).to(device);
        const Tensor weight = constant(filter.shape(layout, box.channels), type, kOther).to(device);
        // The input's middle pixel meets all taps.
        const int64_t y = box.height - 1, x = box.width - 1;
        return conv2d_backward_data(gradient, weight, Box{kFilters, 1, 1}.shape(layout, 1),
                                    {.layout = layout, .padding = {y, y, x, x}});
    });
}

class LongQuantized : public LongConvolution {};
TEST_P(LongQuantized, KeepsItsDigits) {
    const Layout layout = GetParam().layout;
    for_all([&](Device device, const Box &box, const Terms &terms) {
        const Tensor input = image(box, layout, terms, DataType::f32, device);
        const Tensor weight = constant(box.shape(layout, kFilters), DataType::s8, 1).to(device);
        return quantized_conv2d(input, {weight, Quantization(static_cast<float>(kOther))}, {},
                                DataType::f32, {}, {.layout = layout})
            .values;
    });
}

// `cpu` on a CPU, the last rung on a GPU. Integers lose nothing.
std::vector<KernelInfo> long_rows(std::span<const KernelInfo> rows, const std::string &cpu,
                                  const std::string &gpu) {
    std::vector<KernelInfo> result;
    for (const KernelInfo &row : rows)
        if (row.row == (row.device == DeviceType::cpu ? cpu : gpu) && row.type != DataType::u8)
            result.push_back(row);
    return result;
}

INSTANTIATE_TEST_SUITE_P(Table, LongForward,
                         testing::ValuesIn(long_rows(conv2d_kernels(), "long", "unstaged")),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, LongDataGradient,
                         testing::ValuesIn(long_rows(conv2d_backward_data_kernels(), "long",
                                                     "unstaged")),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, LongQuantized,
                         testing::ValuesIn(long_rows(quantized_conv2d_kernels(), "long_to_32",
                                                     "unstaged_to_32")),
                         parameter_name);

}  // namespace
}  // namespace hk::test
