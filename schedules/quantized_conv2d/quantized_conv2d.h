#pragma once
// Schedules of the algorithms in generators/quantized_conv2d/quantized_conv2d.h: how to run them,
// never what they compute.

#include "generators/quantized_conv2d/quantized_conv2d.h"
#include "generators/quantized_conv2d/quantized_conv2d_slices.h"
#include "schedules/convolution_sizes.h"

namespace hk::schedules {

struct QuantizedConv2dContext : Conv2dSizes {
    bool integer = false;  // input u8, sums in s32; else both f32
    // Of the arguments. plain: there is no slope, the weight's zero point is 0, the output no s32
    // and bounded from above by its type alone. no_bias: there is none; word_bias: its elements are
    // words next to each other; dense_filters: so are the filters, of one channel; unsigned_bytes:
    // the input and the output are u8, not s8; signed_input: the input is s8; weight_moves: the
    // weight's zero point is other than 0.
    Halide::Expr plain = {}, no_bias = {}, word_bias = {}, dense_filters = {}, unsigned_bytes = {};
    Halide::Expr signed_input = {}, weight_moves = {};
    // Of the arguments: the input's pixels lie next to each other, where channels are innermost.
    Halide::Expr dense_pixels = {};
    Halide::Expr channels = {};  // of a group
};

template<typename Stages>
using QuantizedConv2dTable = Table<Stages, QuantizedConv2dContext>;

// How the schedule that the context names sums up.
generators::PackedWords quantized_packed_words(const QuantizedConv2dContext &context);
// Words in a slice of the sum that is staged at once; 1 in schedules that stage nothing.
int quantized_sliced_tile(const QuantizedConv2dContext &context);
// The same of copied words.
int quantized_words_tile(const QuantizedConv2dContext &context);
// Of products, pixels of a row that are stored at once.
int quantized_stored_pixels(const QuantizedConv2dContext &context);
// Of products of nhwc, whether an output's channels are whole vectors, stored at once.
bool quantized_stores_vectors(const QuantizedConv2dContext &context);
// Filters of a block.
int quantized_filters_of_block(const QuantizedConv2dContext &context);
// 32-bit lanes in a vector of the sum.
int quantized_dot_lanes(const QuantizedConv2dContext &context);
// Whether sums are halves: of a CPU whose instructions multiply and add up two bytes, not four.
bool sums_halves(const QuantizedConv2dContext &context);
// Columns of a block of tiles.
int quantized_tiles_columns(const QuantizedConv2dContext &context);
generators::DepthwiseWords quantized_depthwise_words(const QuantizedConv2dContext &context);

namespace cpu {
// Of each filter: what sums start from, and what turns them into numbers. As vectors of `filters`,
// k or g, wherever a bias lies so that this is a load and not a gather: 16 filters at a time are an
// eighth of the time of a 7x7 depthwise block.
void schedule_filters(generators::QuantizedConv2dEnds &stages,
                      const QuantizedConv2dContext &context, const Halide::LoopLevel &at,
                      const Halide::Var &filters);

// What words are summed in: sum, or its halves.
Halide::Func &summed(generators::QuantizedConv2d &stages);
// A stage of it in vectors of the sums of `lanes` filters, k; of halves both of each.
void vectorize_sums(const generators::QuantizedConv2d &stages, Halide::Stage stage,
                    const Halide::Var &filters, int lanes);
// The stage that adds up words, vectorised so; of integers the loop over a word's bytes, the first
// of these, too, of numbers it is unrolled.
Halide::Stage add_words(generators::QuantizedConv2d &stages, const QuantizedConv2dContext &context,
                        std::vector<Halide::VarOrRVar> loops, const Halide::Var &filters,
                        int lanes);
// Halves, where there are any, added up in vectors of `lanes` filters.
void add_halves(generators::QuantizedConv2d &stages, const Halide::LoopLevel &at,
                const Halide::Var &filters, int lanes);
}  // namespace cpu

// One table entry each.
namespace cpu {
void quantized_broadcast(generators::QuantizedConv2d &stages,
                         const QuantizedConv2dContext &context);
void quantized_dot(generators::QuantizedConv2dDot &stages, const QuantizedConv2dContext &context);
void quantized_broadcast_blocks(generators::QuantizedConv2d &stages,
                                const QuantizedConv2dContext &context);
generators::PackedWords quantized_broadcast_words(const QuantizedConv2dContext &context);
void quantized_grouped(generators::QuantizedConv2d &stages, const QuantizedConv2dContext &context);
void quantized_sliding(generators::QuantizedConv2dDepthwise &stages,
                       const QuantizedConv2dContext &context);
void quantized_tiles(generators::QuantizedConv2dSlices &stages,
                     const QuantizedConv2dContext &context);
}  // namespace cpu

namespace gpu {
void quantized_staged(generators::QuantizedConv2dSliced &stages,
                      const QuantizedConv2dContext &context);
void quantized_unstaged(generators::QuantizedConv2dSliced &stages,
                        const QuantizedConv2dContext &context);
void quantized_words(generators::QuantizedConv2dWords &stages,
                     const QuantizedConv2dContext &context);
void quantized_matrices(generators::QuantizedConv2dProducts &stages,
                        const QuantizedConv2dContext &context);
void quantized_outer_products(generators::QuantizedConv2dProducts &stages,
                              const QuantizedConv2dContext &context);
void quantized_thread_per_group(generators::QuantizedConv2dSliced &stages,
                                const QuantizedConv2dContext &context);
}  // namespace gpu

// By the names of the table.
inline const QuantizedConv2dTable<generators::QuantizedConv2d> quantized_packed_schedules = {
    {"broadcast", cpu::quantized_broadcast},
    {"broadcast_blocks", cpu::quantized_broadcast_blocks},
    {"grouped", cpu::quantized_grouped}};
inline const QuantizedConv2dTable<generators::QuantizedConv2dSliced> quantized_sliced_schedules = {
    {"staged", gpu::quantized_staged},
    {"unstaged", gpu::quantized_unstaged},
    {"thread_per_group", gpu::quantized_thread_per_group}};
inline const QuantizedConv2dTable<generators::QuantizedConv2dWords> quantized_word_schedules = {
    {"words", gpu::quantized_words}};
inline const QuantizedConv2dTable<generators::QuantizedConv2dProducts> quantized_product_schedules =
    {{"matrices", gpu::quantized_matrices}, {"outer_products", gpu::quantized_outer_products}};
inline const QuantizedConv2dTable<generators::QuantizedConv2dSlices> quantized_slice_schedules = {
    {"tiles", cpu::quantized_tiles}};
inline const QuantizedConv2dTable<generators::QuantizedConv2dDot> quantized_dot_schedules = {
    {"dot", cpu::quantized_dot}};
inline const QuantizedConv2dTable<generators::QuantizedConv2dDepthwise>
    quantized_depthwise_schedules = {{"sliding", cpu::quantized_sliding}};

}  // namespace hk::schedules
