// Does the shipped object work: every row of the table, and hk::tensor_product with the rows that
// selection takes, on every device that has rows.

#include <cmath>

#include "HalideRuntime.h"
#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"
#include "tests/tensor_product/check.h"

namespace hk::test {
namespace {

constexpr int64_t channel_counts[] = {1, 3, 16, 32, 33, 64, 128, 200};

std::vector<KernelInfo> all_rows() {
    std::vector<KernelInfo> rows;
    for (const auto &kernels : {tensor_product_kernels(), tensor_product_stationary_kernels(),
                                tensor_product_atomic_kernels()}) {
        rows.insert(rows.end(), kernels.begin(), kernels.end());
    }
    return rows;
}

class TensorProductRow : public testing::TestWithParam<KernelInfo> {
protected:
    void SetUp() override {
        if (devices_of(GetParam().device).empty()) {
            GTEST_SKIP() << "no " << name_of(GetParam().device) << " device";
        }
    }
};

TEST_P(TensorProductRow, IsTheReference) {
    const KernelInfo &row = GetParam();
    const bool cpu = row.device == DeviceType::cpu;
    for (const Device device : devices_of(row.device)) {
        check_row<TensorProductCase>(
            row, device, TensorProductRequest{row.type, row.where, cpu ? 3e6 : 1e6}, cpu ? 40 : 20);
    }
}

// A row says what it does not take, instead of running on it.
TEST_P(TensorProductRow, RefusesOtherTypes) {
    const KernelInfo &row = GetParam();
    const TensorProductCase c{.type = row.type == DataType::f32 ? DataType::f64 : DataType::f32};
    for (const Device device : devices_of(row.device)) {
        EXPECT_EQ(check(c, device, &row), Outcome::refused) << row.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Table, TensorProductRow, testing::ValuesIn(all_rows()), parameter_name);

// The product and its gradients.
class TensorProduct : public testing::TestWithParam<std::tuple<Product, DataType>> {
protected:
    TensorProductRequest request() const {
        return {.type = std::get<1>(GetParam()), .product = std::get<0>(GetParam())};
    }
    TensorProductCase small(uint64_t seed) const {
        TensorProductCase c{.seed = seed, .type = request().type};
        c.product = request().product;
        return c;
    }
    const Device device_ = Device::cpu();
};

TEST_P(TensorProduct, MatchesTheReferenceOnRandomProblems) {
    check_random<TensorProductCase>(device_, 150, [&](uint64_t) { return request(); });
}

TEST_P(TensorProduct, TakesEveryNumberOfChannels) {
    for (const int64_t input : channel_counts) {
        for (const int64_t output : channel_counts) {
            TensorProductCase c = small(static_cast<uint64_t>(1000 * input + output));
            c.input_rows = 50;
            c.output_rows = 40;
            c.offsets = 3;
            c.length = 17;
            c.input_channels = input;
            c.output_channels = output;
            if (check(c, device_) == Outcome::failed) return;
        }
    }
}

// As many blocks and slices as threads and more, and offsets that no row has.
TEST_P(TensorProduct, TakesEveryKindOfMap) {
    for (const Pairs pairs : {Pairs::random, Pairs::sorted, Pairs::one_output, Pairs::empty}) {
        for (const bool ragged : {false, true}) {
            TensorProductCase c = small(7);
            c.input_rows = 5001;
            c.output_rows = 3000;
            c.offsets = 27;
            c.length = 2500;
            c.input_channels = 18;
            c.output_channels = 4;
            c.pairs = pairs;
            c.ragged = ragged;
            if (check(c, device_) == Outcome::failed) return;
        }
    }
}

TEST_P(TensorProduct, TakesWhatIsEmpty) {
    check_empty<TensorProductCase>(device_, request());
    for (int64_t TensorProductCase::*size :
         {&TensorProductCase::input_rows, &TensorProductCase::output_rows,
          &TensorProductCase::offsets, &TensorProductCase::length,
          &TensorProductCase::input_channels, &TensorProductCase::output_channels}) {
        for (const bool accumulate : {false, true}) {
            TensorProductCase none = small(1);
            none.accumulate = accumulate;
            none.*size = 0;
            check(none, device_);
        }
    }
}

TEST_P(TensorProduct, RunsInTwoThreadsAtOnce) {
    check_two_threads<TensorProductCase>(device_, request());
}

INSTANTIATE_TEST_SUITE_P(Types, TensorProduct,
                         testing::Combine(testing::Values(Product::output, Product::input_gradient,
                                                          Product::weight_gradient),
                                          testing::Values(DataType::f32, DataType::f16,
                                                          DataType::bf16, DataType::f64)),
                         [](const auto &info) {
                             return std::string(name_of(std::get<0>(info.param))) + "_" +
                                    std::string(hk::name_of(std::get<1>(info.param)));
                         });

// Bit for bit, in every run, of the gradients too: rows with many terms, whose sum depends on their
// order.
TEST(TensorProductThreads, ChangeNoBit) {
    TensorProductCase c{.seed = 3, .data = Data::reals};
    c.input_rows = 500;
    c.output_rows = 9000;
    c.offsets = 27;
    c.length = 6000;
    c.input_channels = 20;
    c.output_channels = 24;
    const TensorProductData data = tensor_product_data(c);
    // The product first: its gradients then are of what it made.
    const auto result = [&](int threads) {
        const int before = halide_set_num_threads(threads);
        const TensorProductMaps maps(data.imap, data.omap, c.input_rows, c.output_rows);
        const Tensor input_gradient(c.input_shape(), c.type);
        const Tensor weight_gradient(c.weight_shape(), c.type);
        tensor_product(data.input, data.weight, maps, data.output);
        tensor_product_backward_data(data.output, data.weight, maps, input_gradient);
        tensor_product_backward_weight(data.input, data.output, maps, weight_gradient);
        halide_set_num_threads(before);
        std::vector<std::vector<uint64_t>> bits;
        for (const Tensor &tensor : {data.output, input_gradient, weight_gradient})
            bits.push_back(reference::bits(tensor));
        return bits;
    };
    const auto alone = result(1);
    for (const int threads : {1, 2, 3, 8, 8}) EXPECT_EQ(result(threads), alone) << threads;
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

}  // namespace
}  // namespace hk::test
