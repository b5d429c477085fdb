// Are the algorithms of a tensor product on a GPU what their headers say, under the root schedule,
// on blocks and tiles made by hand.

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <stdexcept>

#include "Halide.h"

namespace hk::test {
namespace {

using Halide::Buffer;

constexpr int kRows = 4;  // of a block; pairs of a tile

Halide::Callable compile(const std::string &family, const std::string &algorithm) {
    try {
        return Halide::create_callable_from_generator(Halide::get_host_target(), family,
                                                      {{"algorithm", algorithm},
                                                       {"type", "float32"},
                                                       {"schedule", "root"},
                                                       {"knobs",
                                                        "tile_k:8,threads_k:8,tile_x:4,"
                                                        "threads_x:4,tile_c:2"}});
    } catch (const Halide::Error &error) {
        throw std::runtime_error(error.what());
    }
}

struct Pair {
    int from, to, offset;
};

struct Problem {
    int input_rows, output_rows, offsets, groups, channels, width, pairs;
};

class TensorProductOnGpu : public testing::TestWithParam<bool> {  // accumulate
protected:
    explicit TensorProductOnGpu() = default;

    void make(const Problem &p) {
        random_.seed(static_cast<unsigned>(p.channels * 100 + p.width));
        input = Buffer<float>(p.channels, p.groups, p.input_rows);
        weight = Buffer<float>(p.width, p.groups, p.channels, p.offsets);
        output = Buffer<float>(p.width, p.groups, p.output_rows);
        for (Buffer<float> *buffer : {&input, &weight, &output})
            buffer->for_each_value([&](float &value) { value = static_cast<float>(below(7) - 3); });
        wanted = output.copy();
        if (!GetParam()) wanted.fill(0);
        pairs.clear();
        for (int i = 0; i < p.pairs; i++) {
            pairs.push_back({below(p.input_rows), below(p.output_rows), below(p.offsets)});
            const auto &[from, to, offset] = pairs.back();
            for (int g = 0; g < p.groups; g++) {
                for (int m = 0; m < p.width; m++) {
                    for (int c = 0; c < p.channels; c++)
                        wanted(m, g, to) += weight(m, g, c, offset) * input(c, g, from);
                }
            }
        }
    }

    void compare() const {
        wanted.for_each_element([&](int m, int g, int o) {
            ASSERT_EQ(output(m, g, o), wanted(m, g, o))
                << "channel " << m << " group " << g << " row " << o;
        });
    }

    int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

    const Problem problems_[5] = {{5, 9, 3, 1, 2, 5, 40},
                                  {1, 1, 1, 1, 1, 1, 1},
                                  {3, 4, 2, 2, 5, 17, 60},
                                  {20, 30, 4, 3, 33, 9, 25},
                                  {6, 8, 1, 1, 4, 16, 7}};
    std::mt19937 random_;
    Buffer<float> input, weight, output, wanted;
    std::vector<Pair> pairs;
};

// Rows of a block a prime apart, slots of a block in the order of the pairs, the last block with
// places for no row.
TEST_P(TensorProductOnGpu, IsTheSumOfSlots) {
    const Halide::Callable run = compile("tensor_product_stationary", "slots");
    for (const Problem &p : problems_) {
        make(p);
        const int blocks = (p.output_rows + kRows - 1) / kRows;
        std::vector<int> row(static_cast<size_t>(blocks * kRows), p.output_rows), source, offset,
            first{0};
        int most = 0;
        const int step = p.output_rows % 7 ? 7 : 1;
        for (int o = 0; o < p.output_rows; o++)
            row[static_cast<size_t>(o)] = o * step % p.output_rows;
        for (int b = 0; b < blocks; b++) {
            for (const Pair &pair : pairs) {
                for (int i = 0; i < kRows; i++) {
                    if (row[static_cast<size_t>(b * kRows + i)] != pair.to) continue;
                    source.insert(source.end(), kRows, -1);
                    source[source.size() - static_cast<size_t>(kRows - i)] = pair.from;
                    offset.push_back(pair.offset);
                }
            }
            most = std::max(most, static_cast<int>(offset.size()) - first.back());
            first.push_back(static_cast<int>(offset.size()));
        }
        ASSERT_EQ(0, run(input, weight,
                         Buffer<int>(source.data(), kRows, static_cast<int>(offset.size())),
                         Buffer<int>(offset.data(), static_cast<int>(offset.size())),
                         Buffer<int>(first.data(), blocks + 1),
                         Buffer<int>(row.data(), kRows, blocks), most, output, GetParam(), output));
        compare();
        if (HasFatalFailure()) return;
    }
}

TEST_P(TensorProductOnGpu, IsTheSumOfTiles) {
    const Halide::Callable run = compile("tensor_product_atomic", "tiles");
    for (const Problem &p : problems_) {
        make(p);
        std::vector<int> source, target, offset;
        for (int n = 0; n < p.offsets; n++) {
            for (const Pair &pair : pairs) {
                if (pair.offset != n) continue;
                source.push_back(pair.from);
                target.push_back(pair.to);
            }
            while (source.size() % kRows) {
                source.push_back(0);
                target.push_back(p.output_rows);
            }
            offset.resize(source.size() / kRows, n);
        }
        const auto tiles = static_cast<int>(offset.size());
        ASSERT_EQ(0, run(input, weight, Buffer<int>(source.data(), kRows, tiles),
                         Buffer<int>(target.data(), kRows, tiles),
                         Buffer<int>(offset.data(), tiles), output, GetParam(), output));
        compare();
        if (HasFatalFailure()) return;
    }
}

// What a place without a pair gathers, and a weight that is not finite of an offset that a row has
// not, are in no sum.
TEST(TensorProductOfSlots, LeavesOutWhatIsNotFinite) {
    const Halide::Callable run = compile("tensor_product_stationary", "slots");
    Buffer<float> input(1, 1, 2), weight(1, 1, 1, 2), output(1, 1, kRows);
    input(0, 0, 0) = std::numeric_limits<float>::quiet_NaN();
    input(0, 0, 1) = 3;
    weight(0, 0, 0, 0) = 2;
    weight(0, 0, 0, 1) = std::numeric_limits<float>::infinity();
    int source[] = {1, 0, -1, 1, -1, -1, -1, 1}, offset[] = {0, 1}, first[] = {0, 2},
        row[] = {0, 1, 2, 3};
    ASSERT_EQ(0, run(input, weight, Buffer<int>(source, kRows, 2), Buffer<int>(offset, 2),
                     Buffer<int>(first, 2), Buffer<int>(row, kRows, 1), 2, output, false, output));
    EXPECT_EQ(output(0, 0, 0), 6);
    EXPECT_NE(output(0, 0, 1), output(0, 0, 1));
    EXPECT_EQ(output(0, 0, 2), 0);
    EXPECT_EQ(output(0, 0, 3), std::numeric_limits<float>::infinity());
}

INSTANTIATE_TEST_SUITE_P(Accumulate, TensorProductOnGpu, testing::Bool());

}  // namespace
}  // namespace hk::test
