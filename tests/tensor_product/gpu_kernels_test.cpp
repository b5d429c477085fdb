// hk::tensor_product on the GPUs that are there: with the rows that selection takes in memory of
// any size, in both modes.

#include <cmath>

#include "HalideRuntime.h"
#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/environment.h"
#include "tests/tensor_product/check.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

constexpr Summation kModes[] = {Summation::deterministic, Summation::atomic};

std::vector<Device> gpus() {
    std::vector<Device> devices = Device::all();
    std::erase_if(devices, [](Device device) { return device.is_cpu(); });
    return devices;
}

class TensorProductOnGpu : public testing::TestWithParam<std::tuple<const char *, DataType>> {
protected:
    void SetUp() override {
        if (gpus().empty()) GTEST_SKIP() << "no GPU";
    }

    // In both modes, and the gradients; whether all passed.
    bool check_all(TensorProductCase c) const {
        c.type = std::get<1>(GetParam());
        for (const Device device : gpus()) {
            for (const Summation summation : kModes) {
                for (const Product product :
                     {Product::output, Product::input_gradient, Product::weight_gradient}) {
                    c.summation = summation;
                    c.product = product;
                    if (check(c, device) != Outcome::passed) return false;
                }
            }
        }
        return true;
    }

    const Environment limit_{"HK_SHARED_LIMIT", std::get<0>(GetParam())};
    const Environment quiet_{"HK_LOG", "off"};
};

TEST_P(TensorProductOnGpu, TakesEveryNumberOfChannels) {
    constexpr int64_t counts[] = {1, 3, 16, 32, 33, 64, 128};
    for (const int64_t input : counts) {
        for (const int64_t output : counts) {
            TensorProductCase c{.seed = static_cast<uint64_t>(1000 * input + output)};
            c.input_rows = 150;
            c.output_rows = 70;
            c.offsets = 3;
            c.length = 140;
            c.input_channels = input;
            c.output_channels = output;
            c.accumulate = input % 3 == 0;
            if (!check_all(c)) return;
        }
    }
}

TEST_P(TensorProductOnGpu, TakesEveryKindOfMap) {
    for (const Pairs pairs : {Pairs::random, Pairs::sorted, Pairs::one_output, Pairs::empty}) {
        for (const int64_t groups : {1, 3}) {
            for (const int64_t offsets : {1, 27, 130}) {
                TensorProductCase c{.seed = 7};
                c.input_rows = 500;
                c.output_rows = 701;
                c.offsets = offsets;
                c.length = 300;
                c.input_channels = 6;
                c.output_channels = 18;
                c.groups = groups;
                c.pairs = pairs;
                c.ragged = groups == 1;
                c.accumulate = offsets == 27;
                if (!check_all(c)) return;
            }
        }
    }
}

TEST_P(TensorProductOnGpu, TakesWhatIsEmpty) {
    for (int64_t TensorProductCase::*size :
         {&TensorProductCase::input_rows, &TensorProductCase::output_rows,
          &TensorProductCase::offsets, &TensorProductCase::length,
          &TensorProductCase::input_channels, &TensorProductCase::output_channels}) {
        for (const bool accumulate : {false, true}) {
            TensorProductCase c{.seed = 1};
            c.accumulate = accumulate;
            c.*size = 0;
            if (!check_all(c)) return;
        }
    }
}

// Weights of more than the memory for parts of their gradient's sums, with pairs and without.
TEST(TensorProductWeightOnGpu, TakesLargeWeights) {
    for (const Device device : gpus()) {
        for (const int64_t length : {0, 3}) {
            TensorProductCase c{.seed = 21};
            c.product = Product::weight_gradient;
            c.input_rows = c.output_rows = 5;
            c.offsets = 27;
            c.length = length;
            c.input_channels = c.output_channels = 400;
            check(c, device);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(SharedBytes, TensorProductOnGpu,
                         testing::Combine(testing::Values("0", "4096", "16384", "49152"),
                                          testing::Values(DataType::f32, DataType::f16,
                                                          DataType::bf16, DataType::f64)),
                         [](const auto &info) {
                             return std::string("limit") + std::get<0>(info.param) + "_" +
                                    std::string(hk::name_of(std::get<1>(info.param)));
                         });

TensorProductCase large_case() {
    TensorProductCase c{.seed = 3, .data = Data::reals};
    c.input_rows = 500;
    c.output_rows = 2000;
    c.offsets = 27;
    c.length = 1500;
    c.input_channels = 20;
    c.output_channels = 40;
    return c;
}

// Bit for bit: rows with many terms, whose sum depends on their order.
TEST(DeterministicTensorProductOnGpu, IsTheSameInEveryRun) {
    const TensorProductData data = tensor_product_data(large_case());
    for (const Device device : gpus()) {
        const Tensor input = data.input.to(device), weight = data.weight.to(device);
        const auto result = [&](int threads) {
            const int before = halide_set_num_threads(threads);
            const Tensor output(data.output.shape(), DataType::f32, device);
            tensor_product(input, weight, data.imap, data.omap, output);
            halide_set_num_threads(before);
            return reference::bits(output.to(Device::cpu()));
        };
        const std::vector<uint64_t> alone = result(1);
        for (const int threads : {1, 2, 3, 8, 8}) EXPECT_EQ(result(threads), alone) << threads;
    }
}

// Neither what is filled up with rows and channels that no pair has, nor a weight of an offset
// that a row has not, reaches a sum.
TEST(TensorProductNanOnGpu, StaysInTheRowsThatItsPairsReach) {
    TensorProductCase c{.seed = 5};
    c.input_rows = 20;
    c.output_rows = 100;
    c.offsets = 3;
    c.length = 30;
    c.input_channels = 3;
    c.output_channels = 20;
    const TensorProductData data = tensor_product_data(c);
    const auto filled = [](const Shape &shape, double value) {
        const size_t count = static_cast<size_t>(shape[0] * shape[1] * shape[2]);
        return host_tensor(shape, DataType::f32, std::vector<double>(count, value));
    };
    // Input row 0 and the weight of offset 2 are not finite. Offset n reaches rows 30 n to 30 n
    // + 29.
    data.input.slice(0, 0, 1).reshape({1, 1, 3}).copy_from(filled({1, 1, 3}, std::nan("")));
    data.weight.slice(0, 2, 1).copy_from(filled({1, 3, 20}, INFINITY));
    for (int64_t pair = 0; pair < 90; pair++) {
        data.imap.data<int32_t>()[pair] = static_cast<int32_t>(pair == 41 ? 0 : pair % 19 + 1);
        data.omap.data<int32_t>()[pair] = static_cast<int32_t>(pair);
    }
    const auto spoilt = [](size_t row) { return row == 41 || (row >= 60 && row < 90); };
    for (const Device device : gpus()) {
        for (const Summation summation : kModes) {
            const Tensor output(data.output.shape(), DataType::f32, device);
            tensor_product(data.input.to(device), data.weight.to(device), data.imap, data.omap,
                           output, {.summation = summation});
            const std::vector<double> result = reference::read(output.to(Device::cpu()));
            for (size_t i = 0; i < result.size(); i++) {
                EXPECT_TRUE(spoilt(i / 20) || std::isfinite(result[i])) << "row " << i / 20;
            }
            EXPECT_TRUE(std::isnan(result[41 * 20]));
            EXPECT_FALSE(std::isfinite(result[75 * 20]));
        }
    }
}

TEST(TensorProductRowsOnGpu, AreOfTheFamilyOfTheMode) {
    const auto row_of = [](DataType type, int64_t channels, Summation summation) {
        TensorProductProblem problem;
        problem.type = type;
        problem.input_channels = problem.output_channels = channels;
        problem.summation = summation;
        const Selection selection = select_tensor_product(
            problem, DeviceType::opencl, DeviceLimits{32768, 32768, 1024, 65536, 0});
        return selection.kernel
                   ? selection.kernel->family + std::string(" ") + selection.kernel->row
                   : "";
    };
    if (row_of(DataType::f32, 64, Summation::atomic).empty()) GTEST_SKIP() << "without OpenCL";
    EXPECT_EQ(row_of(DataType::f32, 64, Summation::atomic), "tensor_product_atomic any");
    EXPECT_EQ(row_of(DataType::f32, 128, Summation::atomic), "tensor_product_atomic large");
    EXPECT_EQ(row_of(DataType::f16, 64, Summation::atomic), "tensor_product_stationary any");
    EXPECT_EQ(row_of(DataType::f64, 64, Summation::atomic), "tensor_product_stationary any");
    EXPECT_EQ(row_of(DataType::f32, 64, Summation::deterministic), "tensor_product_stationary any");
    EXPECT_EQ(row_of(DataType::f32, 32, Summation::deterministic), "tensor_product_stationary few");
}

}  // namespace
}  // namespace hk::test
