// Rows of a tensor product, and of its input's gradient, that hundreds of thousands of pairs reach:
// their error does not grow with the pairs.

#include "hk/error.h"
#include "hk/tensor_product_backward.h"
#include "tests/kernels/family.h"
#include "tests/kernels/long_sums.h"
#include "tests/support/values.h"
#include "tests/tensor_product/case.h"

namespace hk::test {
namespace {

// Of the sum of magnitudes; headers promise less of products with many channels.
const double kBound = std::ldexp(1, -11);

// So many pairs from a row.
struct From {
    int64_t count, row;
};

// Pairs of one offset that reach row 1 of 3, and one from row 0 to row 2.
struct LongRow {
    Product product;
    bool ragged;
    std::vector<From> pairs;

    // Padded maps have padding between the pairs and after them.
    TensorProductMaps maps(int64_t rows) const {
        std::vector<int32_t> from, to;
        for (const auto &[count, row] : pairs) {
            from.insert(from.end(), static_cast<size_t>(count), static_cast<int32_t>(row));
            to.resize(from.size(), 1);
            if (ragged) continue;
            for (const auto &[source, target] : {std::pair{-1, 1}, {0, -1}, {-1, -1}}) {
                from.push_back(source);
                to.push_back(target);
            }
        }
        from.push_back(0);
        to.push_back(2);
        const auto tensor = [&](const std::vector<int32_t> &map) {
            const auto places = static_cast<int64_t>(map.size());
            const Tensor tensor(ragged ? Shape{places} : Shape{1, places}, DataType::s32);
            std::copy(map.begin(), map.end(), tensor.data<int32_t>());
            return tensor;
        };
        const Tensor source = tensor(from), target = tensor(to);
        Tensor starts;
        if (ragged) starts = host_tensor({2}, DataType::s64, {0, static_cast<double>(from.size())});
        if (product == Product::output) return {source, target, rows, 3, starts};
        return {target, source, 3, rows, starts};
    }

    // Row 1; of the other rows the first channel is checked, to which only that of the terms adds.
    // `row`: null for what selection takes.
    Tensor result(const Tensor &terms, const Tensor &weight, Device device,
                  const TensorProductOptions &options = {}, const KernelInfo *row = nullptr) const {
        const TensorProductMaps maps = this->maps(terms.shape()[0]);
        const bool forward = product == Product::output;
        const Tensor to({3, weight.shape()[forward ? 2 : 1]}, terms.type(), device);
        const Tensor from = terms.to(device), by = weight.to(device);
        if (row) {
            tensor_product_with(*row, from, by, maps, to, options);
        } else if (forward) {
            tensor_product(from, by, maps, to, options);
        } else {
            tensor_product_backward_data(from, by, maps, to, options);
        }
        const double one = reference::read(terms)[0] * reference::read(weight)[0];
        EXPECT_EQ(reference::read(to.slice(0, 0, 1).to(Device::cpu()))[0], 0);
        EXPECT_EQ(reference::read(to.slice(0, 2, 1).to(Device::cpu()))[0], one);
        return to.slice(0, 1, 1).to(Device::cpu());
    }
};

class LongRows : public testing::TestWithParam<std::tuple<Product, DataType, const char *>> {
protected:
    DataType type() const { return std::get<1>(GetParam()); }
    LongRow row(std::vector<From> pairs) const {
        return {std::get<0>(GetParam()), std::get<2>(GetParam()) == std::string("ragged"),
                std::move(pairs)};
    }

    // On all devices, in both modes; `pairs` and `wanted` of a number of pairs.
    template<typename Pairs, typename Wanted>
    void expect_sums(const std::vector<double> &terms, double weight, Pairs pairs,
                     Wanted wanted) const {
        for (const Device device : Device::all()) {
            // A device's simulation takes a few times as long.
            const int64_t count = device.is_cpu() ? int64_t{1} << 22 : 1 << 19;
            for (const Summation summation : {Summation::deterministic, Summation::atomic}) {
                const Tensor sum = row(pairs(count))
                                       .result(host_tensor({std::ssize(terms), 1}, type(), terms),
                                               host_tensor({1, 1, 1}, type(), {weight}), device,
                                               {.summation = summation});
                expect_near(device.name(), sum, {wanted(count)}, kBound + half_ulp(type()));
            }
        }
    }
};

TEST_P(LongRows, KeepTheirDigitsOfEqualTerms) {
    const double term = reference::rounded(type(), 0.1), weight = std::ldexp(1, -10);
    expect_sums(
        {term}, weight,
        [](int64_t count) {
            return std::vector<From>{{count, 0}};
        },
        [&](int64_t count) { return static_cast<double>(count) * term * weight; });
}

// One after the other they are all lost.
TEST_P(LongRows, KeepWhatALargeTermWouldLose) {
    const double large = std::ldexp(1, 12), tiny = 1 / large;
    expect_sums(
        {large, tiny}, tiny,
        [](int64_t count) {
            return std::vector<From>{{1, 0}, {count, 1}};
        },
        [&](int64_t count) { return 1 + static_cast<double>(count) * tiny * tiny; });
}

// Of a part of them alone f16 would be infinite.
TEST_P(LongRows, MayHaveLargePartsThatCancel) {
    constexpr int64_t kTerms = 100000;
    for (const Device device : Device::all()) {
        const LongRow row = this->row({{kTerms, 0}, {kTerms - 1, 1}});
        const Tensor terms = host_tensor({2, 1}, type(), {20, -20}),
                     one = host_tensor({1, 1, 1}, type(), {1});
        EXPECT_EQ(reference::read(row.result(terms, one, device)), std::vector<double>{20});
    }
}

// All pairs together are several ulps of what the row holds, those of a part less than half of one.
TEST_P(LongRows, AreRoundedOnce) {
    constexpr int64_t kTerms = 65536;
    const bool bf16 = type() == DataType::bf16;
    const double before = bf16 ? 1 << 17 : 1 << 15, term = std::ldexp(1, bf16 ? -4 : -9);
    const LongRow long_row = row({{kTerms, 0}});
    for (const Device device : Device::all()) {
        const TensorProductMaps maps = long_row.maps(1);
        const Tensor sums = host_tensor({3, 1}, type(), {before, before, 0}).to(device),
                     terms = host_tensor({1, 1}, type(), {term}).to(device),
                     one = host_tensor({1, 1, 1}, type(), {1}).to(device);
        const TensorProductOptions options{.accumulate = true};
        if (long_row.product == Product::output) {
            tensor_product(terms, one, maps, sums, options);
        } else {
            tensor_product_backward_data(terms, one, maps, sums, options);
        }
        EXPECT_EQ(reference::read(sums.to(Device::cpu())),
                  (std::vector<double>{before, before + kTerms * term, term}));
    }
}

INSTANTIATE_TEST_SUITE_P(All, LongRows,
                         testing::Combine(testing::Values(Product::output, Product::input_gradient),
                                          testing::Values(DataType::f32, DataType::f16,
                                                          DataType::bf16),
                                          testing::Values("padded", "ragged")),
                         parameter_name);

// Whole numbers, with groups, views and results that are added to.
TEST(LongRowsOfAnyForm, AreTheReference) {
    const Placement placements[] = {Placement::packed, Placement::steps, Placement::margins,
                                    Placement::reversed};
    for (const Device device : Device::all()) {
        for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
            for (uint64_t seed = 1; seed <= 4; seed++) {
                TensorProductCase c{.seed = seed, .type = type};
                c.product = seed % 2 ? Product::output : Product::input_gradient;
                (seed % 2 ? c.input_rows : c.output_rows) = 20;
                c.index_type = seed < 3 ? DataType::s32 : DataType::s64;
                c.offsets = 6;
                c.length = 25000;
                c.input_channels = 3;
                c.output_channels = 2;
                c.groups = 1 + static_cast<int64_t>(seed % 2);
                c.ragged = seed > 2;
                c.accumulate = seed > 1;
                c.summation = seed < 3 ? Summation::atomic : Summation::deterministic;
                c.input = placements[seed % 4];
                c.output = placements[(seed + 1) % 4];
                c.maps = placements[(seed + 2) % 4];
                if (check(c, device) != Outcome::passed) return;
            }
        }
    }
}

std::vector<KernelInfo> all_rows() {
    std::vector<KernelInfo> rows;
    for (const auto &kernels : {tensor_product_kernels(), tensor_product_stationary_kernels(),
                                tensor_product_atomic_kernels()}) {
        for (const KernelInfo &row : kernels)
            if (row.device != DeviceType::cuda && row.type != DataType::f64) rows.push_back(row);
    }
    return rows;
}

class LongRowsOf : public testing::TestWithParam<KernelInfo> {};
TEST_P(LongRowsOf, KeepWhatALargeTermWouldLose) {
    constexpr int64_t kSmall = 1 << 17;
    const KernelInfo &row = GetParam();
    const double large = std::ldexp(1, 12), tiny = 1 / large;
    for (const Device device : devices_of(row.device)) {
        bool taken = false;
        for (const int64_t channels : {3, 16, 32, 64, 128}) {
            // Of the first channel, for all of the output.
            std::vector<double> terms(static_cast<size_t>(2 * channels)),
                weights(static_cast<size_t>(channels * channels));
            terms[0] = large;
            terms[static_cast<size_t>(channels)] = tiny;
            std::fill_n(weights.begin(), channels, tiny);
            try {
                const Tensor sums = LongRow{Product::output, true, {{1, 0}, {kSmall, 1}}}.result(
                    host_tensor({2, channels}, row.type, terms),
                    host_tensor({1, channels, channels}, row.type, weights), device, {}, &row);
                expect_near(
                    row.name, sums,
                    std::vector<double>(static_cast<size_t>(channels), 1 + kSmall * tiny * tiny),
                    kBound + half_ulp(row.type));
                taken = true;
                break;
            } catch (const InvalidArgument &) {  // the row is for other numbers of channels
            }
        }
        EXPECT_TRUE(taken) << row.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Table, LongRowsOf, testing::ValuesIn(all_rows()), parameter_name);

// The last channel is of a second call, in which atomic kernels go on from the sums of the first.
TEST(LongRowsOfManyChannels, KeepWhatALargeTermWouldLose) {
    constexpr int64_t kChannels = 7200, kSmall = 17000;
    const double large = std::ldexp(1, 12), tiny = 1 / large;
    std::vector<double> terms(2 * kChannels), weights(kChannels);
    terms[0] = large;
    terms[kChannels] = terms[2 * kChannels - 1] = weights.front() = weights.back() = tiny;
    for (const Device device : devices_of(DeviceType::opencl)) {
        const Tensor sum = LongRow{Product::output, false, {{1, 0}, {kSmall, 1}}}.result(
            host_tensor({2, kChannels}, DataType::f32, terms),
            host_tensor({1, kChannels, 1}, DataType::f32, weights), device,
            {.summation = Summation::atomic});
        expect_near(device.name(), sum, {1 + 2 * kSmall * tiny * tiny}, kBound);
    }
}

}  // namespace
}  // namespace hk::test
