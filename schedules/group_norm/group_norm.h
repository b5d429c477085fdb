#pragma once
// Schedules of the algorithms in generators/group_norm/group_norm.h.

#include "generators/group_norm/group_norm.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct GroupNormContext {
    Halide::Target target;
    bool nhwc;
    std::string schedule, knobs;
    Halide::Expr channels, pixels;             // of a slice
    Halide::Expr slices;                       // of an image
    std::vector<Halide::Parameter> read = {};  // images
    Halide::Expr images = {};                  // of a part, where gradients are added up by parts
    Halide::Expr groups = {}, width = {}, height = {}, batch = {};  // groups of a slice
};

// The lanes of sums and the sizes of blocks: they decide the order of adding, and so the last bits.
generators::GroupNormSizes group_norm_sizes(const GroupNormContext &context);

namespace cpu {
void group_norm_channels(generators::GroupNorm &stages, const GroupNormContext &context);
void group_norm_runs(generators::GroupNorm &stages, const GroupNormContext &context);
void group_norm_backward(generators::GroupNormBackward &stages, const GroupNormContext &context);
void group_norm_backward_rows(generators::GroupNormBackward &stages,
                              const GroupNormContext &context);
}  // namespace cpu

namespace gpu {
void group_norm(generators::GroupNorm &stages, const GroupNormContext &context);
void group_norm_vectors(generators::GroupNorm &stages, const GroupNormContext &context);
void group_norm_rows(generators::GroupNorm &stages, const GroupNormContext &context);
void group_norm_parts(generators::GroupNorm &stages, const GroupNormContext &context);
void group_norm_unstaged(generators::GroupNorm &stages, const GroupNormContext &context);
void group_norm_backward(generators::GroupNormBackward &stages, const GroupNormContext &context);
void group_norm_backward_groups(generators::GroupNormBackward &stages,
                                const GroupNormContext &context);
void group_norm_backward_rows(generators::GroupNormBackward &stages,
                              const GroupNormContext &context);
void group_norm_backward_parts(generators::GroupNormBackward &stages,
                               const GroupNormContext &context);
void group_norm_backward_unstaged(generators::GroupNormBackward &stages,
                                  const GroupNormContext &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::GroupNorm, GroupNormContext> group_norm_schedules = {
    {"root", root_of_sizes},
    {"cached_slice", cpu::group_norm_channels},
    {"cached_group", cpu::group_norm_runs},
    {"block_a_group", gpu::group_norm},
    {"vectors_of_group", gpu::group_norm_vectors},
    {"warp_a_group", gpu::group_norm_rows},
    {"threads_of_parts", gpu::group_norm_parts},
    {"unstaged", gpu::group_norm_unstaged}};
inline const Table<generators::GroupNormBackward, GroupNormContext> group_norm_backward_schedules =
    {{"root", root_of_sizes},
     {"cached_part", cpu::group_norm_backward},
     {"cached_rows", cpu::group_norm_backward_rows},
     {"block_a_channel", gpu::group_norm_backward},
     {"block_of_a_group", gpu::group_norm_backward_groups},
     {"block_of_rows", gpu::group_norm_backward_rows},
     {"block_of_parts", gpu::group_norm_backward_parts},
     {"unstaged", gpu::group_norm_backward_unstaged}};

}  // namespace hk::schedules
