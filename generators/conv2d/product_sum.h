#pragma once
// The sum of products of matrices, whole or in parts.

#include "generators/conv2d/conv2d.h"
#include "generators/conv2d/line_pixel.h"

namespace hk::generators {

// The sum of terms of a channel, in slices of `tile`, from stages.start; where they are in parts,
// each from zero, parts added up. `Operands`: as of conv2d.
template<typename Operands, typename Term>
void sum_products(const Operands &op, const ProductForm &form, int tile, const Halide::Expr &zero,
                  const Term &term, Conv2dSliced &stages) {
    const bool in_parts = form.parts.defined();
    const Halide::Expr all = (op.channels + tile - 1) / tile;
    stages.r =
        Halide::RDom(0, tile, 0, op.kernel_w, 0, op.kernel_h, 0, in_parts ? form.slices : all, "r");
    const Halide::RDom &d = stages.r;
    stages.sum = Halide::Func("sum");
    if (!in_parts) {
        stages.sum(k, g, x, y, n) = stages.start(k, g);
        stages.sum(k, g, x, y, n) += term(d.w * tile + d.x);
        return;
    }
    const Halide::Var &part = stages.part;
    stages.sum(k, g, x, y, n, part) = zero;
    stages.sum(k, g, x, y, n, part) += term((part * form.slices + d.w) * tile + d.x);
    stages.partial = Halide::Func("partial");
    stages.partial(k, g, x, part) = stages.sum(k, g, x, 0, 0, part);
    stages.of = Halide::RDom(0, form.parts, "of");
    stages.joined = Halide::Func("joined");
    stages.joined(k, g, x, y, n) = stages.start(k, g);
    const bool nhwc = form.order.nhwc();
    const Halide::Expr pixel =
        nhwc ? Halide::Expr(x) : x + op.columns.value * (y + op.rows.value * n);
    // Images in rows have any number of filters, of which a thread may have some past the last.
    const Halide::Expr filter = nhwc ? Halide::Expr(k) : min(k, op.filters - 1);
    stages.joined(k, g, x, y, n) += stages.partial(filter, g, pixel, stages.of);
    stages.parts = form.parts;
    stages.pixels_of_line = nhwc ? op.out_w : pixels_of_images(op);
    stages.filters = op.filters;
    stages.groups = op.groups;
}

}  // namespace hk::generators
