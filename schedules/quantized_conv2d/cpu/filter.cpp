#include "schedules/quantized_conv2d/quantized_conv2d_filter.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

// Word by word along a filter's row, as fast as a transposition of 16 by 16 words in registers was.
// In nchw along the rows, byte by byte.
void quantized_conv2d_filter(QuantizedConv2dFilter &stages, const Conv2dSizes &context) {
    Knobs(context.knobs).end();
    const Var &byte = stages.byte, &ko = stages.ko;
    const Var ki("ki"), blocks("blocks");
    Func &out = stages.output;
    out.bound(byte, 0, kBlockBytes).split(byte, ki, byte, kWord);
    if (context.nhwc)
        out.reorder(byte, w, ki, s, r, ko, g).vectorize(byte);
    else
        out.reorder(s, r, byte, w, ki, ko, g);
    out.fuse(ko, g, blocks).parallel(blocks);
}

}  // namespace hk::schedules::cpu
