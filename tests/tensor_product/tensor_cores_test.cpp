// Rows of tensor cores of the tensor product and the gradient of its input: whole vectors of
// channels, wherever they lie.

#include <cmath>
#include <string_view>

#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"
#include "tests/tensor_product/case.h"

namespace hk::test {
namespace {

const KernelInfo *row_of(DataType type, std::string_view name) {
    for (const KernelInfo &row : tensor_product_stationary_kernels())
        if (row.device == DeviceType::cuda && row.type == type && row.row == name) return &row;
    return nullptr;
}

// Of what is computed, and of the weight as it lies in memory.
class TensorCores : public testing::TestWithParam<std::tuple<Product, DataType, bool>> {
protected:
    void SetUp() override {
        devices_ = devices_of(DeviceType::cuda);
        if (devices_.empty()) GTEST_SKIP() << "no CUDA device is here";
        for (const char *name : {"matrices_32", "matrices_128", "matrices"}) ASSERT_TRUE(row(name));
    }

    static bool turned() {
        const auto &[product, type, transposed] = GetParam();
        return transposed != (product == Product::input_gradient);
    }
    static const KernelInfo *row(const std::string &name = "matrices") {
        return row_of(std::get<1>(GetParam()), turned() ? name + "_transposed" : name);
    }
    static TensorProductCase made(int64_t input, int64_t output, int64_t groups = 1) {
        TensorProductCase c{.seed = static_cast<uint64_t>(1000 * input + output)};
        std::tie(c.product, c.type, c.transposed) = GetParam();
        c.input_rows = 90;
        c.output_rows = 70;
        c.offsets = 3;
        c.length = 50;
        c.input_channels = input;
        c.output_channels = output;
        c.groups = groups;
        c.input = c.weight = c.output = Placement::aligned;
        return c;
    }
    // By the row itself, and by selection.
    void expect_passed(const TensorProductCase &c) const {
        for (const Device device : devices_) {
            ASSERT_EQ(check(c, device, row()), Outcome::passed);
            ASSERT_EQ(check(c, device), Outcome::passed);
        }
    }

    std::vector<Device> devices_;
};

TEST_P(TensorCores, TakeEveryNumberOfVectors) {
    int turn = 0;
    for (const int64_t input : {8, 24, 32, 64, 136}) {
        for (const int64_t output : {8, 16, 40, 64, 72, 136}) {
            TensorProductCase c = made(input, output);
            c.accumulate = turn % 2 == 0;
            c.data = turn % 3 == 0 ? Data::reals : Data::integers;
            if (turn++ % 2 == 1) c.input = c.weight = c.output = Placement::vectors;
            ASSERT_NO_FATAL_FAILURE(expect_passed(c));
        }
    }
}

TEST_P(TensorCores, TakeGroups) {
    for (const bool accumulate : {false, true}) {
        TensorProductCase c = made(40, 72, 3);
        c.accumulate = accumulate;
        ASSERT_NO_FATAL_FAILURE(expect_passed(c));
    }
}

// More rows than a block has, and rows of many pairs, or of none.
TEST_P(TensorCores, TakeEveryKindOfMap) {
    for (const Pairs pairs : {Pairs::random, Pairs::sorted, Pairs::one_output, Pairs::empty}) {
        for (const bool accumulate : {false, true}) {
            TensorProductCase c = made(16, 24);
            c.pairs = pairs;
            c.accumulate = accumulate;
            c.ragged = accumulate;
            c.input_rows = c.output_rows = 200;
            c.offsets = 27;
            ASSERT_NO_FATAL_FAILURE(expect_passed(c));
        }
    }
}

// As many channels as its error allows.
TEST_P(TensorCores, TakeLongSums) {
    const bool forward = std::get<0>(GetParam()) != Product::input_gradient;
    for (const int64_t channels : {3584, 3592}) {
        TensorProductCase c = forward ? made(channels, 8) : made(8, channels);
        c.data = Data::reals;
        c.offsets = 2;
        c.length = 9;
        c.input_rows = c.output_rows = 5;
        const Outcome outcome = channels <= 3584 ? Outcome::passed : Outcome::refused;
        for (const Device device : devices_) {
            EXPECT_EQ(check(c, device, row()), outcome);
            EXPECT_EQ(check(c, device), Outcome::passed);
        }
    }
}

// Other rows take them.
TEST_P(TensorCores, LeaveOutWhatIsInNoVectors) {
    for (Placement TensorProductCase::*operand :
         {&TensorProductCase::input, &TensorProductCase::weight, &TensorProductCase::output}) {
        for (const Placement placement :
             {Placement::margins, Placement::reversed, Placement::permuted}) {
            TensorProductCase c = made(16, 24);
            c.*operand = placement;
            for (const Device device : devices_) {
                EXPECT_EQ(check(c, device, row()), Outcome::refused) << to_string(c);
                EXPECT_EQ(check(c, device), Outcome::passed);
            }
        }
    }
    for (const Device device : devices_) {
        EXPECT_EQ(check(made(12, 24), device, row()), Outcome::refused);
        EXPECT_EQ(check(made(16, 20), device, row()), Outcome::refused);
        TensorProductCase other = made(16, 24);
        other.transposed = !other.transposed;
        EXPECT_EQ(check(other, device, row()), Outcome::refused);
        EXPECT_EQ(check(other, device), Outcome::passed);
    }
}

TEST_P(TensorCores, AreSelected) {
    const auto &[product, type, transposed] = GetParam();
    const bool forward = product == Product::output;
    const auto selected = [&](int64_t computed, bool aligned) {
        const int64_t input = forward ? 64 : computed, output = forward ? computed : 64;
        TensorProductProblem problem = TensorProductProblem::from_shapes(
            {1000, input}, {27, input, output}, 9000, {1000, output}, type);
        problem.transposed = transposed;
        problem.aligned = aligned;
        const auto select = forward ? select_tensor_product : select_tensor_product_backward_data;
        return select(problem, DeviceType::cuda, devices_.front().limits(), false).kernel;
    };
    EXPECT_EQ(selected(8, true), row("matrices_32"));
    EXPECT_EQ(selected(32, true), row("matrices_32"));
    EXPECT_EQ(selected(40, true), row("matrices"));
    EXPECT_EQ(selected(120, true), row("matrices"));
    EXPECT_EQ(selected(128, true), row("matrices_128"));
    EXPECT_STREQ(selected(128, false)->row, "any");
}

// Neither a weight of an offset that a row has not, nor what the row of the input that stands for
// none has, reaches a sum.
TEST_P(TensorCores, KeepWhatIsNotFiniteInTheRowsThatItsPairsReach) {
    const auto &[product, type, transposed] = GetParam();
    const int64_t channels = 40, pairs = 30, offsets = 3;
    const Shape rows{100, channels};
    const auto ones = [&](const Shape &shape) {
        int64_t count = 1;
        for (const int64_t extent : shape) count *= extent;
        return host_tensor(shape, type, std::vector<double>(static_cast<size_t>(count), 1));
    };
    // Offset n reaches rows 30 n up to 30 n + 29; the weight of offset 1 has an infinity, and so
    // has row 0, of which offset 2 makes row 77.
    const Tensor from = ones(rows), weight = ones({offsets, channels, channels}),
                 unbounded = host_tensor({1, 1, 1}, type, std::vector<double>{INFINITY});
    weight.slice(0, 1, 1).slice(1, 7, 1).slice(2, 9, 1).copy_from(unbounded);
    from.slice(0, 0, 1).slice(1, 33, 1).reshape({1, 1, 1}).copy_from(unbounded);
    Tensor source({offsets, pairs}, DataType::s32), target({offsets, pairs}, DataType::s32);
    for (int32_t pair = 0; pair < offsets * pairs; pair++) {
        source.data<int32_t>()[pair] = pair == 77 ? 0 : pair + 1;
        target.data<int32_t>()[pair] = pair;
    }
    const auto finite = [&](size_t at, size_t channel) {
        const size_t spoilt = product == Product::output ? 9 : 7;
        return at != 77 && (at < 30 || at >= 60 || channel != spoilt);
    };
    for (const Device device : devices_) {
        Tensor placed = weight.to(device);
        if (transposed) placed = weight.permute({0, 2, 1}).to(device).permute({0, 2, 1});
        const Tensor result(rows, type, device);
        if (product == Product::output) {
            const TensorProductMaps maps(source, target, 100, 100);
            tensor_product_with(*row(), from.to(device), placed, maps, result);
        } else {
            const TensorProductMaps maps(target, source, 100, 100);
            tensor_product_backward_data_with(*row(), from.to(device), placed, maps, result);
        }
        const std::vector<double> got = reference::read(result.to(Device::cpu()));
        for (size_t i = 0; i < got.size(); i++) {
            const size_t at = i / channels, channel = i % channels;
            ASSERT_EQ(std::isfinite(got[i]), finite(at, channel))
                << "row " << at << " channel " << channel << ": " << got[i];
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, TensorCores,
                         testing::Combine(testing::Values(Product::output, Product::input_gradient),
                                          testing::Values(DataType::f16, DataType::bf16),
                                          testing::Bool()),
                         [](const auto &info) {
                             std::string name = name_of(std::get<0>(info.param));
                             name.append("_").append(hk::name_of(std::get<1>(info.param)));
                             return name.append(std::get<2>(info.param) ? "_transposed_cuda"
                                                                        : "_cuda");
                         });

}  // namespace
}  // namespace hk::test
