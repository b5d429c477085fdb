#include "schedules/quantized_conv2d/quantized_conv2d_filter.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

// Word by word, 16 of a filter's row and then of the next one: a block of filters would meet the
// same few cache sets again and again where rows are a power of two apart, and so would the words
// that are written. In nchw along the rows, byte by byte.
void quantized_conv2d_filter(QuantizedConv2dFilter &stages, const Conv2dSizes &context) {
    Knobs(context.knobs).end();
    const Var &byte = stages.byte, &ko = stages.ko;
    const Var ki("ki"), wi("wi"), blocks("blocks");
    Func &out = stages.output;
    out.bound(byte, 0, kBlockBytes).split(byte, ki, byte, kWord);
    if (context.nhwc)
        out.split(w, w, wi, kFilterBlock, TailStrategy::GuardWithIf)
            .reorder(byte, wi, ki, w, s, r, ko, g)
            .vectorize(byte);
    else
        out.reorder(s, r, byte, w, ki, ko, g);
    out.fuse(ko, g, blocks).parallel(blocks);
}

}  // namespace hk::schedules::cpu
