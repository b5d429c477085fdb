#include "schedules/conv2d_backward/conv2d_backward_weight.h"
#include "schedules/gpu_block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

using namespace gpu;

namespace {

// Tiles of k, of c (as x) and, where nothing is staged, of g (as y); tile_c is of columns.
struct Sizes {
    Tiles tiles;
    int parts;
};

Sizes sizes(const Conv2dBackwardWeightContext &context) {
    const bool staged = context.schedule != "unstaged";
    Sizes sizes{staged ? Tiles{64, 64, 1, 8, 16, 16, 1} : Tiles{16, 16, 1, 1, 8, 16, 1}, 1};
    Knobs knobs(context.knobs);
    sizes.tiles.take(knobs, staged, !staged);
    knobs.take("parts", sizes.parts, {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64});
    knobs.end();
    return sizes;
}

// Neighbouring threads are of neighbouring channels, which the filter's gradient has next to each
// other in nhwc.
Block block_of(const Sizes &sizes, const Conv2dBackwardWeightSliced &stages, bool staged) {
    const Axes sums =
        staged ? Axes{k, c, s, {r, g, stages.part}} : Axes{k, c, g, {s, r, stages.part}};
    Axes output = sums;
    if (sizes.parts == 1) output.alone.pop_back();
    return {sizes.tiles, false, sums, output};
}

// What blocks compute: the output, or the parts that a second kernel adds up, an element a thread.
Func in_blocks(Conv2dBackwardWeightSliced &stages) {
    if (!stages.partial.defined()) return stages.output;
    const Var block("block"), thread("thread"), element("element");
    stages.output.fuse(c, s, element)
        .fuse(element, r, element)
        .fuse(element, k, element)
        .fuse(element, g, element)
        .split(element, block, thread, 64, TailStrategy::GuardWithIf)
        .gpu_blocks(block)
        .gpu_threads(thread)
        .never_partition_all();
    return stages.partial.compute_root();
}

}  // namespace

WeightSlices backward_weight_slices(const Conv2dBackwardWeightContext &context) {
    const Sizes chosen = sizes(context);
    return {chosen.tiles.tile_c, chosen.parts};
}

namespace gpu {

// A matrix product for each tap: a block computes 64 filters times 64 channels of one tap, 16 sums
// a thread in registers, while slices of eight pixels of the output's gradient and of what the tap
// meets of the input pass through shared memory: 4 * 8 * (68 + 68) = 4352 bytes whatever the
// problem is; 128 FMAs a thread to 16 loads of four floats from them, and to four loads from global
// memory. Rows are 68 floats, as in conv2d's. What a filter is too small to give blocks for is
// divided in parts of the rows of all images, which a second kernel adds up.
void backward_weight_staged(Conv2dBackwardWeightSliced &stages,
                            const Conv2dBackwardWeightContext &context) {
    const Sizes chosen = sizes(context);
    const Block block = block_of(chosen, stages, true);
    const Tiles &t = chosen.tiles;
    const RDom &d = stages.r;
    const Func out = in_blocks(stages);
    block.tile(out);
    block.hold(stages.sum, out);
    Stage update = stages.sum.update();
    block.accumulate(update, {d.x}, {d.y, d.z});
    update.unroll(d.x);

    const LoopLevel slice(stages.sum, d.y);
    Tiles::estimate_shared(t.tile_c * (t.tile_k + 4 + t.tile_x + 4));
    const auto stage = [&](Func &image, const Var &channel, int channels,
                           const std::vector<std::pair<Var, int>> &others) {
        std::vector<std::pair<Var, int>> extents = {{channel, channels}, {x, t.tile_c}};
        std::vector<Var> storage = {channel, x};
        if (!context.nhwc) std::swap(extents[0], extents[1]);
        for (const auto &other : others) {
            extents.push_back(other);
            storage.push_back(other.first);
        }
        image.reorder_storage(storage).align_storage(channel, channels + 4);
        cooperative_copy(image, slice, extents, block.threads());
    };
    stage(stages.gradient, k, t.tile_k, {{g, 1}, {stages.row, 1}});
    stage(stages.tap, c, t.tile_x, {{s, 1}, {r, 1}, {g, 1}, {stages.row, 1}});
}

// Nothing is staged: the last rungs, and filters that would leave most of a 64 x 64 tile idle,
// where threads are of groups too. A thread has one sum for each of its filters, and reads the
// input once for all of them. Lost: parts in a thread, which become local memory.
void backward_weight_unstaged(Conv2dBackwardWeightSliced &stages,
                              const Conv2dBackwardWeightContext &context) {
    const Block block = block_of(sizes(context), stages, false);
    const RDom &d = stages.r;
    block.accumulate_alone(stages.sum, in_blocks(stages), {d.x, d.y, d.z});
}

}  // namespace gpu

}  // namespace hk::schedules
