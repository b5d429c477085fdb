// Is the algorithm the sum that generators/tensor_product/tensor_product_backward_weight.h states,
// under each schedule, on chunks and slices made by hand.

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "Halide.h"

namespace hk::test {
namespace {

using Halide::Buffer;

constexpr int pairs_of_chunk = 4;

struct Variant {
    const char *name, *algorithm, *schedule, *knobs;
    bool exact;
};

Halide::Callable compile(const Variant &variant) {
    try {
        return Halide::create_callable_from_generator(Halide::get_host_target(),
                                                      "tensor_product_backward_weight",
                                                      {{"type", "float32"},
                                                       {"algorithm", variant.algorithm},
                                                       {"schedule", variant.schedule},
                                                       {"knobs", variant.knobs},
                                                       {"fix_adjacent", "1"},
                                                       {"fix_exact", variant.exact ? "1" : "0"}});
    } catch (const Halide::Error &error) {
        throw std::runtime_error(error.what());
    }
}

struct Problem {
    int input_rows, output_rows, offsets, channels, width, pairs, slices;
};

// Chunks of one to three pairs, offsets upwards; slices of about as many chunks.
struct Lists {
    template<typename Visit>
    Lists(const Problem &p, std::mt19937 &random, const Visit &visit) {
        const auto below = [&](int end) { return static_cast<int>(random() % end); };
        for (int n = 0; n < p.offsets; n++) {
            of_offset.push_back(chunks());
            const int end = p.pairs * (n + 1) / p.offsets;
            while (size(source) < end) {
                begin.push_back(size(source));
                offset.push_back(n);
                for (int i = 0, count = 1 + below(pairs_of_chunk); i < count; i++) {
                    source.push_back(below(p.input_rows));
                    target.push_back(below(p.output_rows));
                    visit(source.back(), target.back(), n);
                }
            }
        }
        begin.push_back(size(source));
        of_offset.push_back(chunks());
        for (int slice = 1; slice <= p.slices; slice++) {
            of_slice.push_back(chunks() * slice / p.slices);
            most = std::max(most, of_slice[slice] - of_slice[slice - 1]);
        }
    }

    static int size(const std::vector<int> &list) { return static_cast<int>(list.size()); }
    int chunks() const { return size(offset); }

    std::vector<int> source, target, begin, offset, of_slice{0}, of_offset;
    int most = 0;
};

class WeightGradient : public testing::TestWithParam<Variant> {
protected:
    void check(const Problem &p, bool accumulate) const {
        std::mt19937 random(static_cast<unsigned>(p.channels * 100 + p.width));
        const auto fill = [&](Buffer<float> buffer) {
            buffer.for_each_value(
                [&](float &value) { value = static_cast<float>(random() % 7) - 3; });
            return buffer;
        };
        const auto input = fill(Buffer<float>(p.channels, 1, p.input_rows));
        const auto gradient = fill(Buffer<float>(p.width, 1, p.output_rows));
        auto output = fill(Buffer<float>(p.width, 1, p.channels, p.offsets)),
             wanted = output.copy();
        if (!accumulate) wanted.fill(0);
        const Lists lists(p, random, [&](int from, int to, int offset) {
            for (int c = 0; c < p.channels; c++) {
                for (int m = 0; m < p.width; m++)
                    wanted(m, 0, c, offset) += input(c, 0, from) * gradient(m, 0, to);
            }
        });
        const auto list = [](const std::vector<int> &numbers) {
            return Buffer<int>(const_cast<int *>(numbers.data()), static_cast<int>(numbers.size()));
        };
        const bool by_offset = GetParam().algorithm == std::string("offsets");
        ASSERT_EQ(0,
                  run_(input, gradient, list(lists.source), list(lists.target), list(lists.begin),
                       list(lists.offset), list(by_offset ? lists.of_offset : lists.of_slice),
                       by_offset ? pairs_of_chunk : lists.most, output, accumulate, output));
        for (int n = 0; n < p.offsets; n++) {
            for (int c = 0; c < p.channels; c++) {
                for (int m = 0; m < p.width; m++)
                    ASSERT_EQ(output(m, 0, c, n), wanted(m, 0, c, n)) << m << " " << c << " " << n;
            }
        }
    }

    const Halide::Callable run_ = compile(GetParam());
};

TEST_P(WeightGradient, IsTheSum) {
    std::vector<Problem> problems = {{5, 9, 3, 2, 16, 40, 2}, {20, 30, 4, 33, 32, 25, 5}};
    if (!GetParam().exact) {
        problems.insert(problems.end(), {{1, 1, 1, 1, 1, 1, 1}, {3, 4, 2, 5, 17, 60, 3}});
    }
    for (const Problem &problem : problems) {
        for (const bool accumulate : {true, false}) {
            check(problem, accumulate);
            if (HasFatalFailure()) return;
        }
    }
}

constexpr const char *knobs = "pairs:4,depth:4";
INSTANTIATE_TEST_SUITE_P(Schedules, WeightGradient,
                         testing::Values(Variant{"root", "slices", "root", knobs, false},
                                         Variant{"tiles", "slices", "register_tiles", knobs, false},
                                         Variant{"exact", "slices", "register_tiles", knobs, true},
                                         Variant{"staged", "slices", "register_tiles",
                                                 "pairs:4,depth:4,stage_input:1,stage_gradient:1",
                                                 false},
                                         Variant{"offsets", "offsets", "root", "tile_c:2", false}),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk::test
