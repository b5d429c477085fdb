#include "schedules/tensor_product.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

void tensor_product(TensorProduct &stages, const TensorProductContext &context) {
    const TensorProductSizes sizes = tensor_product_sizes(context);
    const int lanes = sizes.channels / context.vectors;
    int unroll = sizes.depth;
    Knobs knobs(context.knobs);
    for (int known = 0; const char *name : {"pairs", "rows", "group", "depth"})
        knobs.take(name, known);
    knobs.take("unroll", unroll);
    knobs.end();

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
    stages.sum.update()
        .reorder(mi, pair, tile, group)
        .vectorize(mi, lanes)
        .unroll(mi)
        .unroll(pair);

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
        .unroll(stages.rc, unroll);

    stages.gathered.compute_at(stages.sum, group)
        .store_in(MemoryType::Stack)
        .bound_extent(i, sizes.pairs)
        .bound_extent(t, sizes.group)
        .bound_extent(b, 1)
        .vectorize(c, lanes, TailStrategy::RoundUp);

    stages.packed.compute_root()
        .bound_extent(mi, sizes.channels)
        .bound(n, 0, context.offsets)
        .vectorize(mi, lanes)
        .parallel(n);
    stages.packed.specialize(context.weight_adjacent);
}

}  // namespace hk::schedules::cpu
