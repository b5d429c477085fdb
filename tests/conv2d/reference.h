#pragma once
// The definition of conv2d evaluated in double, one term after the other.

#include <vector>

#include "hk/conv2d.h"
#include "tests/reference/rows.h"

namespace hk::reference {

// Elements in the order n, y, x, k, whatever the layout.
struct Conv2dResult {
    std::vector<double> value;
    std::vector<double> magnitude;  // the sum of the terms' magnitudes, bias and residual included
    int64_t terms = 0;              // of the longest sum
};

// On host tensors with any strides. `bias` and `residual` may be undefined. `row`: that is held
// against it.
Conv2dResult conv2d(const Tensor &input, const Tensor &weight, const Tensor &bias,
                    const Tensor &residual, const Conv2dOptions &options,
                    const KernelInfo *row = nullptr);

// The sums alone, of an input in the order n, y, x, c and a weight in the order r, s, c, k: filters
// innermost, so that the inner loop runs along them. A row is an output pixel's.
Conv2dResult conv2d_sums(const Conv2dProblem &problem, const std::vector<double> &input,
                         const std::vector<double> &weight, const Rows &rows = {});

// Whether a row computes as generators/conv2d/winograd.h; `row` null: as the definition.
bool is_winograd(const KernelInfo *row);

// Whether a row has products of operands that are cut off to TF32, and those.
bool is_tf32(const KernelInfo *row);
std::vector<double> cut_to_tf32(std::vector<double> values);
// As many terms in f32 as these may err by, on units that cut off what they add up.
int64_t terms_in_tf32(int64_t terms);

// Terms and magnitudes of sums of that, of all rows, in place of the definition's. `filters`: the
// sum of each filter's magnitudes.
void bound_by_winograd(const Conv2dProblem &problem, const std::vector<double> &input,
                       const std::vector<double> &filters, Conv2dResult &result);
std::vector<double> magnitudes_of_filters(const Conv2dProblem &problem,
                                          const std::vector<double> &weight);

// Whether the tile of an output reads a NaN or infinity there, whatever else the output reads: in
// the order n, y, x, k.
std::vector<bool> spoilt_by_winograd(const Conv2dProblem &problem,
                                     const std::vector<double> &input);

// A weight's elements in that order.
std::vector<double> read_filters(const Tensor &weight, Layout layout);

ActivationOptions activation_in(const Conv2dOptions &options);

// A view with dimensions n, y, x, k (or k, r, s, c of a weight), from either layout.
Tensor channels_last(const Tensor &tensor, Layout layout);

}  // namespace hk::reference
