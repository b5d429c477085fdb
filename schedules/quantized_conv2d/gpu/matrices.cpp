#include "schedules/conv2d/gpu/matrices.h"

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
void quantized_matrices(QuantizedConv2dProducts &stages, const QuantizedConv2dContext &context) {
    const MatrixTiles t = matrix_tiles(context);
    Conv2dSliced products;
    products.sum = stages.sum;
    products.filter = stages.filter;
    products.tap = stages.tap;
    products.r = stages.r;
    products.output = stages.output;
    LoopLevel at;
    Stage out = tile_matrices(products, t, at);
    unroll_matrices(out, products);
    for (const Func &of_filter : {stages.start, stages.multiplier, stages.offset})
        cooperative_copy(of_filter, at, {{k, t.tile_k}, {g, 1}}, t.threads());
    out.specialize(context.weight_moves).specialize(context.signed_input);
    out.specialize(context.signed_input);
    correct(stages, context);
}

}  // namespace hk::schedules::gpu
