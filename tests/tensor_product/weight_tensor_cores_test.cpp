// Rows of tensor cores of the gradient of the weight: whole vectors of channels, wherever they lie,
// and any number of pairs.

#include <cmath>
#include <cstring>
#include <string_view>

#include "tests/kernels/family.h"
#include "tests/kernels/long_sums.h"
#include "tests/support/values.h"
#include "tests/tensor_product/case.h"

namespace hk::test {
namespace {

const KernelInfo *weight_row(DataType type, std::string_view name) {
    for (const KernelInfo &row : tensor_product_backward_weight_kernels())
        if (row.device == DeviceType::cuda && row.type == type && row.row == name) return &row;
    return nullptr;
}

class WeightTensorCores : public testing::TestWithParam<DataType> {
protected:
    void SetUp() override {
        devices_ = devices_of(DeviceType::cuda);
        if (devices_.empty()) GTEST_SKIP() << "no CUDA device is here";
        for (const char *name : {"matrices_32", "matrices_64", "matrices"})
            ASSERT_TRUE(weight_row(GetParam(), name)) << name;
    }

    // The row that selection takes.
    static const KernelInfo *row_for(int64_t input, int64_t output) {
        return weight_row(GetParam(), input <= 32 && output <= 32 ? "matrices_32"
                                      : input <= 64               ? "matrices_64"
                                                                  : "matrices");
    }
    static TensorProductCase made(int64_t input, int64_t output, int64_t groups = 1) {
        TensorProductCase c{.seed = static_cast<uint64_t>(1000 * input + output),
                            .type = GetParam()};
        c.product = Product::weight_gradient;
        c.input_rows = 90;
        c.output_rows = 70;
        c.offsets = 3;
        c.length = 75;
        c.input_channels = input;
        c.output_channels = output;
        c.groups = groups;
        c.input = c.weight = c.output = Placement::aligned;
        return c;
    }
    // By the row itself, by the one that takes any vectors, and by selection.
    void expect_passed(const TensorProductCase &c) const {
        const KernelInfo *rows[] = {row_for(c.input_channels, c.output_channels),
                                    weight_row(GetParam(), "matrices"), nullptr};
        for (const Device device : devices_)
            for (const KernelInfo *row : rows) ASSERT_EQ(check(c, device, row), Outcome::passed);
    }

    // Pair p of an offset is from row source(p) to row target(p).
    template<typename Source, typename Target>
    static TensorProductMaps maps_of(int64_t offsets, int64_t pairs, const Source &source,
                                     const Target &target, int64_t input_rows,
                                     int64_t output_rows) {
        const Tensor imap({offsets, pairs}, DataType::s32), omap({offsets, pairs}, DataType::s32);
        for (int64_t i = 0; i < offsets * pairs; i++) {
            imap.data<int32_t>()[i] = static_cast<int32_t>(source(i));
            omap.data<int32_t>()[i] = static_cast<int32_t>(target(i));
        }
        return {imap, omap, input_rows, output_rows};
    }
    static Tensor values_of(const Shape &shape, uint64_t seed) {
        Random random(seed);
        return host_tensor(shape, GetParam(), reals(random, shape));
    }
    // As 16 bits each.
    static std::vector<uint16_t> bits_of(const Tensor &tensor) {
        const Tensor host = tensor.to(Device::cpu());
        std::vector<uint16_t> bits(static_cast<size_t>(host.elements()));
        std::memcpy(bits.data(), host.data<uint16_t>(), 2 * bits.size());
        return bits;
    }

    std::vector<Device> devices_;
};

TEST_P(WeightTensorCores, TakeEveryNumberOfVectors) {
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

TEST_P(WeightTensorCores, TakeGroups) {
    for (const bool accumulate : {false, true}) {
        for (const int64_t channels : {24, 40, 72}) {
            TensorProductCase c = made(channels, 72, 3);
            c.accumulate = accumulate;
            ASSERT_NO_FATAL_FAILURE(expect_passed(c));
        }
    }
}

// Offsets of no pairs, of one, of a step and one more or less; rows that many pairs gather.
TEST_P(WeightTensorCores, TakeEveryKindOfMap) {
    for (const Pairs pairs : {Pairs::random, Pairs::sorted, Pairs::one_output, Pairs::empty}) {
        for (const int64_t length : {1, 31, 32, 33, 64, 130}) {
            TensorProductCase c = made(16, 24);
            c.pairs = pairs;
            c.length = length;
            c.accumulate = length % 2 == 0;
            c.ragged = length % 3 == 0;
            c.offsets = 27;
            ASSERT_NO_FATAL_FAILURE(expect_passed(c));
        }
    }
}

// More pairs than a slice has, and slices than memory is for.
TEST_P(WeightTensorCores, TakeLongSums) {
    constexpr int64_t kPairs = 9001;
    for (const auto &[channels, offsets] : {std::pair{8, 2}, {72, 1}}) {
        const TensorProductMaps maps = maps_of(
            offsets, kPairs, [](int64_t i) { return i % 7; }, [](int64_t i) { return i % 5; }, 7,
            5);
        const Tensor ones = host_tensor({7, channels}, GetParam(),
                                        std::vector<double>(static_cast<size_t>(7 * channels), 1)),
                     tiny = host_tensor({5, channels}, GetParam(),
                                        std::vector<double>(static_cast<size_t>(5 * channels),
                                                            reference::rounded(GetParam(), 0.1)));
        const double wanted = kPairs * reference::rounded(GetParam(), 0.1);
        for (const Device device : devices_) {
            const Tensor result({offsets, channels, channels}, GetParam(), device);
            tensor_product_backward_weight_with(*row_for(channels, channels), ones.to(device),
                                                tiny.to(device), maps, result);
            expect_near(
                device.name(), result,
                std::vector<double>(static_cast<size_t>(result.elements()), wanted),
                std::ldexp(1, GetParam() == DataType::bf16 ? -8 : -11) + half_ulp(GetParam()));
        }
    }
}

TEST_P(WeightTensorCores, GiveTheSameBitsEachTime) {
    const Tensor input = values_of({300, 72}, 1), gradient = values_of({300, 136}, 2);
    const TensorProductMaps maps = maps_of(
        3, 901, [](int64_t i) { return i * 7 % 300; }, [](int64_t i) { return i * 11 % 300; }, 300,
        300);
    for (const Device device : devices_) {
        std::vector<std::vector<uint16_t>> bits;
        for (int turn = 0; turn < 3; turn++) {
            const Tensor result({3, 72, 136}, GetParam(), device);
            tensor_product_backward_weight(input.to(device), gradient.to(device), maps, result);
            bits.push_back(bits_of(result));
        }
        EXPECT_EQ(bits[0], bits[1]);
        EXPECT_EQ(bits[0], bits[2]);
    }
}

// Channels of either may be next to each other in the result.
TEST_P(WeightTensorCores, TakeAResultThatIsTurned) {
    const Tensor input = values_of({90, 40}, 3), gradient = values_of({90, 72}, 4);
    const TensorProductMaps maps = maps_of(
        3, 77, [](int64_t i) { return i % 90; }, [](int64_t i) { return i * 7 % 90; }, 90, 90);
    for (const Device device : devices_) {
        const Tensor plain({3, 40, 72}, GetParam(), device),
            turned = Tensor({3, 72, 40}, GetParam(), device).permute({0, 2, 1});
        for (const Tensor &result : {plain, turned})
            tensor_product_backward_weight_with(*row_for(40, 72), input.to(device),
                                                gradient.to(device), maps, result);
        EXPECT_EQ(bits_of(plain), bits_of(turned));
    }
}

// Other rows take them.
TEST_P(WeightTensorCores, LeaveOutWhatIsInNoVectors) {
    for (Placement TensorProductCase::*operand :
         {&TensorProductCase::input, &TensorProductCase::weight, &TensorProductCase::output}) {
        for (const Placement placement :
             {Placement::margins, Placement::reversed, Placement::permuted}) {
            TensorProductCase c = made(16, 24);
            c.*operand = placement;
            for (const Device device : devices_) {
                EXPECT_EQ(check(c, device, row_for(16, 24)), Outcome::refused) << to_string(c);
                EXPECT_EQ(check(c, device), Outcome::passed);
            }
        }
    }
    for (const Device device : devices_) {
        for (const auto &[input, output] : {std::pair{12, 24}, {16, 20}, {4, 8}}) {
            EXPECT_EQ(check(made(input, output), device, weight_row(GetParam(), "matrices")),
                      Outcome::refused);
            EXPECT_EQ(check(made(input, output), device), Outcome::passed);
        }
    }
}

TEST_P(WeightTensorCores, AreSelected) {
    const auto selected = [&](int64_t input, int64_t output, bool aligned, bool transposed,
                              DataType type) {
        TensorProductProblem problem = TensorProductProblem::from_shapes(
            {1000, input}, {27, input, output}, 9000, {1000, output}, type);
        problem.aligned = aligned;
        problem.transposed = transposed;
        const DeviceLimits limits = devices_.front().limits();
        return std::string(
            select_tensor_product_backward_weight(problem, DeviceType::cuda, limits).kernel->row);
    };
    for (const bool transposed : {false, true}) {
        EXPECT_EQ(selected(8, 32, true, transposed, GetParam()), "matrices_32");
        EXPECT_EQ(selected(32, 64, true, transposed, GetParam()), "matrices_64");
        EXPECT_EQ(selected(64, 256, true, transposed, GetParam()), "matrices_64");
        EXPECT_EQ(selected(72, 8, true, transposed, GetParam()), "matrices");
        EXPECT_EQ(selected(64, 64, false, transposed, GetParam()), "staged");
        EXPECT_EQ(selected(60, 64, true, transposed, GetParam()), "staged");
        EXPECT_EQ(selected(64, 64, true, transposed, DataType::f32), "vectors");
    }
}

// What is not finite reaches no sum but those of its pairs: neither rows that no pair has, nor
// those of the next offset, which follow those of a slice that ends within a step.
TEST_P(WeightTensorCores, KeepWhatIsNotFiniteInTheOffsetsOfItsPairs) {
    constexpr int64_t kPairs = 37, kOffsets = 4, kRows = kPairs * kOffsets + 1;
    for (const int64_t channels : {24, 64, 72}) {
        // Offset n has the rows from 37 n on: those of offset 1 are not finite, nor is the last,
        // which no pair has, and the first, which is padding's.
        std::vector<double> values(static_cast<size_t>(kRows * channels), 1);
        for (int64_t row = 0; row < kRows; row++) {
            if (row / kPairs != 1 && row != kRows - 1) continue;
            for (int64_t c = 0; c < channels; c++)
                values[static_cast<size_t>(row * channels + c)] = row % 2 ? INFINITY : NAN;
        }
        const Tensor rows = host_tensor({kRows, channels}, GetParam(), values);
        const auto same = [](int64_t i) { return i; };
        const TensorProductMaps maps = maps_of(kOffsets, kPairs, same, same, kRows, kRows);
        for (const Device device : devices_) {
            const Tensor result({kOffsets, channels, channels}, GetParam(), device);
            tensor_product_backward_weight_with(*row_for(channels, channels), rows.to(device),
                                                rows.to(device), maps, result);
            const std::vector<double> got = reference::read(result.to(Device::cpu()));
            for (size_t i = 0; i < got.size(); i++) {
                const auto offset = static_cast<int64_t>(i) / (channels * channels);
                if (offset == 1)
                    ASSERT_FALSE(std::isfinite(got[i])) << i;
                else
                    ASSERT_EQ(got[i], kPairs) << i;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, WeightTensorCores, testing::Values(DataType::f16, DataType::bf16),
                         [](const auto &info) {
                             return std::string(hk::name_of(info.param)) + "_cuda";
                         });

}  // namespace
}  // namespace hk::test
