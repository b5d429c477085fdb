#include "generators/conv2d_backward/conv2d_backward_weight_planes.h"

#include "generators/transpose.h"

using namespace Halide;

namespace hk::generators {

namespace {

struct Image {
    Func pixels;
    Expr channels;
};

// A tile of pixels: where it begins, and what it has.
class Tile {
public:
    Tile(const Conv2dBackwardWeightOperands &op, const PlaneTiles &size, const Expr &tx,
         const Expr &tn)
        : line_(op.out_w), batch_(op.batch) {
        length_ = size.whole ? line_ : min(line_, size.pixels);
        images_ = size.whole ? batch_ : clamp(size.pixels / line_, 1, batch_);
        first_ = size.whole ? Expr(0) : tx * length_;
        image_ = size.whole ? Expr(0) : tn * images_;
        has_pixels_ = min(length_, line_ - first_);
        has_images_ = min(images_, batch_ - image_);
        most_ = size.whole ? length_ * images_ : Expr(size.pixels);
    }

    RDom tiles() const {
        return RDom(0, ceil_div(line_, length_), 0, ceil_div(batch_, images_), "of");
    }
    RDom pixels() const {
        RDom pixel(0, length_, 0, images_, "pixel");
        pixel.where(pixel.x < has_pixels_);
        pixel.where(pixel.y < has_images_);
        return pixel;
    }
    RDom runs() const {
        RDom run(0, kPlaneVector, 0, ceil_div(length_, kPlaneVector), 0, images_, "run");
        run.where(run.y * kPlaneVector < has_pixels_);
        run.where(run.z < has_images_);
        return run;
    }

    // Where a run begins in its plane, and in the tile's copy.
    Expr column_of_run(const Expr &run) const {
        return promised_within(min(first_ + run * kPlaneVector, line_ - kPlaneVector), line_);
    }
    Expr place_of_run(const Expr &run, const Expr &image) const {
        const Expr from_first = min(run * kPlaneVector, line_ - kPlaneVector - first_);
        return promised_within(kPlaneVector + image * length_ + from_first, most_ + 1);
    }
    // The same of a pixel.
    Expr column(const Expr &pixel) const { return promised_within(first_ + pixel, line_); }
    Expr place(const Expr &pixel, const Expr &image) const {
        return kPlaneVector + promised_within(image * length_ + pixel, most_);
    }
    Expr image(const Expr &of_tile) const { return promised_within(image_ + of_tile, batch_); }

private:
    Expr line_, batch_, length_, images_, first_, image_, has_pixels_, has_images_;
    Expr most_;  // pixels of a tile
};

void copy_transposed(const Image &image, const Tile &tile, const PlaneTiles &size,
                     Conv2dBackwardWeightPlanes &stages) {
    const Var &v = stages.v, &vb = stages.vb, &tx = stages.tx, &tn = stages.tn;
    const Var run("run"), i("i"), h("h");
    const Expr channel = vb * size.vectors + h * kPlaneVector + row;
    Func rows("rows");
    rows(element, row, run, i, h, vb, tx, tn, g) =
        image.pixels(promised_within(channel, image.channels), g, tile.column_of_run(run) + element,
                     0, tile.image(i));
    stages.there = transpose(rows, kPlaneVector, {run, i, h, vb, tx, tn, g});
    stages.run = tile.runs();
    const RDom &from = stages.run;
    stages.panel = Func("panel");
    stages.panel(v, q, vb, tx, tn, g) = undef<float>();
    stages.panel(v, tile.place_of_run(from.y, from.z) + from.x, vb, tx, tn, g) =
        stages.there.back()(from.x * kPlaneVector + v % kPlaneVector, 0, from.y, from.z,
                            v / kPlaneVector, vb, tx, tn, g);
}

// sum(c, k) of vectors of filters: a block of kPlaneBack of both is transposed.
Expr transposed_back(const PlaneTiles &size, Conv2dBackwardWeightPlanes &stages) {
    const Var kb("kb"), cb("cb");
    const int blocks = size.vectors / kPlaneBack;
    Func rows("sums");
    rows(element, row, kb, cb, g) =
        stages.sum(kb % blocks * kPlaneBack + element, kb / blocks, cb * kPlaneBack + row, g);
    stages.back = transpose(rows, kPlaneBack, {kb, cb, g});
    return stages.back.back()(k % kPlaneBack * kPlaneBack + c % kPlaneBack, 0, k / kPlaneBack,
                              c / kPlaneBack, g);
}

}  // namespace

Conv2dBackwardWeightPlanes conv2d_backward_weight_planes(const Conv2dBackwardWeightOperands &op,
                                                         const PlaneTiles &size) {
    Conv2dBackwardWeightPlanes stages;
    const Var &v = stages.v, &vb = stages.vb, &u = stages.u, &tx = stages.tx, &tn = stages.tn;
    const Image input = {in_f32(op.input), op.channels},
                gradient = {in_f32(op.output_gradient), op.filters};
    const Image &others = size.of_filters ? input : gradient;
    const Tile tile(op, size, tx, tn);
    copy_transposed(size.of_filters ? gradient : input, tile, size, stages);

    stages.pixel = tile.pixels();
    const RDom &p = stages.pixel;
    stages.tile_sum = Func("tile_sum");
    stages.tile_sum(v, vb, u, tx, tn, g) = 0.f;
    stages.tile_sum(v, vb, u, tx, tn, g) +=
        stages.panel(v, tile.place(p.x, p.y), vb, tx, tn, g) *
        others.pixels(promised_within(u, others.channels), g, tile.column(p.x), 0, tile.image(p.y));
    const Expr in_block = c % size.vectors, block = c / size.vectors;
    if (size.whole) {
        stages.output = result(op, stages.tile_sum(in_block, block, k, 0, 0, g));
        return stages;
    }
    stages.of = tile.tiles();
    stages.sum = Func("sum");
    stages.sum(v, vb, u, g) = 0.f;
    stages.sum(v, vb, u, g) += stages.tile_sum(v, vb, u, stages.of.x, stages.of.y, g);
    stages.output = result(
        op, size.of_filters ? transposed_back(size, stages) : stages.sum(in_block, block, k, g));
    return stages;
}

}  // namespace hk::generators
