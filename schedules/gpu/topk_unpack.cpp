#include "schedules/topk_unpack.h"
#include "schedules/gpu/topk_elements.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// A thread writes one element, 128 of them a block.
void topk_unpack(TopKUnpack &stages, const TopKUnpackContext &) {
    const Var block("block"), thread("thread");
    Func output = stages.output;
    std::vector<Var> dims;
    for (const Var &dim : output.args()) dims.push_back(dim);
    fuse_elements(output, dims, block);
    output.split(block, block, thread, 128, TailStrategy::GuardWithIf)
        .gpu_blocks(block)
        .gpu_threads(thread)
        .never_partition_all();
}

}  // namespace hk::schedules::gpu
