#pragma once
// Schedules of the algorithms in generators/conv2d/conv2d.h and winograd.h: how to run them, never
// what they compute.

#include <algorithm>

#include "generators/conv2d/conv2d_columns.h"
#include "generators/conv2d/conv2d_slices.h"
#include "generators/conv2d/depthwise_planes.h"
#include "generators/conv2d/winograd.h"
#include "schedules/convolution_sizes.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct Conv2dContext : Conv2dSizes {
    bool pointwise_f32 = false;  // 1x1, no padding, f32: the input needs no copy
    Halide::Expr plain = {};     // argument: the activation is a clamp, and there is no residual
    Halide::Expr linear = {};    // argument: it is a leaky clamp; undefined of a gradient
    Halide::Expr silu = {};      // the same
    // Argument: an output's columns lie next to each other, where they are innermost.
    Halide::Expr dense_columns = Halide::Internal::const_true();
    // Argument: an input's pixels lie next to each other, where channels are innermost.
    Halide::Expr dense_pixels = Halide::Internal::const_false();
    // A gradient or residual that may be what the output's memory held.
    bool in_place = false;
    // In the filter's memory its output channels are nearer to each other than its input channels.
    bool filters_inner = false;
    // Argument: they are next to each other.
    Halide::Expr filters_adjacent = Halide::Internal::const_false();
    bool filter_packed = false;  // before the kernel, which then has no such stage
    // Argument, of depthwise: the filters of neighbouring groups lie next to each other.
    Halide::Expr groups_adjacent = Halide::Internal::const_false();
    // The same: those of one group's taps do.
    Halide::Expr dense_taps = Halide::Internal::const_false();
    bool panels = false;                        // of algorithms of columns: they read panels
    generators::SliceSource slices = {};  // of algorithms of slices
    Halide::Expr channels = {};           // argument: of a group
    Halide::Parameter filter = {};        // of a gradient
    Halide::Parameter image = {};  // what the sum reads; undefined where no schedule prefetches it

    // The residual may be what the output's memory held: only where `plain` says that there is none
    // may an element be computed twice.
    Halide::TailStrategy plain_tail() const {
        return in_place ? Halide::TailStrategy::GuardWithIf : Halide::TailStrategy::ShiftInwards;
    }
};

// Divides what follows a sum by its activation: else what two of them have in common is evaluated
// before it is known which is asked for. Returns the stage of `plain`; the ends of loops have code
// of their own in that alone.
Halide::Stage by_activation(Halide::Stage activated, const Conv2dContext &context);

template<typename Stages>
using Conv2dTable = Table<Stages, Conv2dContext>;

// How the schedule that the context names sums up.
generators::PackedSum packed_sum(const Conv2dContext &context);
// What a sum of slices reads, and in which tiles.
generators::SliceForm slice_form(const Conv2dContext &context);
// Columns of the tiles of a row.
generators::ColumnTiles column_tiles_of(const Conv2dContext &context);
// Channels in a slice of the sum that is staged at once; 1 in schedules that stage nothing.
int sliced_tile(const Conv2dContext &context);
// Of products, the neighbouring threads that read neighbouring pixels of images in rows (nchw); 0
// where those are copied first.
int product_lanes(const Conv2dContext &context);
// Whether what follows a sum is a loop of all of a thread's: shorter where a call has none of it.
bool finishes_in_loops(const Conv2dContext &context);
// Of those that read rows of them in vectors, the pixels of one.
int product_row_vector(const Conv2dContext &context);
// And those that are stored at once, of vectors of so many, or 0.
int stored_pixels(int row_vector, const Conv2dContext &context);
// Of those that stage halos, a tile's.
generators::HaloTile product_halo(const Conv2dContext &context);
// Channels in a vector of the sum.
int dot_lanes(const Conv2dContext &context);
// Whether a sum of depthwise leaves out the filter's rows that meet none of the image.
bool rows_inside(const Conv2dContext &context);
// Depthwise. Of a filter of known size the taps of a row are unrolled, of a small one all.
bool loops_over_rows(const Conv2dContext &context);
// Else so many of a row together, which share what they read.
void unroll_taps(Halide::Func &sum, const Halide::RDom &taps, const Conv2dContext &context,
                 int together = 1);
// Rows of the input that so many rows of the output need, as a power of two where they are known.
Halide::Expr rows_of_window(const Conv2dContext &context, int outputs, const Halide::Expr &stride_y,
                            const Halide::Expr &window_h);
// Columns of a tile that is transposed.
int transposed_columns(const Conv2dContext &context);
// Tiles of planes that are lines.
generators::PlaneTile plane_tile(const Conv2dContext &context);
// Tiles in a block of the line that they are.
int winograd_tiles(const Conv2dContext &context);

// A sum's update: its loops, innermost first, of which the first is in vectors, and of pairs both
// channels in one step (vdpbf16ps).
Halide::Stage add_in_vectors(Halide::Func sum, const std::optional<Halide::RVar> &of_pair,
                             int lanes, std::vector<Halide::VarOrRVar> loops);

// The filter's pairs of a gradient, blocks of so many filters: in vectors of filters, or one by
// one.
void pack_pairs(generators::Conv2d &stages, int block, int lanes);

// Blocks of so many floats in a task: whole pairs of cache lines, which the processor loads
// together.
inline int blocks_of_lines(int floats) { return std::max(32 / floats, 1); }

// One table entry each, and its sum.
namespace cpu {
void broadcast(generators::Conv2d &stages, const Conv2dContext &context);
void broadcast_blocks(generators::Conv2d &stages, const Conv2dContext &context);
generators::PackedSum broadcast_sum(const Conv2dContext &context);
void columns(generators::Conv2d &stages, const Conv2dContext &context);
generators::PackedSum columns_sum(const Conv2dContext &context);
void column_tiles(generators::Conv2dColumns &stages, const Conv2dContext &context);
void grouped(generators::Conv2d &stages, const Conv2dContext &context);
generators::PackedSum grouped_sum(const Conv2dContext &context);
void tiles(generators::Conv2dSlices &stages, const Conv2dContext &context);
void dot(generators::Conv2dDot &stages, const Conv2dContext &context);
void sliding(generators::Conv2dDepthwise &stages, const Conv2dContext &context);
void sliding_in_place(generators::Conv2dDepthwise &stages, const Conv2dContext &context);
void planes(generators::Conv2dPlanes &stages, const Conv2dContext &context);
void winograd(generators::Conv2dWinograd &stages, const Conv2dContext &context);
}  // namespace cpu

namespace gpu {
void staged(generators::Conv2dSliced &stages, const Conv2dContext &context);
void unstaged(generators::Conv2dSliced &stages, const Conv2dContext &context);
void matrices(generators::Conv2dSliced &stages, const Conv2dContext &context);
void outer_products(generators::Conv2dSliced &stages, const Conv2dContext &context);
void thread_per_group(generators::Conv2dDepthwise &stages, const Conv2dContext &context);
void tile_of_groups(generators::Conv2dDepthwise &stages, const Conv2dContext &context);
}  // namespace gpu

// By the names of the table.
inline const Conv2dTable<generators::Conv2d> packed_schedules = {
    {"broadcast", cpu::broadcast},
    {"broadcast_blocks", cpu::broadcast_blocks},
    {"columns", cpu::columns},
    {"grouped", cpu::grouped}};
inline const Conv2dTable<generators::Conv2dColumns> column_schedules = {
    {"root", root_of_sizes}, {"columns", cpu::column_tiles}};
inline const Conv2dTable<generators::Conv2dSlices> slice_schedules = {{"root", root_of_sizes},
                                                                      {"tiles", cpu::tiles}};
inline const Conv2dTable<generators::Conv2dSliced> sliced_schedules = {{"staged", gpu::staged},
                                                                       {"unstaged", gpu::unstaged}};
inline const Conv2dTable<generators::Conv2dSliced> product_schedules = {
    {"matrices", gpu::matrices}, {"outer_products", gpu::outer_products}};
inline const Conv2dTable<generators::Conv2dDot> dot_schedules = {{"dot", cpu::dot}};
inline const Conv2dTable<generators::Conv2dDepthwise> depthwise_schedules = {
    {"sliding", cpu::sliding},
    {"sliding_in_place", cpu::sliding_in_place},
    {"thread_per_group", gpu::thread_per_group},
    {"tile_of_groups", gpu::tile_of_groups}};
inline const Conv2dTable<generators::Conv2dPlanes> plane_schedules = {{"root", root_of_sizes},
                                                                      {"planes", cpu::planes}};
inline const Conv2dTable<generators::Conv2dWinograd> winograd_schedules = {
    {"root", root_of_sizes}, {"winograd", cpu::winograd}};

}  // namespace hk::schedules
