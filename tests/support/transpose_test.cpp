#include "generators/transpose.h"

#include <gtest/gtest.h>

namespace {

using namespace Halide;
using namespace hk::generators;

class Transpose : public testing::TestWithParam<int> {};

TEST_P(Transpose, GivesColumnsOneAfterAnother) {
    const int size = GetParam();
    const Var z("z");
    Func rows("rows");
    rows(element, row, z) = 1000 * z + 20 * row + element;
    const std::vector<Func> steps = transpose(rows, size, {z});
    for (Func step : steps) step.compute_root();
    Func last = steps.back();
    const Buffer<int> result = last.realize({size * size, 1, 3});
    for (int p = 0; p < 3; p++) {
        for (int e = 0; e < size * size; e++) {
            ASSERT_EQ(result(e, 0, p), 1000 * p + 20 * (e % size) + e / size) << e << " of " << p;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Transpose, testing::Values(1, 2, 4, 8, 16));

}  // namespace
