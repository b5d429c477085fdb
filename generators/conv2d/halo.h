#pragma once
// Pixels of images with zeros around them as one line, of which the windows of neighbouring outputs
// are a part, their halo: it is staged once for all taps.
//
// A row of the line is kHaloMargin pixels longer than the output's, so that windows of 9 columns
// are in it, and an image as many more as make the same remainder by 8: any 8 neighbours of the
// output, which a load of a matrix has, read places of 8 different remainders (compiler/swizzle.h).

#include "generators/conv2d/line_pixel.h"
#include "runtime/src/convolution/halo_sizes.h"

namespace hk::generators {

struct HaloLine {
    Divisor columns, rows;  // of the output
    Divisor row, image;     // from a row's first pixel to the next one's; from an image's

    explicit HaloLine(const Conv2dGeometry &op)
        : columns(op.columns), rows(op.rows), row(op.halo_row), image(op.halo_image) {}

    // Of the window's first pixel, of the output's so-many-th pixel, also past the last one.
    Halide::Expr place(const Halide::Expr &output) const {
        const Halide::Expr line = quotient(output, columns), of = quotient(line, rows);
        return of * image.value + (line - of * rows.value) * row.value +
               (output - line * columns.value);
    }
    // The pixel of a window that is there.
    Pixel pixel(const Halide::Expr &place) const {
        const Halide::Expr of = quotient(place, image), rest = place - of * image.value;
        const Halide::Expr line = quotient(rest, row);
        return {rest - line * row.value, line, of};
    }
};

}  // namespace hk::generators
