// Does the shipped library work: hk::quantized_conv2d on random problems, on every device that is
// here, with the rows that selection takes.

#include <tuple>

#include "tests/kernels/family.h"
#include "tests/quantized_conv2d/check.h"

namespace hk::test {
namespace {

// 2 types of input times 160 problems: more than 300 a layout and device.
constexpr int problems = 160;

class QuantizedConv2d : public testing::TestWithParam<std::tuple<DeviceType, Layout, DataType>> {
protected:
    void SetUp() override {
        const DeviceType type = std::get<0>(GetParam());
        devices_ = devices_of(type);
        const bool rows =
            std::ranges::any_of(quantized_conv2d_kernels(),
                                [&](const KernelInfo &kernel) { return kernel.device == type; });
        if (devices_.empty() || !rows) {
            GTEST_SKIP() << "no " << name_of(type) << (rows ? " device" : " rows");
        }
    }

    Conv2dRequest request(Data data) const {
        const auto [device, layout, type] = GetParam();
        return {type, layout, data, {}, device == DeviceType::opencl ? 2e5 : 2e6};
    }

    std::vector<Device> devices_;
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

std::string name(const testing::TestParamInfo<std::tuple<DeviceType, Layout, DataType>> &info) {
    const auto [device, layout, type] = info.param;
    return std::string(name_of(device)) + "_" + std::string(name_of(layout)) + "_" +
           std::string(name_of(type));
}

INSTANTIATE_TEST_SUITE_P(All, QuantizedConv2d,
                         testing::Combine(testing::Values(DeviceType::cpu, DeviceType::opencl,
                                                          DeviceType::cuda),
                                          testing::Values(Layout::nhwc, Layout::nchw),
                                          testing::Values(DataType::u8, DataType::f32)),
                         name);

}  // namespace
}  // namespace hk::test
