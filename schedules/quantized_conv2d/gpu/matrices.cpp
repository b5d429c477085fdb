#include "schedules/conv2d/gpu/matrices.h"
#include "schedules/conv2d/gpu/channels_last.h"
#include "schedules/gpu_block.h"
#include "schedules/quantized_conv2d/gpu/correct.h"
#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr int kPixelsOfLane = 8;

// Of images in rows, but parts. A thread has the pixels that it stores at once: neighbours' are
// next to them.
gpu::MatrixTiles tiles_of_rows(const QuantizedConv2dContext &context) {
    const int vector = gpu::pixel_tiles(context, kPixelsOfLane, powers(1, 8)).vector;
    return gpu::pixel_tiles(context, vector == gpu::kWords ? vector : kPixelsOfLane, powers(1, 8));
}

}  // namespace

int quantized_stored_pixels(const QuantizedConv2dContext &context) {
    return context.schedule == "matrices" ? tiles_of_rows(context).vector : 1;
}

bool quantized_stores_vectors(const QuantizedConv2dContext &context) {
    return context.schedule == "matrices" && gpu::matrix_tiles(context, 1, {1, 8}).vector > 1;
}

int quantized_filters_of_block(const QuantizedConv2dContext &context) {
    return tiles_of_rows(context).tile_k;
}

namespace gpu {

namespace {

// A kernel for each of the types that a sum reads; again where what most often follows it does; and
// where windows are summed up, which are not made otherwise.
void divide(Stage out, const QuantizedConv2dContext &context, bool one_type, bool finishes) {
    if (!context.integer) return;
    std::vector<Stage> stages;
    if (finishes) stages = {out.specialize(context.plain), out.specialize(context.weight_moves)};
    stages.push_back(out);
    for (Stage &stage : stages)
        if (!one_type) stage.specialize(context.signed_input);
}

// A thread reads words of pixels of a vector of channels, its neighbours those of the next channels
// and words, and writes a vector of each pixel.
void copy_words(TurnedImage &image, const Conv2dSliced &products) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    constexpr int vectors = 4, words = 64;  // of a block
    const int vector = ProductSlice(UInt(8)).vector;
    const Var &lane = products.lane, &word = image.word;
    const Var ci("ci"), c16("c16"), co("co"), wo("wo"), go("go"), block("block");
    Func to = image.lines;
    to.compute_root()
        .bound(c, 0, products.vectors_of_channels)
        .bound(lane, 0, kWords)
        .bound(word, 0, image.all_words)
        .bound(g, 0, products.groups)
        .split(c, c16, ci, vector, TailStrategy::RoundUp)
        .split(c16, co, c16, vectors, guard)
        .split(word, wo, word, words, guard)
        .split(g, go, g, 1)
        .reorder({ci, lane, c16, word, g, co, wo, go})
        .fuse(wo, go, block)
        .fuse(co, block, block)
        .gpu_blocks(block)
        .gpu_threads(c16, word)
        .vectorize(ci)
        .unroll(lane)
        .never_partition_all();
    image.turned.compute_at(to, lane)
        .store_in(MemoryType::Register)
        .bound_extent(c, vector / kWords)
        .unroll(c);
    image.words.compute_at(to, c16)
        .store_in(MemoryType::Register)
        .bound_extent(c, vector)
        .unroll(c);
    for (const Var &one : {g, word}) {
        image.turned.bound_extent(one, 1);
        image.words.bound_extent(one, 1);
    }
    image.turned.bound_extent(lane, 1);
}

void run(QuantizedConv2dProducts &stages, const QuantizedConv2dContext &context,
         const MatrixTiles &t) {
    Conv2dSliced &products = stages.products;
    products.output = stages.output;
    const bool in_parts = products.partial.defined();
    PartBlocks blocks{{}, t.tile_k, t.threads()};
    Stage out = tile_matrices(products, t, blocks.at);
    unroll_matrices(out, products, t);
    const bool in_vectors = context.nhwc ? t.vector > 1 : products.stored_pixels > 1;
    if (in_vectors && !in_parts && context.integer)
        finish_one_by_one(stages.activated, products, t);
    divide(out, context, products.stored_pixels > 1, !in_parts);
    if (in_parts) {
        Stage joined = finish_parts(products, blocks);
        if (context.integer) joined.specialize(context.weight_moves);
    }
    for (const Func &of_filter : {stages.start, stages.multiplier, stages.offset}) {
        if (context.integer || of_filter.name() != stages.start.name())
            cooperative_copy(of_filter, blocks.at, {{k, blocks.filters}, {g, 1}}, blocks.threads);
    }
    if (stages.image.lines.defined()) copy_words(stages.image, products);
    if (products.transposed.defined()) copy_channels_last(products, false);
}

}  // namespace

// Tiles as of conv2d's, of slices of 64 channels. Products are of u8 or s8, whichever the input is,
// by s8: a kernel each, and again where windows are summed up because the weight's zero point is
// not 0. Of each filter of the tile, what the sum starts from, and what it is multiplied by and
// moved by, are in shared memory: 12 * tile_k bytes.
//
// Products of bytes take half the time of f16's, of as many bytes of shared memory: warps of 64 by
// 64 sums read less of it, 64 products to 16 loads of four matrices.
void quantized_matrices(QuantizedConv2dProducts &stages, const QuantizedConv2dContext &context) {
    const Conv2dSliced &products = stages.products;
    const bool in_parts = products.partial.defined();
    const bool words = in_parts && !products.in_rows;
    const Type result = words ? products.partial.type() : stages.output.type();
    const bool apart = products.pixels.defined();
    std::vector<int> vectors;
    if (!in_parts) vectors = apart ? powers(1, 8) : std::vector<int>{1, 8};
    run(stages, context,
        products.stored_pixels > 1 ? tiles_of_rows(context)
                                   : matrix_tiles(context, channels_of_lane(result), vectors));
    correct(stages, context);
}

// Of numbers, by multiply-adds, as conv2d's.
void quantized_outer_products(QuantizedConv2dProducts &stages,
                              const QuantizedConv2dContext &context) {
    if (context.integer) throw CompileError("schedule outer_products is for products of f32");
    run(stages, context, outer_tiles(context, stages.products.in_rows));
}

}  // namespace gpu

}  // namespace hk::schedules
