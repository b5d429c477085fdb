// Are the parts of long rows what runtime/src/tensor_product/long_rows.h says: every pair in one
// part or with the other rows, in order; and none where rows are as long as they usually are.

#include "tensor_product/long_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "hk/tensor_product_backward.h"
#include "tests/runtime/opencl_caller.h"

namespace hk {
namespace {

using LongRows = detail::TensorProductLongRows;
using Direction = LongRows::Direction;

template<typename Index>
Tensor tensor_of(const std::vector<int64_t> &values, const Shape &shape, DataType type) {
    const Tensor tensor(shape, type);
    std::copy(values.begin(), values.end(), tensor.data<Index>());
    return tensor;
}

struct Maps {
    std::vector<int64_t> imap, omap, starts;  // padded: no starts
    int64_t offsets, input_rows, output_rows;

    TensorProductMaps make(DataType type = DataType::s32) const {
        const auto places = std::ssize(imap);
        const Shape shape = starts.empty() ? Shape{offsets, places / offsets} : Shape{places};
        const auto map = [&](const std::vector<int64_t> &values) {
            return type == DataType::s64 ? tensor_of<int64_t>(values, shape, type)
                                         : tensor_of<int32_t>(values, shape, type);
        };
        return {
            map(imap), map(omap), input_rows, output_rows,
            starts.empty() ? Tensor() : tensor_of<int64_t>(starts, {offsets + 1}, DataType::s64)};
    }
};

// Offset and source of the pairs of each target row.
using Pairs = std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>>;

template<typename Index>
Pairs pairs_of(const detail::PairMaps &maps) {
    Pairs pairs;
    for (int64_t i = 0; i < maps.lists(); i++) {
        const auto list = detail::pair_list<Index>(maps, i);
        for (int64_t p = 0; p < list.length; p++) {
            if (list.source(p) >= 0 && list.target(p) >= 0)
                pairs[list.target(p)].emplace_back(list.offset, list.source(p));
        }
    }
    return pairs;
}

Pairs pairs_of(const TensorProductMaps &maps, Direction direction) {
    const auto &impl = *maps.impl();
    const detail::PairMaps pairs = impl.pairs(direction);
    return impl.imap.type() == DataType::s64 ? pairs_of<int64_t>(pairs) : pairs_of<int32_t>(pairs);
}

// All pairs, part after part where their row is long.
void expect_split(const TensorProductMaps &maps, const LongRows &rows) {
    const auto [direction, most] = rows.key();
    const int64_t length = std::min(most, LongRows::kPart);
    const Pairs others = pairs_of(rows.others(), direction),
                parts = pairs_of(rows.parts(), direction);
    Pairs wanted_others, wanted_parts;
    int64_t part = -1;
    for (const auto &[row, pairs] : pairs_of(maps, direction)) {
        if (std::ssize(pairs) <= most) {
            wanted_others[row] = pairs;
            continue;
        }
        for (size_t i = 0; i < pairs.size(); i++) {
            if (static_cast<int64_t>(i) % length == 0) part++;
            wanted_parts[part].push_back(pairs[i]);
        }
    }
    EXPECT_EQ(others, wanted_others);
    EXPECT_EQ(parts, wanted_parts);
    EXPECT_EQ(rows.count(), part + 1);
}

TEST(TensorProductLongRows, HaveTheirPairsInParts) {
    for (unsigned seed = 1; seed <= 40; seed++) {
        std::mt19937 random(seed);
        const auto any = [&](int64_t least, int64_t most) {
            return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
        };
        Maps of{{}, {}, {}, any(1, 5), any(1, 9), any(1, 2000)};
        const int64_t length = any(0, 300);
        const bool ragged = seed % 2;
        if (ragged) of.starts.push_back(0);
        for (int64_t n = 0; n < of.offsets; n++) {
            for (int64_t p = ragged ? any(0, length) : 0; p < length; p++) {
                of.imap.push_back(any(-1, of.input_rows - 1));
                of.omap.push_back(any(-1, p % 2 ? 0 : of.output_rows - 1));
            }
            if (ragged) of.starts.push_back(std::ssize(of.imap));
        }
        const TensorProductMaps maps = of.make(seed % 3 ? DataType::s32 : DataType::s64);
        for (const Direction direction : {Direction::forward, Direction::backward}) {
            for (const int64_t most : {1, 7, 60}) {
                SCOPED_TRACE("seed " + std::to_string(seed));
                const LongRows rows(*maps.impl(), {direction, most});
                if (!rows.empty()) expect_split(maps, rows);
            }
        }
    }
}

// One pair decides.
TEST(TensorProductLongRows, BeginAfter32768Pairs) {
    for (const int64_t pairs : {32768, 32769}) {
        Maps of{{}, {}, {0}, 2, 3, 2};
        for (int64_t p = 0; p < pairs; p++) {
            of.imap.push_back(p % 3);
            of.omap.push_back(1);
        }
        of.imap.push_back(2);
        of.omap.push_back(0);
        of.starts.insert(of.starts.end(), {20000, pairs + 1});
        const TensorProductMaps maps = of.make();
        const LongRows rows(*maps.impl(), {Direction::forward, LongRows::kMostPairs}),
            back(*maps.impl(), {Direction::backward, LongRows::kMostPairs});
        EXPECT_EQ(rows.empty(), pairs == 32768);
        EXPECT_TRUE(back.empty());
        if (rows.empty()) continue;
        EXPECT_EQ(rows.count(), 9);
        expect_split(maps, rows);
    }
}

// A kernel map of 27 offsets, and maps of as many pairs of which a block of rows has many.
TEST(TensorProductLongRows, AreNoneOfOrdinaryMaps) {
    constexpr int64_t kRows = 20000;
    Maps kernel{{}, {}, {}, 27, kRows, kRows}, crowded = kernel;
    for (int64_t n = 0; n < 27; n++) {
        for (int64_t row = 0; row < kRows; row++) {
            kernel.imap.push_back((row + n) % kRows);
            kernel.omap.push_back(row);
            crowded.imap.push_back(row % 100);
            crowded.omap.push_back(row % 100);
        }
    }
    for (const Maps &of : {kernel, crowded}) {
        const TensorProductMaps maps = of.make();
        for (const Direction direction : {Direction::forward, Direction::backward}) {
            const LongRows rows(*maps.impl(), {direction, LongRows::kMostPairs});
            EXPECT_TRUE(rows.empty());
            EXPECT_EQ(rows.bytes(), 0u);
        }
    }
}

// Found once, and kept.
TEST(TensorProductLongRows, AreKept) {
    constexpr int64_t kPairs = 100000;
    const TensorProductMaps maps =
        Maps{std::vector<int64_t>(kPairs), std::vector<int64_t>(kPairs), {}, 1, 1, 1}.make();
    const Tensor one = Tensor::zeros({1, 1}, DataType::f32), sum({1, 1}, DataType::f32),
                 weight = Tensor::zeros({1, 1, 1}, DataType::f32);
    tensor_product(one, weight, maps, sum);
    const size_t bytes = maps.bytes(), forms = maps.impl()->forms.size();
    EXPECT_GE(bytes, 4u * 4u * kPairs);  // both maps of the row's parts and of others; tiles
    tensor_product(one, weight, maps, sum);
    EXPECT_EQ(maps.bytes(), bytes);
    EXPECT_EQ(maps.impl()->forms.size(), forms);
}

// What lies in a caller's context comes by way of the host; the call has waited for it all.
TEST(TensorProductLongRowsOnOpenCl, OnTheCallersQueue) {
    if (!Device::opencl(0).available()) GTEST_SKIP() << "no OpenCL device";
    constexpr int64_t kPairs = 1 << 17;
    Maps of{std::vector<int64_t>(kPairs), std::vector<int64_t>(kPairs, 1), {}, 1, 2, 3};
    of.imap.push_back(1);  // to another row
    of.omap.push_back(2);
    const TensorProductMaps maps = of.make();
    tests::Caller caller;
    for (const DataType type : {DataType::f32, DataType::f16}) {
        const auto tensor = [&](const Shape &shape, double value) {
            const Tensor host(shape, DataType::f32);
            host.fill(value);
            return caller.tensor(host.cast(type));
        };
        for (const Summation summation : {Summation::deterministic, Summation::atomic}) {
            const Tensor output = tensor({3, 2}, 512);
            tensor_product(tensor({2, 4}, 1.0 / 512), tensor({1, 4, 2}, 0.25), maps, output,
                           {.summation = summation, .accumulate = true},
                           {caller.context, caller.queue});
            caller.finish(caller.queue);
            const Tensor sums = output.to(Device::cpu()).cast(DataType::f32);
            const auto *sum = sums.data<float>();
            for (int64_t m = 0; m < 2; m++) {
                EXPECT_EQ(sum[m], 512);
                EXPECT_EQ(sum[2 + m], 512 + 256);
                EXPECT_EQ(sum[4 + m], type == DataType::f16 ? 512 : 512 + 1.0 / 512);
            }
        }
    }
}

}  // namespace
}  // namespace hk
