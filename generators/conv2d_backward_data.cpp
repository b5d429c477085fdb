#include "generators/conv2d_backward_data.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

namespace {

// The convolution's two factors on their way from the buffers to the sum.
struct Factors {
    Func gradient, filter;
};

// Zeros around the gradient; a filter's taps in reverse, those of a dimension of one too.
Factors pad_and_flip(const Conv2dBackwardDataOperands &op, const Factors &from) {
    Factors to;
    to.gradient = with_zeros_around(from.gradient, op.out_w, op.out_h, op.pointwise);
    to.filter = Func("flipped");
    to.filter(c, s, r, k, g) = from.filter(c, op.x.kernel - 1 - s, op.y.kernel - 1 - r, k, g);
    return to;
}

// Channels become groups of channels: a view, for their index is the pair (k, g) from the start.
// One number would have to be divided by the size of a group again, in every address.
Factors expand(const Factors &from) {
    Factors to;
    to.gradient = Func("gradient_of_groups");
    to.gradient(k, g, x, y, n) = cast<float>(from.gradient(k, g, x, y, n));
    to.filter = Func("filter_of_groups");
    to.filter(c, s, r, k, g) = cast<float>(from.filter(c, s, r, k, g));
    return to;
}

Conv2dBackwardData convolve(const Conv2dBackwardDataOperands &op, const Factors &factors) {
    Conv2dBackwardData stages;
    const Var &px = stages.px, &py = stages.py;
    stages.gradient = factors.gradient;
    stages.filter = factors.filter;
    stages.r = RDom(0, op.filters, 0, op.x.most_taps(), 0, op.y.most_taps(), "r");
    RDom &d = stages.r;
    const Expr tap_x = op.x.first(px) + op.x.step() * d.y;
    const Expr tap_y = op.y.first(py) + op.y.step() * d.z;
    d.where(tap_x < op.x.kernel);
    d.where(tap_y < op.y.kernel);
    stages.sum = Func("sum");
    stages.sum(c, g, x, y, px, py, n) = 0.f;
    stages.sum(c, g, x, y, px, py, n) +=
        stages.filter(c, clamp(tap_x, 0, op.x.kernel - 1), clamp(tap_y, 0, op.y.kernel - 1), d.x,
                      g) *
        stages.gradient(d.x, g, x + op.x.source(px, d.y), y + op.y.source(py, d.z), n);

    const Expr sum =
        stages.sum(c, g, x / op.x.stride, y / op.y.stride, op.x.phase(x), op.y.phase(y), n);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) =
        accumulated(op.type, sum, op.previous(c, g, x, y, n), op.accumulate);
    return stages;
}

}  // namespace

Expr StridePhases::phase(const Expr &pixel) const {
    return clamp(pixel - pixel / stride * stride, 0, stride - 1);
}

// The tap s with (phase + s * dilation - crop) % stride = 0. Products are in 64 bits where the
// factors are not known: both may be as large as the stride.
Expr StridePhases::first(const Expr &phase) const {
    const Expr missing = crop() - phase, place = (missing / common) % step();
    Expr tap = place * inverse % step();
    if (!is_const(stride)) {
        tap = cast<int32_t>(cast<int64_t>(place) * inverse % cast<int64_t>(step()));
    }
    return select(missing % common == 0, tap, kernel);
}

Expr StridePhases::source(const Expr &phase, const Expr &j) const {
    return (phase + first(phase) * dilation - crop()) / stride + j * (dilation / common);
}

Conv2dBackwardData conv2d_backward_data_flip_expand(const Conv2dBackwardDataOperands &op) {
    return convolve(op, expand(pad_and_flip(op, {op.output_gradient, op.weight})));
}

Conv2dBackwardData conv2d_backward_data_expand_flip(const Conv2dBackwardDataOperands &op) {
    return convolve(op, pad_and_flip(op, expand({op.output_gradient, op.weight})));
}

Conv2dOperands conv2d_of_backward_data(const Conv2dBackwardDataOperands &op) {
    Conv2dOperands forward;
    forward.input = op.output_gradient;
    forward.weight = Func("flipped");
    forward.weight(c, s, r, k, g) = op.weight(k, op.x.kernel - 1 - s, op.y.kernel - 1 - r, c, g);
    const Range all = {Expr(), Expr()};
    forward.residual = BoundaryConditions::repeat_edge(
        op.previous, {all, all, {0, op.width}, {0, op.height}, all});
    forward.has_residual = op.accumulate;
    forward.channels = op.filters;
    forward.filters = op.channels;
    forward.width = op.out_w;
    forward.height = op.out_h;
    forward.kernel_w = op.x.kernel;
    forward.kernel_h = op.y.kernel;
    forward.stride_x = forward.stride_y = 1;
    forward.dilation_x = op.x.dilation;
    forward.dilation_y = op.y.dilation;
    forward.padding_left = op.x.crop();
    forward.padding_top = op.y.crop();
    forward.type = op.type;
    forward.pointwise = op.pointwise;
    return forward;
}

}  // namespace hk::generators
