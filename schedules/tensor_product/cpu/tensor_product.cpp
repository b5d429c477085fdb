#include "schedules/tensor_product/tensor_product.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

// A task is a block of rows by a block of channels of the output. Its sums, 128 KB or 64, stay in
// cache while the pairs of all offsets add to them, so that an output row is written once, and an
// offset's weight, C rows of 256 bytes, is read from cache by all of the block's tiles. A tile's
// products are registers: 6 pairs by 4 vectors, of 32, take 4 loads of the weight and 6 of the
// input for 24 multiplications. The input is read where it lies, an element for all lanes, at
// addresses that stay in registers. Floats of 16 bits are gathered, a group of tiles at a time, and
// widened there, once for all lanes.
//
// build/bin/bench --family tensor_product, column "hk kept maps", times the kernel without the
// sort: one thread of Zen 4 (117 GFLOP/s at best), C = M = 16 64 GFLOP/s, 32 80, 64 95, 128 100.
// Slower: gathering floats of 32 bits too, 12 pairs by 2 vectors at 32, blocks of 256 rows at 64.
void tensor_product(TensorProduct &stages, const TensorProductContext &context) {
    const TensorProductTile sizes = tensor_product_sizes(context);
    const int lanes = sizes.channels / context.vectors;

    const Var block("block");
    Func output = stages.output;
    output.compute_root()
        .split(o, b, o, sizes.rows, TailStrategy::GuardWithIf)
        .split(m, mo, mi, sizes.channels, TailStrategy::GuardWithIf)
        .reorder(mi, o, mo, b)
        .fuse(mo, b, block)
        .parallel(block)
        .vectorize(mi, lanes, TailStrategy::GuardWithIf);

    const RVar pair = stages.r.x, tile = stages.r.y, group = stages.r.z;
    stages.sum.compute_at(output, block)
        .bound_extent(mi, sizes.channels)
        .bound_extent(o, sizes.rows + 1)
        .bound_extent(b, 1)
        .bound_extent(mo, 1)
        .vectorize(mi, lanes);
    stages.sum.update().reorder(mi, pair, tile, group).vectorize(mi, lanes).unroll(mi).unroll(pair);

    stages.product.compute_at(stages.sum, tile)
        .store_in(MemoryType::Register)
        .bound_extent(mi, sizes.channels)
        .bound_extent(i, sizes.pairs)
        .bound_extent(b, 1)
        .bound_extent(mo, 1)
        .vectorize(mi, lanes)
        .unroll(mi)
        .unroll(i)
        .update()
        .reorder(mi, i, stages.rc)
        .vectorize(mi, lanes)
        .unroll(mi)
        .unroll(i)
        .unroll(stages.rc, sizes.unroll);

    if (sizes.stage) {
        stages.gathered.compute_at(stages.sum, group)
            .store_in(MemoryType::Stack)
            .bound_extent(i, sizes.pairs)
            .bound_extent(t, sizes.group)
            .bound_extent(b, 1)
            .vectorize(c, lanes, TailStrategy::RoundUp);
    }

    stages.packed.compute_root()
        .bound_extent(mi, sizes.channels)
        .bound(n, 0, context.offsets)
        .vectorize(mi, lanes)
        .parallel(n);
    stages.packed.specialize(context.weight_adjacent);
}

}  // namespace hk::schedules::cpu
