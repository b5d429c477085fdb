// Is the algorithm the sum that generators/tensor_product/tensor_product.h states, under each
// schedule, on tiles made by hand.

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "Halide.h"

namespace hk::test {
namespace {

using Halide::Buffer;

constexpr int pairs_of_tile = 3, tiles_of_group = 2, rows_of_block = 4;

// "root", "register_tiles", or "gathered": those, of rows that are gathered first.
Halide::Callable compile(const std::string &name, bool adjacent) {
    const bool gathered = name == "gathered";
    try {
        return Halide::create_callable_from_generator(
            Halide::get_host_target(), "tensor_product",
            {{"type", "float32"},
             {"algorithm", "tiles"},
             {"schedule", gathered ? "register_tiles" : name},
             {"knobs",
              std::string("pairs:3,group:2,rows:4,depth:4") + (gathered ? ",stage:1" : "")},
             {"fix_adjacent", adjacent ? "1" : "0"}});
    } catch (const Halide::Error &error) {
        throw std::runtime_error(error.what());
    }
}

struct Pair {
    int from, to, offset;
};

// Pairs of each block, offsets upwards, with whole tiles of an offset and whole groups of a block.
struct Tiles {
    Tiles(const std::vector<Pair> &pairs, int rows, int offsets) {
        for (int b = 0; b * rows_of_block < rows; b++) {
            const size_t before = offset.size();
            first.push_back(static_cast<int>(before) / tiles_of_group);
            for (int n = 0; n < offsets; n++) {
                for (const Pair &pair : pairs) {
                    if (pair.offset == n && pair.to / rows_of_block == b) add(pair);
                }
                while (source.size() % pairs_of_tile) append(0, rows_of_block);
                offset.resize(source.size() / pairs_of_tile, n);
            }
            while (offset.size() % tiles_of_group) {
                for (int i = 0; i < pairs_of_tile; i++) append(0, rows_of_block);
                offset.push_back(offsets - 1);
            }
            most = std::max(most, static_cast<int>(offset.size() - before) / tiles_of_group);
        }
        first.push_back(static_cast<int>(offset.size()) / tiles_of_group);
    }

    void add(const Pair &pair) { append(pair.from, pair.to % rows_of_block); }
    void append(int from, int to) {
        source.push_back(from);
        target.push_back(to);
    }

    std::vector<int> source, target, offset, first;
    int most = 0;
};

struct Problem {
    int input_rows, output_rows, offsets, channels, width, pairs;
};

class TensorProductTiles : public testing::TestWithParam<const char *> {
protected:
    void check(const Problem &p, bool adjacent, bool accumulate) const {
        std::mt19937 random(static_cast<unsigned>(p.channels * 100 + p.width));
        const auto below = [&](int end) { return static_cast<int>(random() % end); };
        // Channels innermost, or rows.
        const auto tensor = [&](int channels, int rows) {
            Buffer<float> buffer = adjacent ? Buffer<float>(channels, rows)
                                            : Buffer<float>(rows, channels).transposed(0, 1);
            buffer.for_each_value([&](float &value) { value = static_cast<float>(below(7) - 3); });
            return buffer;
        };
        const Buffer<float> input = tensor(p.channels, p.input_rows);
        Buffer<float> weight(p.width, p.channels, p.offsets);
        weight.for_each_value([&](float &value) { value = static_cast<float>(below(7) - 3); });
        Buffer<float> output = tensor(p.width, p.output_rows), wanted = output.copy();
        if (!accumulate) wanted.fill(0);
        std::vector<Pair> pairs;
        for (int i = 0; i < p.pairs; i++) {
            const Pair pair{below(p.input_rows), below(p.output_rows), below(p.offsets)};
            pairs.push_back(pair);
            for (int m = 0; m < p.width; m++) {
                for (int c = 0; c < p.channels; c++)
                    wanted(m, pair.to) += weight(m, c, pair.offset) * input(c, pair.from);
            }
        }
        Tiles tiles(pairs, p.output_rows, p.offsets);
        const auto count = static_cast<int>(tiles.offset.size());
        Buffer<int> source(tiles.source.data(), pairs_of_tile, count);
        Buffer<int> target(tiles.target.data(), pairs_of_tile, count);
        Buffer<int> offset(tiles.offset.data(), count);
        Buffer<int> first(tiles.first.data(), static_cast<int>(tiles.first.size()));
        const Halide::Callable &run = adjacent ? adjacent_ : any_;
        ASSERT_EQ(0, run(input, weight, source, target, offset, first, tiles.most, output,
                         accumulate, output));
        for (int o = 0; o < p.output_rows; o++) {
            for (int m = 0; m < p.width; m++)
                ASSERT_EQ(output(m, o), wanted(m, o)) << "row " << o << " channel " << m;
        }
    }

    const Halide::Callable adjacent_ = compile(GetParam(), true), any_ = compile(GetParam(), false);
};

TEST_P(TensorProductTiles, AreTheSum) {
    for (const Problem &problem :
         {Problem{5, 9, 3, 2, 5, 40}, Problem{1, 1, 1, 1, 1, 1}, Problem{3, 4, 2, 5, 17, 60},
          Problem{20, 30, 4, 33, 40, 25}, Problem{6, 8, 1, 4, 16, 7}}) {
        for (const bool adjacent : {true, false}) {
            for (const bool accumulate : {true, false}) {
                check(problem, adjacent, accumulate);
                if (HasFatalFailure()) return;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, TensorProductTiles,
                         testing::Values("root", "register_tiles", "gathered"),
                         [](const auto &info) { return std::string(info.param); });

}  // namespace
}  // namespace hk::test
