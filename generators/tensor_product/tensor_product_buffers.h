#pragma once
// The buffers of a tensor product's kernels of all groups.

#include "Halide.h"

namespace hk::generators {

// input [c, g, row], weight [m, g, c, n], previous and output [m, g, o]; any strides, the same of
// previous and output, which may be one buffer. `output`: a generator's, once it is a Func, whose
// dimensions are others than before.
template<typename Rows, typename Weight, typename Output>
void constrain_grouped(Rows &input, Weight &weight, Rows &previous, Output &output) {
    for (int d = 0; d < 3; d++) {
        input.dim(d).set_min(0);
        previous.dim(d).set_min(0);
        output.dim(d).set_bounds(0, previous.dim(d).extent()).set_stride(previous.dim(d).stride());
    }
    input.dim(0).set_stride(Halide::Expr());
    previous.dim(0).set_stride(Halide::Expr());
    output.dim(0).set_stride(previous.dim(0).stride());
    input.dim(1).set_bounds(0, previous.dim(1).extent());
    weight.dim(0).set_bounds(0, previous.dim(0).extent()).set_stride(Halide::Expr());
    weight.dim(1).set_bounds(0, previous.dim(1).extent());
    weight.dim(2).set_bounds(0, input.dim(0).extent());
    weight.dim(3).set_min(0);
}

}  // namespace hk::generators
