#pragma once
// Schedule of generators/conv2d_backward/copied_rows.h.

#include "generators/conv2d_backward/copied_rows.h"
#include "generators/letters.h"

namespace hk::schedules {

// Vectors are of distinct columns. Zeros come first: what is read soon after it was written in two
// pieces waits for both.
inline void copy_rows(Halide::Func &padded, const generators::CopiedRows &rows) {
    padded.update(0)
        .allow_race_conditions()
        .reorder(rows.sides.x, rows.sides.y, generators::y)
        .vectorize(rows.sides.x)
        .unroll(rows.sides.y);
    padded.update(1).allow_race_conditions().vectorize(rows.inside.x);
}

}  // namespace hk::schedules
