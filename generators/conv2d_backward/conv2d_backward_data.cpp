#include "generators/conv2d_backward/conv2d_backward_data.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

namespace {

// The convolution's two factors on their way from the buffers to the sum.
struct Factors {
    Func gradient, filter;
    RDom columns = {};
};

// Zeros around the gradient; a filter's taps in reverse, those of a dimension of one too.
enum class Zeros { compared, copied, masked };
Factors pad_and_flip(const Conv2dBackwardDataOperands &op, const Factors &from,
                     Zeros zeros = Zeros::compared) {
    Factors to;
    if (zeros == Zeros::masked)
        to.gradient = masked_with_zeros_around(from.gradient, op.out_w, op.out_h);
    else if (zeros == Zeros::copied)
        to.gradient = rows_with_zeros_around(from.gradient, op.out_w, op.out_h, to.columns);
    else
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

Conv2dBackwardData convolve(const Conv2dBackwardDataOperands &op, const Factors &factors,
                            bool in_blocks = false) {
    Conv2dBackwardData stages;
    const Var &px = stages.px, &py = stages.py;
    stages.gradient = factors.gradient;
    stages.filter = factors.filter;
    stages.columns = factors.columns;
    using Place = std::array<Expr, 3>;  // of a term: k, j of x, j of y
    const auto tap_x = [&](const Place &at) { return op.x.first(px) + op.x.step() * at[1]; };
    const auto tap_y = [&](const Place &at) { return op.y.first(py) + op.y.step() * at[2]; };
    const auto counts = [&](const Place &at) {
        return tap_x(at) < op.x.kernel && tap_y(at) < op.y.kernel;
    };
    const auto term = [&](const Place &at) {
        return stages.filter(c, clamp(tap_x(at), 0, op.x.kernel - 1),
                             clamp(tap_y(at), 0, op.y.kernel - 1), at[0], g) *
               stages.gradient(at[0], g, x + op.x.source(px, at[1]), y + op.y.source(py, at[2]), n);
    };
    stages.sum = Func("sum");
    if (in_blocks) {
        stages.blocked =
            blocked_sum({c, g, x, y, px, py, n}, 0.f,
                        {op.filters, op.x.most_taps(), op.y.most_taps()}, term, counts);
        stages.sum(c, g, x, y, px, py, n) = stages.blocked.running(c, g, x, y, px, py, n)[0];
    } else {
        stages.r = RDom(0, op.filters, 0, op.x.most_taps(), 0, op.y.most_taps(), "r");
        RDom &d = stages.r;
        const Place at = {d.x, d.y, d.z};
        d.where(tap_x(at) < op.x.kernel);
        d.where(tap_y(at) < op.y.kernel);
        stages.sum(c, g, x, y, px, py, n) = 0.f;
        stages.sum(c, g, x, y, px, py, n) += term(at);
    }

    stages.joined = Func("joined");
    stages.joined(c, g, x, y, n) =
        stages.sum(c, g, x / op.x.stride, y / op.y.stride, op.x.phase(x), op.y.phase(y), n);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = accumulated(op.type, stages.joined(c, g, x, y, n),
                                               op.previous(c, g, x, y, n), op.accumulate);
    return stages;
}

// Phases that have a pixel. As many as the stride where that is known, which may be a few too many.
Expr phases(const StridePhases &axis, const Expr &size) {
    return is_const(axis.stride) ? axis.stride : min(axis.stride, size);
}

// A group of the sum by slices: the group itself, and the phase.
struct PhaseGroup {
    Expr group, px, py;

    PhaseGroup(const Conv2dBackwardDataOperands &op, const Expr &number) {
        const Expr across = phases(op.x, op.width), down = phases(op.y, op.height);
        px = number % across;
        py = number / across % down;
        group = number / across / down;
    }
};

// Zeros past the last filter and channel, so that slices and tiles have one size.
void slice_factors(const Conv2dBackwardDataOperands &op, const Factors &factors,
                   Conv2dSliced &stages) {
    const Range all = {Expr(), Expr()}, filters = {0, op.filters}, channels = {0, op.channels};
    stages.padded = Func("padded_slices");
    stages.padded(c, g, x, y, n) = BoundaryConditions::constant_exterior(
        factors.gradient, 0.f, Region{filters, all, all, all, all})(c, g, x, y, n);
    const Func filter = BoundaryConditions::constant_exterior(
        factors.filter, 0.f, Region{channels, all, all, filters, all});
    const PhaseGroup of(op, g);
    const auto tap = [](const StridePhases &axis, const Expr &phase, const Expr &j) {
        return clamp(axis.first(phase) + axis.step() * j, 0, axis.kernel - 1);
    };
    stages.filter = Func("filter_slices");
    stages.filter(c, s, r, k, g) = filter(k, tap(op.x, of.px, s), tap(op.y, of.py, r), c, of.group);
    stages.tap = Func("tap");
    stages.tap(c, s, r, g, x, y, n) =
        stages.padded(c, of.group, x + op.x.source(of.px, s), y + op.y.source(of.py, r), n);
}

// Where phases of the sum land. An update, because its loops are those of the phases: from a pixel
// alone Halide does not see that the pixels of a tile are of one phase, where the stride is an
// argument.
void scatter(const Conv2dBackwardDataOperands &op, const Conv2dLayout &order,
             Conv2dSliced &stages) {
    const auto length = [](const Expr &size, const StridePhases &axis) {
        return (size + axis.stride - 1) / axis.stride;
    };
    stages.pixels = RDom(0, length(op.width, op.x), 0, length(op.height, op.y), 0,
                         op.groups * phases(op.x, op.width) * phases(op.y, op.height), "pixels");
    RDom &p = stages.pixels;
    const PhaseGroup of(op, p.z);
    const Expr column = p.x * op.x.stride + of.px, row = p.y * op.y.stride + of.py;
    p.where(column < op.width);
    p.where(row < op.height);
    // Clamped for the bounds of what is written.
    const Expr group = clamp(of.group, 0, op.groups - 1), to_x = clamp(column, 0, op.width - 1),
               to_y = clamp(row, 0, op.height - 1);
    stages.output(order.image_arguments(k)) = undef(op.type);
    stages.output(order.in_order({k, group, to_x, to_y, n})) =
        accumulated(op.type, stages.sum(k, p.z, p.x, p.y, n), op.previous(k, group, to_x, to_y, n),
                    op.accumulate);
}

Conv2dSliced convolve_sliced(const Conv2dBackwardDataOperands &op,
                                         const Factors &factors, const Conv2dLayout &order,
                                         int tile) {
    Conv2dSliced stages;
    slice_factors(op, factors, stages);
    stages.r = RDom(0, tile, 0, op.x.most_taps(), 0, op.y.most_taps(), 0,
                    (op.filters + tile - 1) / tile, "r");
    RDom &d = stages.r;
    const bool strided = !is_const_one(op.x.stride) || !is_const_one(op.y.stride);
    if (strided) {
        const PhaseGroup of(op, g);
        d.where(op.x.first(of.px) + op.x.step() * d.y < op.x.kernel);
        d.where(op.y.first(of.py) + op.y.step() * d.z < op.y.kernel);
    }
    const Expr filter = d.w * tile + d.x;
    stages.sum = Func("sum");
    stages.sum(k, g, x, y, n) = 0.f;
    stages.sum(k, g, x, y, n) +=
        stages.filter(filter, d.y, d.z, k, g) * stages.tap(filter, d.y, d.z, g, x, y, n);
    stages.output = Func("result");
    if (strided) {
        scatter(op, order, stages);
    } else {
        stages.output(order.image_arguments(k)) = accumulated(
            op.type, stages.sum(k, g, x, y, n), op.previous(k, g, x, y, n), op.accumulate);
    }
    return stages;
}

Factors flip_expand(const Conv2dBackwardDataOperands &op) {
    return expand(pad_and_flip(op, {op.output_gradient, op.weight}));
}

Factors expand_flip(const Conv2dBackwardDataOperands &op) {
    return pad_and_flip(op, expand({op.output_gradient, op.weight}));
}

}  // namespace

Expr StridePhases::phase(const Expr &pixel) const {
    return clamp(pixel - pixel / stride * stride, 0, stride - 1);
}

// The tap s with (phase + s * dilation - crop) % stride = 0. Products are in 64 bits where the
// factors are not known: both may be as large as the stride.
Expr StridePhases::first(const Expr &phase) const {
    if (is_const_one(stride)) return 0;
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
    return convolve(op, flip_expand(op));
}

Conv2dBackwardData conv2d_backward_data_expand_flip(const Conv2dBackwardDataOperands &op) {
    return convolve(op, expand_flip(op));
}

Conv2dBackwardData conv2d_backward_data_flip_expand_tiles(
    const Conv2dBackwardDataOperands &operands) {
    const Range all = {Expr(), Expr()};
    Conv2dBackwardDataOperands op = operands;
    op.weight = BoundaryConditions::repeat_edge(op.weight, {all, all, all, all, {0, op.groups}});
    return convolve(op, flip_expand(op));
}

Conv2dBackwardData conv2d_backward_data_flip_expand_blocks(const Conv2dBackwardDataOperands &op) {
    return convolve(op, flip_expand(op), true);
}

Conv2dSliced conv2d_backward_data_flip_expand_sliced(
    const Conv2dBackwardDataOperands &op, const Conv2dLayout &order, int tile) {
    return convolve_sliced(op, flip_expand(op), order, tile);
}

Conv2dSliced conv2d_backward_data_expand_flip_sliced(
    const Conv2dBackwardDataOperands &op, const Conv2dLayout &order, int tile) {
    return convolve_sliced(op, expand_flip(op), order, tile);
}

Conv2dBackwardData conv2d_backward_data_rows(const Conv2dBackwardDataOperands &op, bool masked) {
    const Zeros zeros = masked ? Zeros::masked : Zeros::copied;
    return convolve(op, pad_and_flip(op, expand({op.output_gradient, op.weight}), zeros));
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
    forward.groups = op.groups;
    forward.out_w = op.width;
    forward.out_h = op.height;
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
