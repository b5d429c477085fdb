#include "schedules/conv2d/conv2d_filter.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace cpu {

// Reads run along the filters' rows: a read of one channel from each row of a block would meet the
// same few cache sets again and again where rows are a power of two apart. Lost: transposition by
// shuffles, as slow as stores of single floats.
void conv2d_filter(Conv2dFilter &stages, const Conv2dSizes &context) {
    int lanes = context.target.natural_vector_size<float>();
    Knobs knobs(context.knobs);
    knobs.take("lanes", lanes, {4, 8, 16});
    knobs.end();
    Func &out = stages.output;
    const Var ci("ci"), blocks("blocks");
    const Var &ki = stages.ki, &ko = stages.ko;
    if (context.nhwc)
        out.split(c, c, ci, lanes, TailStrategy::GuardWithIf)
            .reorder(ci, ki, c, s, r, ko, g)
            .vectorize(ci);
    else
        out.reorder(s, r, c, ki, ko, g);
    out.fuse(ko, g, blocks).parallel(blocks);
}

}  // namespace cpu

}  // namespace hk::schedules
