// Does the shipped library work: hk::quantized_conv2d on random problems, on every device that is
// here, with the rows that selection takes.

#include <tuple>

#include "tests/convolution/layout_test.h"
#include "tests/quantized_conv2d/check.h"

namespace hk::test {
namespace {

// 2 types of input times 160 problems: more than 300 a layout and device.
constexpr int problems = 160;

class QuantizedConv2d : public LayoutTest {
protected:
    void SetUp() override { need(std::get<0>(GetParam()), quantized_conv2d_kernels()); }
};

TEST_P(QuantizedConv2d, MatchesTheReferenceOnRandomProblems) {
    const bool real = std::get<2>(GetParam()) == DataType::f32;
    for (const Device device : devices_) {
        check_random<QuantizedConv2dCase>(device, problems, [&](uint64_t seed) {
            return request(real && seed % 3 == 0 ? Data::reals : Data::integers);
        });
    }
}

TEST_P(QuantizedConv2d, TakesAnEmptyBatch) {
    for (const Device device : devices_) {
        check_empty<QuantizedConv2dCase>(device, request(Data::integers));
    }
}

TEST_P(QuantizedConv2d, RunsInTwoThreadsAtOnce) {
    for (const Device device : devices_) {
        check_two_threads<QuantizedConv2dCase>(device, request(Data::integers));
    }
}

INSTANTIATE_TEST_SUITE_P(All, QuantizedConv2d,
                         testing::Combine(testing::Values(DeviceType::cpu, DeviceType::opencl,
                                                          DeviceType::cuda),
                                          testing::Values(Layout::nhwc, Layout::nchw),
                                          testing::Values(DataType::u8, DataType::f32)),
                         parameter_name);

}  // namespace
}  // namespace hk::test
