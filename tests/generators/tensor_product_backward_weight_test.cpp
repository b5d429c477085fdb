// Is the algorithm the sum that generators/tensor_product_backward_weight.h states, under each
// schedule, on chunks made by hand.

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "Halide.h"

namespace hk::test {
namespace {

using Halide::Buffer;

constexpr int pairs_of_chunk = 3;

struct Variant {
    const char *name, *schedule, *knobs;
    bool exact;
};

Halide::Callable compile(const Variant &variant) {
    const std::string knobs = std::string("pairs:3,depth:4") + variant.knobs;
    try {
        return Halide::create_callable_from_generator(Halide::get_host_target(),
                                                      "tensor_product_backward_weight",
                                                      {{"type", "float32"},
                                                       {"algorithm", "slices"},
                                                       {"schedule", variant.schedule},
                                                       {"knobs", knobs},
                                                       {"fix_adjacent", "1"},
                                                       {"fix_exact", variant.exact ? "1" : "0"}});
    } catch (const Halide::Error &error) {
        throw std::runtime_error(error.what());
    }
}

struct Problem {
    int input_rows, output_rows, offsets, channels, width, pairs, slices;
};

class WeightGradient : public testing::TestWithParam<Variant> {
protected:
    void check(const Problem &p, bool accumulate) const {
        std::mt19937 random(static_cast<unsigned>(p.channels * 100 + p.width));
        const auto below = [&](int end) { return static_cast<int>(random() % end); };
        const auto fill = [&](Buffer<float> buffer) {
            buffer.for_each_value([&](float &value) { value = static_cast<float>(below(7) - 3); });
            return buffer;
        };
        const auto input = fill(Buffer<float>(p.channels, p.input_rows));
        const auto gradient = fill(Buffer<float>(p.width, p.output_rows));
        auto output = fill(Buffer<float>(p.width, p.channels, p.offsets)), wanted = output.copy();
        if (!accumulate) wanted.fill(0);
        // Chunks of one to three pairs of any offset, slices of about as many chunks.
        std::vector<int> source, target, begin, offset, first{0};
        int most = 0;
        while (static_cast<int>(source.size()) < p.pairs) {
            begin.push_back(static_cast<int>(source.size()));
            offset.push_back(below(p.offsets));
            for (int i = 0, count = 1 + below(pairs_of_chunk); i < count; i++) {
                source.push_back(below(p.input_rows));
                target.push_back(below(p.output_rows));
                for (int c = 0; c < p.channels; c++) {
                    for (int m = 0; m < p.width; m++)
                        wanted(m, c, offset.back()) +=
                            input(c, source.back()) * gradient(m, target.back());
                }
            }
        }
        begin.push_back(static_cast<int>(source.size()));
        const auto chunks = static_cast<int>(offset.size());
        for (int slice = 1; slice <= p.slices; slice++) {
            first.push_back(chunks * slice / p.slices);
            most = std::max(most, first[slice] - first[slice - 1]);
        }
        const auto list = [](std::vector<int> &numbers) {
            return Buffer<int>(numbers.data(), static_cast<int>(numbers.size()));
        };
        ASSERT_EQ(0, run_(input, gradient, list(source), list(target), list(begin), list(offset),
                          list(first), most, output, accumulate, output));
        for (int n = 0; n < p.offsets; n++) {
            for (int c = 0; c < p.channels; c++) {
                for (int m = 0; m < p.width; m++)
                    ASSERT_EQ(output(m, c, n), wanted(m, c, n)) << m << " " << c << " " << n;
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

INSTANTIATE_TEST_SUITE_P(
    Schedules, WeightGradient,
    testing::Values(Variant{"root", "root", "", false}, Variant{"cpu", "cpu", "", false},
                    Variant{"exact", "cpu", "", true},
                    Variant{"staged", "cpu", ",stage_input:1,stage_gradient:1", false}),
    [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hk::test
