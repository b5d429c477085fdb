// Are blocks and slots what runtime/src/tensor_product/slots.h says: every pair in one slot of its
// offset, in order; rows of the same offsets together.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tensor_product/slots.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using detail::TensorProductSlots;

struct RawMaps {
    int64_t input_rows, output_rows, offsets, length;
    std::vector<int32_t> imap, omap;

    Tensor tensor(const std::vector<int32_t> &map) const {
        return Tensor::borrow(const_cast<int32_t *>(map.data()), DataType::s32, {offsets, length});
    }
    TensorProductSlots slots(int64_t rows, int64_t pairs = 0) const {
        const TensorProductMaps maps(tensor(imap), tensor(omap), input_rows, output_rows);
        return TensorProductSlots("tensor_product",
                                  maps.impl()->pairs(TensorProductMaps::Impl::Direction::forward),
                                  rows, pairs);
    }
};

RawMaps random_maps(const RawMaps &sizes, unsigned seed) {
    std::mt19937 random(seed);
    RawMaps maps = sizes;
    for (int64_t i = 0; i < maps.offsets * maps.length; i++) {
        const auto row = [&](int64_t rows) {
            return static_cast<int32_t>(random() % static_cast<uint64_t>(rows + 1)) - 1;
        };
        maps.imap.push_back(row(maps.input_rows));
        maps.omap.push_back(row(maps.output_rows));
    }
    return maps;
}

using Sums = std::map<int32_t, std::vector<std::pair<int32_t, int32_t>>>;  // row: offset, source

Sums wanted(const RawMaps &maps) {
    Sums sums;
    for (int64_t o = 0; o < maps.output_rows; o++) sums[static_cast<int32_t>(o)];
    for (size_t i = 0; i < maps.imap.size(); i++) {
        if (maps.imap[i] < 0 || maps.omap[i] < 0) continue;
        sums[maps.omap[i]].emplace_back(static_cast<int64_t>(i) / maps.length, maps.imap[i]);
    }
    return sums;
}

Sums found(const RawMaps &maps, const TensorProductSlots &slots, int64_t rows) {
    Sums sums;
    for (int64_t b = 0; b < slots.blocks(); b++) {
        for (int64_t i = 0; i < rows; i++) {
            const int32_t row = slots.row()[b * rows + i];
            if (row < maps.output_rows) {
                EXPECT_FALSE(sums.contains(row));
                sums[row];
            }
            for (int32_t slot = slots.first()[b]; slot < slots.first()[b + 1]; slot++) {
                const int32_t source = slots.source()[slot * rows + i];
                if (source < 0) continue;
                sums[row].emplace_back(slots.offset()[slot], source);
            }
        }
        EXPECT_LE(slots.first()[b + 1] - slots.first()[b], slots.most());
    }
    return sums;
}

TEST(TensorProductSlots, HaveEveryPairInTheOrderOfItsSum) {
    const RawMaps sizes[] = {{5, 7, 3, 20, {}, {}},     {1, 1, 1, 1, {}, {}},
                             {30, 200, 27, 90, {}, {}}, {40, 64, 130, 50, {}, {}},
                             {9, 500, 2, 3, {}, {}},    {4, 3, 5, 200, {}, {}}};
    unsigned seed = 1;
    for (const RawMaps &size : sizes) {
        for (const int64_t rows : {1, 32, 64}) {
            const RawMaps maps = random_maps(size, seed++);
            const TensorProductSlots slots = maps.slots(rows);
            EXPECT_EQ(found(maps, slots, rows), wanted(maps)) << "seed " << seed - 1;
            EXPECT_EQ(slots.first()[slots.blocks()], slots.slots());
        }
    }
}

// The same of tiles, in none of which a row is twice.
Sums found_in_tiles(const RawMaps &maps, const TensorProductSlots &tiles, int64_t rows,
                    int64_t pairs) {
    Sums sums;
    for (int64_t b = 0; b < tiles.blocks(); b++) {
        const int32_t *row = tiles.row() + b * rows;
        for (int64_t i = 0; i < rows; i++) {
            if (row[i] < maps.output_rows) {
                EXPECT_TRUE(sums.try_emplace(row[i]).second);
            }
        }
        for (int32_t tile = tiles.first()[b]; tile < tiles.first()[b + 1]; tile++) {
            std::set<int32_t> there;
            for (int64_t p = tile * pairs; p < (tile + 1) * pairs; p++) {
                const int32_t target = tiles.target()[p], source = tiles.source()[p];
                EXPECT_EQ(target == rows, source < 0);
                if (target == rows) continue;
                EXPECT_TRUE(there.insert(target).second);
                sums[row[target]].emplace_back(tiles.offset()[tile], source);
            }
            EXPECT_FALSE(there.empty());
        }
        EXPECT_LE(tiles.first()[b + 1] - tiles.first()[b], tiles.most());
    }
    return sums;
}

TEST(TensorProductTilesOfSlots, HaveEveryPairInTheOrderOfItsSum) {
    const RawMaps sizes[] = {{5, 7, 3, 20, {}, {}},      {1, 1, 1, 1, {}, {}},
                             {30, 200, 27, 90, {}, {}},  {40, 64, 130, 50, {}, {}},
                             {9, 500, 2, 3, {}, {}},     {4, 3, 5, 200, {}, {}},
                             {90, 40000, 2, 500, {}, {}}};
    unsigned seed = 1;
    for (const RawMaps &size : sizes) {
        for (const auto &[rows, pairs] : {std::pair{32, 8}, {192, 64}, {512, 4}}) {
            const RawMaps maps = random_maps(size, seed++);
            const TensorProductSlots tiles = maps.slots(rows, pairs);
            EXPECT_EQ(found_in_tiles(maps, tiles, rows, pairs), wanted(maps)) << seed - 1;
            EXPECT_EQ(tiles.first()[tiles.blocks()], tiles.slots());
        }
    }
}

// Of few rows a block has fewer than it could.
TEST(TensorProductTilesOfSlots, AreOfEnoughBlocksForAGpu) {
    const auto blocks = [](int64_t rows) {
        return random_maps({1, rows, 1, 1, {}, {}}, 1).slots(192, 64).blocks();
    };
    EXPECT_EQ(blocks(64), 1);
    EXPECT_EQ(blocks(640), 10);
    EXPECT_EQ(blocks(25600), 256);
    EXPECT_EQ(blocks(192000), 1000);
}

// Rows alternate between two sets of four offsets; a block of rows as they stand would have eight.
TEST(TensorProductSlots, AreFewWhereRowsAreAlike) {
    RawMaps maps{128, 128, 8, 64, {}, {}};
    for (int32_t n = 0; n < 8; n++) {
        for (int32_t p = 0; p < 64; p++) {
            maps.imap.push_back(p);
            maps.omap.push_back(2 * p + n % 2);
        }
    }
    const TensorProductSlots slots = maps.slots(64);
    EXPECT_EQ(slots.blocks(), 2);
    EXPECT_EQ(slots.slots(), 8);
    EXPECT_EQ(slots.most(), 4);
}

TEST(TensorProductSlots, AreRefusedWhereAKernelCantCountThem) {
    constexpr int64_t kLength = int64_t{5} << 20;
    RawMaps maps{1, 1, 1, kLength, std::vector<int32_t>(kLength), std::vector<int32_t>(kLength)};
    EXPECT_INVALID("the maps fill 671088640 places of slots, a kernel takes at most 536870911",
                   maps.slots(128));
}

}  // namespace
}  // namespace hk
