#include "schedules/softmax_cross_entropy/softmax_cross_entropy.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

void block_in_registers(SoftmaxCrossEntropy &stages) {
    stages.block_sum.compute_at(stages.lane_sum, stages.blocks)
        .store_in(MemoryType::Register)
        .bound_extent(stages.lane, 1)
        .bound_extent(n, 1)
        .update()
        .never_partition_all();
}

}  // namespace

// A block of threads a row. What threads have of it is a register each until they put it into
// shared memory: 4 bytes a lane, 4 a group of 16 and some for the row. The row is read three times,
// in place too: its maximum, its sum and the logit of its label are in shared memory, behind a
// barrier, before the first thread writes.
void softmax_cross_entropy_block_per_row(SoftmaxCrossEntropy &stages,
                                         const SoftmaxCrossEntropyContext &context) {
    const int lanes = softmax_cross_entropy_tile(context).lanes;
    const Var round("round"), thread("thread");
    Func gradient = stages.gradient;
    gradient.compute_root()
        .split(c, round, thread, lanes, guard)
        .reorder(round, thread, n)
        .gpu_blocks(n)
        .gpu_threads(thread)
        .never_partition_all();
    stages.loss.compute_root().gpu_blocks(n).never_partition_all();
    stages.loss.compute_with(gradient, n);
    Func best_of_block = stages.lane_best.in(stages.group_best);
    for (auto [of_lane, of_block, of_group] :
         {std::tuple{stages.lane_best, best_of_block, stages.group_best},
          {stages.lane_sum, stages.lane_total, stages.group_sum}}) {
        of_block.compute_at(gradient, n)
            .store_in(MemoryType::GPUShared)
            .bound_extent(n, 1)
            .gpu_threads(stages.lane)
            .never_partition_all();
        of_lane.compute_at(of_block, stages.lane)
            .store_in(MemoryType::Register)
            .bound_extent(stages.lane, 1)
            .bound_extent(n, 1)
            .update()
            .never_partition_all();
        of_group.compute_at(gradient, n)
            .store_in(MemoryType::GPUShared)
            .bound_extent(n, 1)
            .gpu_threads(stages.group)
            .never_partition_all();
    }
    block_in_registers(stages);
    const auto of_thread = [](Func of_row, const LoopLevel &at) {
        of_row.compute_at(at).store_in(MemoryType::Register).bound_extent(n, 1);
    };
    of_thread(stages.best.in(stages.block_sum), LoopLevel(stages.lane_total, stages.lane));
    of_thread(stages.of_gradient, LoopLevel(gradient, thread));
    for (Func of_row : {stages.best, stages.sum, stages.at_label}) {
        of_row.compute_at(gradient, n).store_in(MemoryType::GPUShared).bound_extent(n, 1);
    }
}

// A row a thread, which stages nothing, for devices without shared memory.
void softmax_cross_entropy_thread_per_row(SoftmaxCrossEntropy &stages,
                                          const SoftmaxCrossEntropyContext &) {
    const Var block("block");
    for (Func out : {stages.gradient, stages.loss}) {
        out.compute_root()
            .split(n, block, n, 64, guard)
            .gpu_blocks(block)
            .gpu_threads(n)
            .never_partition_all();
    }
    stages.loss.compute_with(stages.gradient, n);
    for (Func of_row : {stages.lane_best, stages.best, stages.lane_sum, stages.sum, stages.at_label,
                        stages.of_gradient}) {
        of_row.compute_at(stages.gradient, n).store_in(MemoryType::Register).bound_extent(n, 1);
    }
    for (Func of_lane : {stages.lane_best, stages.lane_sum}) of_lane.update().never_partition_all();
    block_in_registers(stages);
}

}  // namespace hk::schedules::gpu
