#pragma once
// Planes of nchw of which vectors are of neighbouring groups of one channel.

#include "generators/transpose.h"

namespace hk::generators {

// Blocks of so many groups, a power of two, of which as many pixels are transposed at once, in the
// steps `there`: panel(group of its block, pixel, block, n). run.x is a pixel of these, run.y a
// plane's runs, of which the last one ends where the plane does.
struct TransposedPlanes {
    int groups = 0;
    std::vector<Halide::Func> there = {};
    Halide::Func panel = {};
    Halide::RDom run = {};

    // The element of a group at a pixel of its plane.
    Halide::Expr at(const Halide::Expr &group, const Halide::Expr &pixel,
                    const Halide::Expr &n) const {
        return panel(group % groups, pixel, group / groups, n);
    }
};

// Planes that are lines of at least `count` pixels, of rows of `width`. Past the last group there
// is anything.
TransposedPlanes transposed_planes(const Halide::Func &image, const Halide::Expr &groups,
                                   const Halide::Expr &width, const Halide::Expr &height,
                                   int count);

}  // namespace hk::generators
