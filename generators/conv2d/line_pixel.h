#pragma once
// The place of a pixel in its image, of pixels of all images that are a line.

#include "generators/image_layout.h"
#include "generators/quotient.h"

namespace hk::generators {

struct Pixel {
    Halide::Expr x, y, n;
};

// `Operands` has the images' size, columns and rows, and how many there are, batch.
template<typename Operands>
Pixel pixel_of_line(const Operands &op, const Halide::Expr &pixel) {
    const Halide::Expr row = quotient(pixel, op.columns), image = quotient(row, op.rows);
    return {pixel - row * op.columns.value, row - image * op.rows.value,
            Halide::unsafe_promise_clamped(image, 0, op.batch - 1)};
}

template<typename Operands>
Halide::Expr pixels_of_images(const Operands &op) {
    return op.columns.value * op.rows.value * op.batch;
}

// The same of a pixel that is on the line, whose place is stored to.
template<typename Operands>
Pixel place_of_pixel(const Operands &op, const Halide::Expr &pixel) {
    const Pixel place = pixel_of_line(op, pixel);
    return {Halide::unsafe_promise_clamped(place.x, 0, op.columns.value - 1),
            Halide::unsafe_promise_clamped(place.y, 0, op.rows.value - 1), place.n};
}

// The same of one of a vector of `lanes` pixels, which are of one row.
template<typename Operands>
Pixel place_in_vector(const Operands &op, const Halide::Expr &vector, const Halide::Expr &lane,
                      int lanes) {
    Pixel place = place_of_pixel(op, vector * lanes);
    place.x = place.x / lanes * lanes + lane;
    return place;
}

// All of the line, y in vectors of so many, x in one.
template<typename Operands>
Halide::RDom pixels_by_vectors(const Operands &op, int lanes) {
    const Halide::Expr all = pixels_of_images(op);
    return lanes > 1 ? Halide::RDom(0, lanes, 0, all / lanes, "pixels")
                     : Halide::RDom(0, all, "pixels");
}

// One of those: on the line, and its place.
struct StoredPixel {
    Halide::Expr of_line;
    Pixel place;
};
template<typename Operands>
StoredPixel stored_pixel(const Operands &op, const Halide::RDom &pixels, int lanes) {
    if (lanes == 1) return {pixels.x, place_of_pixel(op, pixels.x)};
    return {pixels.y * lanes + pixels.x, place_in_vector(op, pixels.y, pixels.x, lanes)};
}

// The output's, x of the line where there is one. Past its end it is the last one.
template<typename Operands>
Pixel pixel_at(const Operands &op) {
    if (!op.columns.value.defined()) return {x, y, n};
    return pixel_of_line(op, clamp(x, 0, pixels_of_images(op) - 1));
}

}  // namespace hk::generators
