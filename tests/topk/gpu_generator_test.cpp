// Are the algorithms of the steps of a top-k on a GPU what their headers say, under the root
// schedule, on small rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "Halide.h"

namespace hk::test {
namespace {

using Halide::Buffer;

constexpr int kPadding = std::numeric_limits<int32_t>::max();

Halide::Callable compile(const std::string &family, std::map<std::string, std::string> parameters) {
    try {
        return Halide::create_callable_from_generator(Halide::get_host_target(), family,
                                                      {parameters.begin(), parameters.end()});
    } catch (const Halide::Error &error) {
        throw std::runtime_error(error.what());
    }
}

// Items in lists, [place, list, x, y].
struct Lists {
    Lists(int places, int lists, int rows)
        : keys(places, lists, rows, 1), indices(places, lists, rows, 1) {
        keys.fill(12345);
        indices.fill(-12345);
    }

    Buffer<uint32_t> keys;
    Buffer<int32_t> indices;
};

struct Item {
    uint32_t key;
    int32_t index;

    bool operator==(const Item &) const = default;
    bool operator<(const Item &other) const {  // in the order of results
        return key != other.key ? key > other.key : index < other.index;
    }
};

void PrintTo(const Item &item, std::ostream *out) { *out << item.key << " at " << item.index; }

std::vector<Item> list_of(const Lists &lists, int list, int row) {
    std::vector<Item> items;
    for (int i = 0; i < lists.keys.dim(0).extent(); i++)
        items.push_back({lists.keys(i, list, row, 0), lists.indices(i, list, row, 0)});
    return items;
}

// The first of them in order, padding after the last.
std::vector<Item> best(std::vector<Item> items, size_t count) {
    std::stable_sort(items.begin(), items.end());
    items.resize(count, Item{0, kPadding});
    return items;
}

Buffer<uint8_t> random_rows(int columns, int rows, std::mt19937 &random) {
    Buffer<uint8_t> input(columns, rows, 1);
    input.for_each_value([&](uint8_t &value) { value = static_cast<uint8_t>(random() % 8); });
    return input;
}

// Unsigned bytes, the largest first: keys are the elements.
class Tiles {
public:
    explicit Tiles(int tile)
        : tile_(tile),
          with_indices_(compile("topk_tiles", parameters(1))),
          keys_alone_(compile("topk_tiles", parameters(0))) {}

    // All items of each tile, `items` of a row.
    Lists operator()(Buffer<uint8_t> input, Buffer<int32_t> list, int items, int stride, int chunk,
                     bool gather) const {
        Lists lists(tile_, (items + tile_ - 1) / tile_, input.dim(1).extent());
        Lists alone(tile_, lists.keys.dim(1).extent(), input.dim(1).extent());
        const uint64_t none = 0;
        EXPECT_EQ(0, with_indices_(input, list, stride, chunk, gather, false, none, none, none,
                                   lists.keys, lists.indices));
        EXPECT_EQ(0, keys_alone_(input, list, stride, chunk, gather, false, none, none, none,
                                 alone.keys));
        EXPECT_TRUE(std::equal(lists.keys.begin(), lists.keys.end(), alone.keys.begin()));
        return lists;
    }

private:
    const int tile_;
    const Halide::Callable with_indices_, keys_alone_;

    std::map<std::string, std::string> parameters(int indices) const {
        return {{"algorithm", "bitonic"},
                {"type", "uint8"},
                {"knobs", "tile:" + std::to_string(tile_)},
                {"fix_indices", std::to_string(indices)}};
    }
};

class TopKTiles : public testing::TestWithParam<int> {};

TEST_P(TopKTiles, AreSorted) {
    std::mt19937 random(1);
    const int tile = GetParam(), rows = 2;
    const Tiles tiles(tile);
    for (const int columns : {1, 7, tile - 1, tile, tile + 1, 3 * tile + 5}) {
        const Buffer<uint8_t> input = random_rows(columns, rows, random);
        Buffer<int32_t> list(1, rows, 1);
        list.fill(0);
        const Lists lists = tiles(input, list, columns, columns, 1, false);
        for (int row = 0; row < rows; row++) {
            for (int t = 0; t < lists.keys.dim(1).extent(); t++) {
                std::vector<Item> items;
                for (int i = t * tile; i < std::min((t + 1) * tile, columns); i++)
                    items.push_back({input(i, row, 0), i});
                EXPECT_EQ(best(items, tile), list_of(lists, t, row)) << columns << " columns";
            }
        }
    }
}

TEST_P(TopKTiles, HaveTheBestOfColumns) {
    std::mt19937 random(2);
    const int tile = GetParam(), columns = 5 * tile + 3;
    const Tiles tiles(tile);
    const Buffer<uint8_t> input = random_rows(columns, 1, random);
    Buffer<int32_t> list(1, 1, 1);
    list.fill(0);
    for (const int stride : {3, tile, tile + 9, 4 * tile}) {
        const int chunk = (columns + stride - 1) / stride;
        const Lists lists = tiles(input, list, stride, stride, chunk, false);
        for (int t = 0; t < lists.keys.dim(1).extent(); t++) {
            std::vector<Item> items;
            for (int i = t * tile; i < std::min((t + 1) * tile, stride); i++) {
                std::vector<Item> column;
                for (int e = i; e < columns; e += stride) column.push_back({input(e, 0, 0), e});
                items.push_back(best(column, 1)[0]);
            }
            EXPECT_EQ(best(items, tile), list_of(lists, t, 0)) << "stride " << stride;
        }
    }
}

// Columns by any of their elements, one that is padding, and past the row's end.
TEST_P(TopKTiles, GatherColumns) {
    std::mt19937 random(3);
    const int tile = GetParam(), columns = 3 * tile + 1;
    const Tiles tiles(tile);
    const Buffer<uint8_t> input = random_rows(columns, 1, random);
    for (const int stride : {5, tile, columns}) {
        const int chunk = (columns + stride - 1) / stride;
        Buffer<int32_t> list(5, 1, 1);
        const int listed[] = {stride + 1, 0, kPadding, 4, 2 * stride + 3};
        std::copy(std::begin(listed), std::end(listed), list.begin());
        const Lists lists = tiles(input, list, 5 * chunk, stride, chunk, true);
        std::vector<Item> wanted, found;
        for (const int entry : listed) {
            if (entry >= columns) continue;
            for (int e = entry % stride; e < columns; e += stride)
                wanted.push_back({input(e, 0, 0), e});
        }
        for (int t = 0; t < lists.keys.dim(1).extent(); t++) {
            const std::vector<Item> of_tile = list_of(lists, t, 0);
            EXPECT_TRUE(std::is_sorted(of_tile.begin(), of_tile.end()));
            found.insert(found.end(), of_tile.begin(), of_tile.end());
        }
        EXPECT_EQ(best(wanted, found.size()), best(found, found.size())) << "stride " << stride;
    }
}

INSTANTIATE_TEST_SUITE_P(All, TopKTiles, testing::Values(8, 16, 32, 64, 128),
                         [](const auto &info) { return std::to_string(info.param); });

// Lists as tiles leave them: sorted, indices of one below those of the next, the last one padded.
Lists sorted_lists(int places, int lists, int missing, std::mt19937 &random) {
    Lists result(places, lists, 1);
    for (int l = 0; l < lists; l++) {
        std::vector<Item> items;
        for (int i = 0; i < places - (l + 1 == lists ? missing : 0); i++)
            items.push_back({static_cast<uint32_t>(random() % 4), l * places + i});
        items = best(items, places);
        for (int i = 0; i < places; i++) {
            result.keys(i, l, 0, 0) = items[i].key;
            result.indices(i, l, 0, 0) = items[i].index;
        }
    }
    return result;
}

TEST(TopKMerge, KeepsTheBestOfTwoLists) {
    std::mt19937 random(4);
    const Halide::Callable with_indices =
        compile("topk_merge", {{"algorithm", "merge_path"}, {"fix_indices", "1"}});
    const Halide::Callable keys_alone =
        compile("topk_merge", {{"algorithm", "merge_path"}, {"fix_indices", "0"}});
    for (const int places : {1, 2, 7, 16, 33}) {
        for (const int lists : {1, 2, 3, 6, 7}) {
            for (const int kept : {1, places, places + 1, 2 * places}) {
                const Lists in = sorted_lists(places, lists, places / 2, random);
                Lists out(kept, (lists + 1) / 2, 1), alone(kept, (lists + 1) / 2, 1);
                int halvings = 0;
                while ((1 << halvings) <= places) halvings++;
                EXPECT_EQ(0, with_indices(in.keys, in.indices, halvings, out.keys, out.indices));
                EXPECT_EQ(0, keys_alone(in.keys, halvings, alone.keys));
                EXPECT_TRUE(std::equal(out.keys.begin(), out.keys.end(), alone.keys.begin()));
                for (int l = 0; l < out.keys.dim(1).extent(); l++) {
                    std::vector<Item> items = list_of(in, 2 * l, 0);
                    if (2 * l + 1 < lists) {
                        const std::vector<Item> next = list_of(in, 2 * l + 1, 0);
                        items.insert(items.end(), next.begin(), next.end());
                    }
                    EXPECT_EQ(best(items, kept), list_of(out, l, 0))
                        << lists << " lists of " << places << ", " << kept << " kept";
                }
            }
        }
    }
}

// Floats, the smallest first: the bits of a key's element.
TEST(TopKUnpack, DecodesKeys) {
    const Halide::Callable values =
        compile("topk_unpack", {{"algorithm", "values"}, {"type", "uint16"}});
    const uint64_t flip = 0x7fff, infinity = 0x7c00, nan = 0x7e00;
    Buffer<uint32_t> keys(4, 1, 1);
    // -1 is 0xbc00, as a signed integer that counts on from zero 0x8000 - 0xbc00 = 0xc400; a NaN
    // 0x7fff.
    const uint32_t of[] = {0xc400 ^ flip, 0x0000 ^ flip, 0x3c00 ^ flip, 0x7fff ^ flip};
    std::copy(std::begin(of), std::end(of), keys.begin());
    Buffer<uint16_t> output(4, 1, 1);
    EXPECT_EQ(0, values(keys, true, flip, infinity, nan, output));
    const std::vector<uint16_t> wanted = {0xbc00, 0, 0x3c00, 0x7e00};
    EXPECT_EQ(wanted, std::vector<uint16_t>(output.begin(), output.end()));
}

TEST(TopKUnpack, WidensIndices) {
    const Halide::Callable indices = compile("topk_unpack", {{"algorithm", "indices"}});
    Buffer<int32_t> items(3, 2, 1);
    std::iota(items.begin(), items.end(), 70);
    const uint64_t none = 0;
    for (const int words : {1, 2}) {
        Buffer<int32_t> output(words, 3, 2, 1);
        output.fill(-1);
        EXPECT_EQ(0, indices(items, false, none, none, none, output));
        for (int row = 0; row < 2; row++) {
            for (int i = 0; i < 3; i++) {
                EXPECT_EQ(items(i, row, 0), output(0, i, row, 0));
                if (words == 2) {
                    EXPECT_EQ(0, output(1, i, row, 0));
                }
            }
        }
    }
}

}  // namespace
}  // namespace hk::test
