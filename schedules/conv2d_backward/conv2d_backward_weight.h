#pragma once
// Schedules of the algorithm in generators/conv2d_backward/conv2d_backward_weight.h.

#include <optional>

#include "generators/conv2d_backward/conv2d_backward_weight.h"
#include "generators/conv2d_backward/conv2d_backward_weight_columns.h"
#include "generators/conv2d_backward/conv2d_backward_weight_panels.h"
#include "generators/conv2d_backward/conv2d_backward_weight_peeled.h"
#include "generators/conv2d_backward/conv2d_backward_weight_planes.h"
#include "generators/conv2d_backward/conv2d_backward_weight_products.h"
#include "generators/conv2d_backward/conv2d_backward_weight_rows.h"
#include "generators/conv2d_backward/conv2d_backward_weight_sliced.h"
#include "schedules/convolution_sizes.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct Conv2dBackwardWeightContext : Conv2dSizes {
    Halide::Expr channels = {}, filters = {}, groups = {};  // of a group; of both
    Halide::Expr plain = {};                                // nothing is accumulated
    Halide::Expr packed = {};  // nhwc, sizes known: the result has no gaps
    bool in_f32 = false;       // operands need no conversion
};

// How the schedule that the context names divides images.
generators::WeightTiles backward_weight_tiles(const Conv2dBackwardWeightContext &context);

// How the sum by slices is divided: columns of a slice, parts of the rows.
struct WeightSlices {
    int columns, parts;
};
WeightSlices backward_weight_slices(const Conv2dBackwardWeightContext &context);

// Pixels of the vectors in which rows of images are read, of both, or of the output's gradient
// alone; 1: one by one. 0: they are copied first.
int backward_weight_row_vector(const Conv2dBackwardWeightContext &context, bool both);
// Slices of a step of products, of one or several warps each.
int backward_weight_slices_of_step(const Conv2dBackwardWeightContext &context, bool both);

// What blocks of depthwise_row_sums are of.
generators::DepthwiseRows backward_weight_rows(const Conv2dBackwardWeightContext &context);

// One table entry each, and its tiles.
namespace cpu {
void backward_weight_register_tiles(generators::Conv2dBackwardWeight &stages,
                                    const Conv2dBackwardWeightContext &context);
generators::WeightTiles tiles_in_registers(const Conv2dBackwardWeightContext &context);

void backward_weight_columns(generators::Conv2dBackwardWeight &stages,
                             const Conv2dBackwardWeightContext &context);
generators::WeightTiles tiles_of_columns(const Conv2dBackwardWeightContext &context);

void backward_weight_masked_columns(generators::Conv2dBackwardWeightColumns &stages,
                                    const Conv2dBackwardWeightContext &context);
// Undefined where nothing reads columns by masks: f32 alone, and AVX-512 has them.
std::optional<generators::ColumnTiles> tiles_of_masked_columns(
    const Conv2dBackwardWeightContext &context);

void backward_weight_peeled(generators::Conv2dBackwardWeightPeeled &stages,
                            const Conv2dBackwardWeightContext &context);
generators::PeeledTiles tiles_of_peeled(const Conv2dBackwardWeightContext &context);

void backward_weight_panels(generators::Conv2dBackwardWeightPlanes &stages,
                            const Conv2dBackwardWeightContext &context);
generators::PlaneTiles tiles_of_panels(const Conv2dBackwardWeightContext &context);

void backward_weight_packed(generators::Conv2dBackwardWeightPanels &stages,
                            const Conv2dBackwardWeightContext &context);
generators::WeightPanels tiles_of_packed(const Conv2dBackwardWeightContext &context);
}  // namespace cpu

namespace gpu {
void backward_weight_staged(generators::Conv2dBackwardWeightSliced &stages,
                            const Conv2dBackwardWeightContext &context);
void backward_weight_unstaged(generators::Conv2dBackwardWeightSliced &stages,
                              const Conv2dBackwardWeightContext &context);
void backward_weight_taps_in_registers(generators::Conv2dBackwardWeightRows &stages,
                                       const Conv2dBackwardWeightContext &context);
void backward_weight_matrices(generators::Conv2dBackwardWeightProducts &stages,
                              const Conv2dBackwardWeightContext &context);
void backward_weight_outer_products(generators::Conv2dBackwardWeightProducts &stages,
                                    const Conv2dBackwardWeightContext &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::Conv2dBackwardWeight, Conv2dBackwardWeightContext>
    conv2d_backward_weight_schedules = {{"root", root_of_sizes},
                                        {"register_tiles", cpu::backward_weight_register_tiles},
                                        {"columns", cpu::backward_weight_columns},
                                        {"columns_or_copies", cpu::backward_weight_columns}};
inline const Table<generators::Conv2dBackwardWeightColumns, Conv2dBackwardWeightContext>
    conv2d_backward_weight_columns_schedules = {
        {"root", root_of_sizes},
        {"columns_or_copies", cpu::backward_weight_masked_columns},
        {"columns_or_planes", cpu::backward_weight_masked_columns}};
inline const Table<generators::Conv2dBackwardWeightPeeled, Conv2dBackwardWeightContext>
    conv2d_backward_weight_peeled_schedules = {{"root", root_of_sizes},
                                               {"peeled", cpu::backward_weight_peeled},
                                               {"columns_or_planes", cpu::backward_weight_peeled}};
inline const Table<generators::Conv2dBackwardWeightPlanes, Conv2dBackwardWeightContext>
    conv2d_backward_weight_planes_schedules = {{"root", root_of_sizes},
                                               {"panels", cpu::backward_weight_panels}};
inline const Table<generators::Conv2dBackwardWeightPanels, Conv2dBackwardWeightContext>
    conv2d_backward_weight_panels_schedules = {{"root", root_of_sizes},
                                               {"packed", cpu::backward_weight_packed}};
inline const Table<generators::Conv2dBackwardWeightSliced, Conv2dBackwardWeightContext>
    conv2d_backward_weight_sliced_schedules = {{"root", root_of_sizes},
                                               {"staged", gpu::backward_weight_staged},
                                               {"unstaged", gpu::backward_weight_unstaged}};
inline const Table<generators::Conv2dBackwardWeightRows, Conv2dBackwardWeightContext>
    conv2d_backward_weight_rows_schedules = {
        {"root", root_of_sizes}, {"taps_in_registers", gpu::backward_weight_taps_in_registers}};
inline const Table<generators::Conv2dBackwardWeightProducts, Conv2dBackwardWeightContext>
    conv2d_backward_weight_products_schedules = {
        {"matrices", gpu::backward_weight_matrices},
        {"outer_products", gpu::backward_weight_outer_products}};

}  // namespace hk::schedules
