#pragma once
// Results against a reference (tests/FAMILY/reference.h): what a family's judge is made of.

#include "case.h"
#include "problem.h"
#include "tests/conv2d/reference.h"

namespace hk::bench {

// What a tensor should hold, and how far off it may be.
struct Expected {
    std::vector<double> values, tolerances;  // of the rows, one after the other
    reference::Rows rows = {};               // that are known
    // The tensor's dimensions in the order of the reference; empty: as they are.
    std::vector<int> order = {};
    double rounding = 0;  // of the tolerances, what is no error: of bytes the rounding to one
};

// `name`: of the tensor, in what a failure says.
Check compare(const std::string &name, const Tensor &result, const Expected &expected);

// Of each written operand in turn what is expected.
Judge judge_of(const std::vector<std::pair<std::string, Expected>> &expected);

enum class Sums { rounded, exact };  // exact: rounded once, to the type

// By tests/reference/tolerance.h. `rows` and `order` as in Expected.
Expected expected_of(DataType type, reference::Conv2dResult sums, reference::Rows rows = {},
                     std::vector<int> order = {}, Sums are = Sums::rounded);

// The dimensions of a tensor in this layout as n, y, x, c.
std::vector<int> channels_last(Layout layout);

}  // namespace hk::bench
