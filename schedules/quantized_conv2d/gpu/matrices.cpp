#include "schedules/conv2d/gpu/matrices.h"
#include "schedules/conv2d/gpu/channels_last.h"
#include "schedules/gpu_block.h"
#include "schedules/quantized_conv2d/gpu/correct.h"
#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// Tiles as of conv2d's, of slices of 64 channels. Products are of u8 or s8, whichever the input is,
// by s8: a kernel each, and again where windows are summed up because the weight's zero point is
// not 0. Of each filter of the tile, what the sum starts from, and what it is multiplied by and
// moved by, are in shared memory: 12 * tile_k bytes.
//
// Products of bytes take half the time of f16's, of as many bytes of shared memory: warps of 64 by
// 64 sums read less of it, 64 products to 16 loads of four matrices.
void quantized_matrices(QuantizedConv2dProducts &stages, const QuantizedConv2dContext &context) {
    Conv2dSliced &products = stages.products;
    products.output = stages.output;
    const bool in_parts = products.partial.defined();
    const Type result = stages.output.type();
    const MatrixTiles t =
        matrix_tiles(context, channels_of_lane(in_parts ? products.partial.type() : result));
    LoopLevel at;
    Stage out = tile_matrices(products, t, at);
    unroll_matrices(out, products);
    int filters = t.tile_k;
    std::vector<int> threads = t.threads();
    if (in_parts) {
        out.specialize(context.signed_input);
        finish_parts(products, at).specialize(context.weight_moves);
        filters = kPartLanes * kPartVector;
        threads = {kPartLanes, kPartPixels, 1};
    } else {
        out.specialize(context.weight_moves).specialize(context.signed_input);
        out.specialize(context.signed_input);
    }
    for (const Func &of_filter : {stages.start, stages.multiplier, stages.offset})
        cooperative_copy(of_filter, at, {{k, filters}, {g, 1}}, threads);
    if (products.windows.to.defined()) copy_channels_last(products, false);
    correct(stages, context);
}

}  // namespace hk::schedules::gpu
