#include "generators/conv2d_backward/conv2d_backward_weight_peeled.h"

#include "generators/accumulated.h"
#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

namespace {

// How the rows of all images are divided.
struct RowTiles {
    RowTiles(const Conv2dBackwardWeightOperands &op, const PeeledTiles &size)
        : of_image(ceil_div(op.out_h, max(size.pixels / op.out_w, 1))),
          rows(ceil_div(op.out_h, of_image)),
          number(of_image * op.batch) {
        const Expr all =
            cast<float>(op.out_w) * op.out_h * op.batch * op.groups * op.kernel_w * op.kernel_h;
        parts = clamp(cast<int>(all / static_cast<float>(size.products)), 1, min(number, 16));
        of_part = ceil_div(number, parts);
    }

    Expr of_image, rows, number, parts, of_part;
};

Expr at_most(const Expr &index, const Expr &size) {
    return promised_within(clamp(index, 0, size - 1), size);
}

// An image's elements in f32, where they are or of its transposed planes.
class Element {
public:
    Element(const Conv2dBackwardWeightOperands &op, const Func &image, const Expr &width,
            const Expr &height, const PeeledTiles &size, TransposedPlanes &planes)
        : image_(in_f32(image)), groups_(op.groups), batch_(op.batch), width_(width), size_(size) {
        if (size.transposed)
            planes = transposed_planes(image_, groups_, width, height, size.transposed);
        planes_ = planes;
    }

    Expr operator()(const Expr &column, const Expr &row, const Expr &n) const {
        // Before a condition on the image is asked.
        if (size_.transposed) return planes_.at(g, row * width_ + column, at_most(n, batch_));
        const Expr element = image_(0, promised_within(g, groups_), column, row, n);
        const Expr is_group = g < groups_;
        return size_.whole ? element
                           : loaded_if(size_.tail_apart ? likely(is_group) : is_group, element);
    }

private:
    Func image_;
    Expr groups_, batch_, width_;
    PeeledTiles size_;
    TransposedPlanes planes_;
};

}  // namespace

Conv2dBackwardWeightPeeled conv2d_backward_weight_peeled(const Conv2dBackwardWeightOperands &op,
                                                         const PeeledTiles &size) {
    Conv2dBackwardWeightPeeled stages;
    const Var &tile = stages.tile, &part = stages.part;
    const RowTiles tiles(op, size);
    // Tiles past the last one, of the last part, are of an image past the last one.
    const Expr of_all = part * tiles.of_part + tile;
    const Expr image = of_all / tiles.of_image,
               top = (of_all - image * tiles.of_image) * tiles.rows;
    // One step ends where windows begin to be inside.
    const Expr outside = ceil_div(max(op.padding_left, 0), op.stride_x);
    const Expr before = (size.step - outside % size.step) % size.step;
    const auto column_of = [&](const Expr &step, const Expr &of_step) {
        return step * size.step + of_step - before;
    };
    const Element gradient(op, op.output_gradient, op.out_w, op.out_h, size,
                           stages.gradient_planes);
    const Element input(op, op.input, op.width, op.height, size, stages.input_planes);
    stages.gradient = Func("gradient");
    stages.gradient(g, stages.column, stages.step, y, tile, part) =
        gradient(at_most(likely(column_of(stages.step, stages.column)), op.out_w),
                 at_most(top + y, op.out_h), at_most(image, op.batch));

    stages.pixel =
        RDom(0, size.step, 0, ceil_div(op.out_w + before, size.step), 0, tiles.rows, "pixel");
    RDom &pixel = stages.pixel;
    const Expr column = column_of(pixel.y, pixel.x), row = top + pixel.z;
    const Expr x_in = column * op.stride_x + s * op.dilation_x - op.padding_left;
    const Expr y_in = row * op.stride_y + r * op.dilation_y - op.padding_top;
    pixel.where(image < op.batch);
    pixel.where(row < op.out_h);
    pixel.where(likely(y_in >= 0) && likely(y_in < op.height));
    pixel.where(likely(column >= 0) && likely(column < op.out_w));
    pixel.where(likely(x_in >= 0) && likely(x_in < op.width));
    stages.tile_sum = Func("tile_sum");
    stages.tile_sum(g, s, r, tile, part) = 0.f;
    stages.tile_sum(g, s, r, tile, part) +=
        stages.gradient(g, pixel.x, pixel.y, pixel.z, tile, part) *
        input(promised_within(x_in, op.width), promised_within(y_in, op.height),
              promised_within(image, op.batch));

    stages.of = RDom(0, tiles.of_part, "of");
    stages.partial = Func("partial");
    stages.partial(g, s, r, part) = undef<float>();  // no pass over memory that only clears it
    const Expr so_far = select(stages.of.x > 0, stages.partial(g, s, r, part), 0.f);
    stages.partial(g, s, r, part) = so_far + stages.tile_sum(g, s, r, stages.of.x, part);
    stages.parts = RDom(0, tiles.parts, "parts");
    stages.sum = Func("sum");
    stages.sum(g, s, r) = 0.f;
    stages.sum(g, s, r) += stages.partial(g, s, r, stages.parts);
    stages.output = Func("result");
    stages.output(c, s, r, k, g) =
        accumulated(op.type, stages.sum(g, s, r), op.previous(c, s, r, k, g), op.accumulate);
    return stages;
}

}  // namespace hk::generators
