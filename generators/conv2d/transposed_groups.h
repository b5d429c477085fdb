#pragma once
// Images in rows (nchw) of which vectors are of neighbouring groups of one channel.

#include "generators/transpose.h"

namespace hk::generators {

inline constexpr int kTransposedGroups = 16;

// So many groups and columns, powers of two, are transposed at once, in the steps `there`. r.x is a
// tile's column, r.y a row's tile. An image is as wide as a tile or wider: the last tile of a row
// ends where that does.
struct TransposedTiles {
    int columns = 4, groups = kTransposedGroups;
    std::vector<Halide::Func> there = {};
    Halide::RDom r = {};
};

// The image in f32 with zeros around it, or with anything: a pure stage, and one over `tiles`. Past
// the last group there is anything.
Halide::Func transposed_groups(const Halide::Func &image, const Halide::Expr &groups,
                               const Halide::Expr &width, const Halide::Expr &height,
                               TransposedTiles &tiles, bool zeros = true);

}  // namespace hk::generators
