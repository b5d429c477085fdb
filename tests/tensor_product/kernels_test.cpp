// Does the shipped object work: hk::tensor_product and its gradients with the rows that selection
// takes, on every device, of GPUs in memory of any size and in both modes. Rows one by one are in
// rows_test.cpp.

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/environment.h"
#include "tests/support/values.h"
#include "tests/tensor_product/case.h"

namespace hk::test {
namespace {

constexpr Summation kModes[] = {Summation::deterministic, Summation::atomic};
constexpr Product kProducts[] = {Product::output, Product::input_gradient,
                                 Product::weight_gradient};
const std::vector<DataType> kTypes = {DataType::f32, DataType::f16, DataType::bf16, DataType::f64};

std::vector<Device> gpus() {
    std::vector<Device> devices = devices_with_rows(
        {tensor_product_stationary_kernels(), tensor_product_backward_weight_kernels()});
    std::erase_if(devices, [](Device device) { return device.is_cpu(); });
    return devices;
}

// The product and its gradients.
class TensorProduct : public testing::TestWithParam<std::tuple<Product, DataType>> {
protected:
    TensorProductRequest request() const {
        return {.type = std::get<1>(GetParam()), .product = std::get<0>(GetParam())};
    }
    const Device device_ = Device::cpu();
};

TEST_P(TensorProduct, MatchesTheReferenceOnRandomProblems) {
    check_random<TensorProductCase>(device_, 150, [&](uint64_t) { return request(); });
    check_empty<TensorProductCase>(device_, request());
}

TEST_P(TensorProduct, RunsInTwoThreadsAtOnce) {
    check_two_threads<TensorProductCase>(device_, request());
}

INSTANTIATE_TEST_SUITE_P(Types, TensorProduct,
                         testing::Combine(testing::ValuesIn(kProducts), testing::ValuesIn(kTypes)),
                         parameter_name);

constexpr const char *kPlaces[] = {"cpu", "limit0", "limit4096", "limit16384", "limit49152"};

// On the CPU, or on GPUs of so many shared bytes.
class TensorProductOfSizes : public testing::TestWithParam<std::tuple<const char *, DataType>> {
protected:
    void SetUp() override {
        if (devices().empty()) GTEST_SKIP() << "no GPU";
    }

    bool on_cpu() const { return std::get<0>(GetParam()) == std::string("cpu"); }
    std::vector<Device> devices() const { return on_cpu() ? std::vector{Device::cpu()} : gpus(); }

    // The number of the place and of the type, added up.
    int64_t turn() const {
        const auto &[place, type] = GetParam();
        return std::ranges::find(kPlaces, std::string_view(place)) - kPlaces +
               (std::ranges::find(kTypes, type) - kTypes.begin());
    }

    // In both modes where their rows differ, and the gradients; whether all passed.
    bool check_all(TensorProductCase c, bool on_cuda = true) const {
        c.type = std::get<1>(GetParam());
        for (const Device device : devices()) {
            if (device.type() == DeviceType::cuda && !on_cuda) continue;
            for (const Summation summation : kModes) {
                for (const Product product : kProducts) {
                    const bool same_row =
                        c.type != DataType::f32 || product == Product::weight_gradient;
                    if (!on_cpu() && summation == Summation::atomic && same_row) continue;
                    c.summation = summation;
                    c.product = product;
                    if (check(c, device) != Outcome::passed) return false;
                }
            }
        }
        return true;
    }

private:
    const Environment limit_{"HK_SHARED_LIMIT", on_cpu() ? "49152" : std::get<0>(GetParam()) + 5};
    const Environment quiet_{"HK_LOG", "off"};
};

// On CUDA, which is imitated instruction by instruction, a quarter of them at each place and type:
// all at each place, and all of each type.
TEST_P(TensorProductOfSizes, TakesEveryNumberOfChannels) {
    std::vector<int64_t> counts{1, 3, 16, 32, 33, 64, 128};
    if (on_cpu()) counts.push_back(200);
    int64_t pair = turn();
    for (const int64_t input : counts) {
        for (const int64_t output : counts) {
            TensorProductCase c{.seed = static_cast<uint64_t>(1000 * input + output)};
            c.input_rows = on_cpu() ? 50 : 150;
            c.output_rows = on_cpu() ? 40 : 70;
            c.offsets = 3;
            c.length = on_cpu() ? 17 : 140;
            c.input_channels = input;
            c.output_channels = output;
            c.accumulate = input % 3 == 0;
            if (!check_all(c, pair++ % 4 == 0)) return;
        }
    }
}

// On the CPU as many blocks and slices as threads and more, and offsets that no row has. On CUDA a
// quarter of them, as above.
TEST_P(TensorProductOfSizes, TakesEveryKindOfMap) {
    struct Sizes {
        int64_t input_rows, output_rows, offsets, length, input_channels, output_channels, groups;
        bool ragged, accumulate;
    };
    std::vector<Sizes> sizes{{5001, 3000, 27, 2500, 18, 4, 1, false, false},
                             {5001, 3000, 27, 2500, 18, 4, 1, true, false}};
    if (!on_cpu()) {
        sizes.clear();
        for (const int64_t groups : {1, 3}) {
            for (const int64_t offsets : {1, 27, 130})
                sizes.push_back({500, 701, offsets, offsets == 130 ? 70 : 300, 6, 18, groups,
                                 groups == 1, offsets == 27});
        }
    }
    int64_t turn = this->turn();
    for (const Pairs pairs : {Pairs::random, Pairs::sorted, Pairs::one_output, Pairs::empty}) {
        turn++;  // each size with all pairs
        for (const Sizes &s : sizes) {
            TensorProductCase c{.seed = 7};
            c.input_rows = s.input_rows;
            c.output_rows = s.output_rows;
            c.offsets = s.offsets;
            c.length = s.length;
            c.input_channels = s.input_channels;
            c.output_channels = s.output_channels;
            c.groups = s.groups;
            c.pairs = pairs;
            c.ragged = s.ragged;
            c.accumulate = s.accumulate;
            if (!check_all(c, turn++ % 4 == 0)) return;
        }
    }
}

TEST_P(TensorProductOfSizes, TakesWhatIsEmpty) {
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

INSTANTIATE_TEST_SUITE_P(Places, TensorProductOfSizes,
                         testing::Combine(testing::ValuesIn(kPlaces), testing::ValuesIn(kTypes)),
                         parameter_name);

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

// Bit for bit, in every run, on a CPU of the gradients too: rows with many terms, whose sum depends
// on their order.
TEST(TensorProductThreads, ChangeNoBit) {
    for (const Device device : devices_with_rows(
             {tensor_product_kernels(), tensor_product_stationary_kernels()})) {
        TensorProductCase c{.seed = 3, .data = Data::reals};
        c.input_rows = 500;
        c.output_rows = device.is_cpu() ? 9000 : 2000;
        c.offsets = 27;
        c.length = device.is_cpu() ? 6000 : 1500;
        c.input_channels = 20;
        c.output_channels = device.is_cpu() ? 24 : 40;
        const TensorProductData data = tensor_product_data(c);
        const Tensor input = data.input.to(device), weight = data.weight.to(device);
        // The product first: its gradients then are of what it made.
        const auto run = [&] {
            const TensorProductMaps maps(data.imap, data.omap, c.input_rows, c.output_rows);
            std::vector<Tensor> made = {Tensor(c.output_shape(), c.type, device)};
            tensor_product(input, weight, maps, made[0]);
            if (device.is_cpu()) {
                made.insert(made.end(),
                            {Tensor(c.input_shape(), c.type), Tensor(c.weight_shape(), c.type)});
                tensor_product_backward_data(made[0], weight, maps, made[1]);
                tensor_product_backward_weight(input, made[0], maps, made[2]);
            }
            std::vector<std::vector<uint64_t>> bits;
            for (const Tensor &tensor : made)
                bits.push_back(reference::bits(tensor.to(Device::cpu())));
            return bits;
        };
        expect_same_with_threads(run, {1, 2, 3, 8, 8});
    }
}

// Tiles are filled up with pairs from the input's first row, channels with zeros.
TEST(TensorProductNan, StaysInTheRowsThatItsPairsReach) {
    TensorProductCase c{.seed = 5};
    c.input_rows = 20;
    c.output_rows = 30;
    c.offsets = 5;
    c.length = 4;
    c.input_channels = 3;
    c.output_channels = 20;
    const TensorProductData data = tensor_product_data(c);
    const Tensor maps[] = {data.imap, data.omap};
    for (const Tensor &map : maps) map.fill_zero();
    data.input.slice(0, 0, 1).copy_from(
        host_tensor({1, 3}, DataType::f32, std::vector<double>(3, std::nan(""))));
    for (int64_t pair = 1; pair < 20; pair++) {
        data.imap.data<int32_t>()[pair] = static_cast<int32_t>(pair % 19 + 1);
        data.omap.data<int32_t>()[pair] = static_cast<int32_t>(pair);
    }
    data.omap.data<int32_t>()[0] = 29;
    tensor_product(data.input, data.weight, data.imap, data.omap, data.output);
    const std::vector<double> result = reference::read(data.output);
    for (size_t i = 0; i < result.size(); i++)
        EXPECT_EQ(std::isnan(result[i]), i / 20 == 29) << "row " << i / 20;
}

// Chunks are gathered whole, and channels past the last one stand for nothing.
TEST(TensorProductGradientNan, StaysInTheOffsetsThatItsRowMeets) {
    for (const int64_t channels : {16, 20}) {
        const Tensor input = Tensor::zeros({10, 5}, DataType::f32);
        const Tensor gradient = Tensor::zeros({10, channels}, DataType::f32);
        for (const Tensor &rows : {input, gradient}) {
            for (int64_t i = 0; i < rows.shape()[1]; i++) rows.data<float>()[i] = std::nanf("");
        }
        Tensor map = Tensor::zeros({3, 4}, DataType::s32);
        for (int64_t i = 0; i < 12; i++) map.data<int32_t>()[i] = i == 7 ? 0 : 1 + i % 9;
        const Tensor weight = Tensor::zeros({3, 5, channels}, DataType::f32);
        tensor_product_backward_weight(input, gradient, TensorProductMaps(map, map, 10, 10),
                                       weight);
        const std::vector<double> result = reference::read(weight);
        for (size_t i = 0; i < result.size(); i++)
            EXPECT_EQ(std::isnan(result[i]), i / static_cast<size_t>(5 * channels) == 1) << i;
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

// The rows of the documented widths.
TEST(TensorProductSelection, TakesTheWidthThatWastesLeast) {
    const auto row_of = [](int64_t m, bool adjacent) {
        TensorProductProblem problem;
        problem.output_channels = m;
        problem.adjacent = adjacent;
        return std::string(
            select_tensor_product(problem, DeviceType::cpu, Device::cpu().limits()).kernel->row);
    };
    EXPECT_EQ(row_of(16, true), "wide1");
    EXPECT_EQ(row_of(17, true), "wide2");
    EXPECT_EQ(row_of(64, true), "wide4");
    EXPECT_EQ(row_of(80, true), "wide2");
    EXPECT_EQ(row_of(128, true), "wide4");
    EXPECT_EQ(row_of(64, false), "any");
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
    EXPECT_EQ(row_of(DataType::f32, 64, Summation::atomic), "tensor_product_atomic vectors");
    EXPECT_EQ(row_of(DataType::f32, 66, Summation::atomic), "tensor_product_atomic any");
    EXPECT_EQ(row_of(DataType::f32, 128, Summation::atomic), "tensor_product_atomic large");
    EXPECT_EQ(row_of(DataType::f16, 64, Summation::atomic), "tensor_product_stationary any");
    EXPECT_EQ(row_of(DataType::f64, 64, Summation::atomic), "tensor_product_stationary any");
    EXPECT_EQ(row_of(DataType::f32, 64, Summation::deterministic), "tensor_product_stationary any");
    EXPECT_EQ(row_of(DataType::f32, 32, Summation::deterministic), "tensor_product_stationary few");
}

}  // namespace
}  // namespace hk::test
