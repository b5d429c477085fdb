#pragma once
// Two-dimensional convolution, in the index letters of generators/image_layout.h.
//
// Every algorithm here starts its sum from start(k, g), the bias or zero, and computes
//   output(k, g, x, y, n) = activation(bias(k, g) + residual(k, g, x, y, n)
//       + sum over c, s, r of weight(c, s, r, k, g)
//             * input(c, g, x * stride_x + s * dilation_x - padding_left,
//                           y * stride_y + r * dilation_y - padding_top, n))
// with zeros outside the input, sums in f32, one rounding to the output's type. Paddings may be
// below zero, which crops the input.

#include <optional>

#include "generators/conv2d/conv2d_filter.h"
#include "generators/conv2d/transposed_groups.h"
#include "generators/long_sum.h"
#include "generators/quotient.h"
#include "generators/transpose.h"

namespace hk::generators {

// What all families that sum over windows have.
struct Conv2dGeometry {
    Halide::Expr channels, filters, groups;  // of a group
    Halide::Expr width, height, out_w;       // of the input; of the output
    Halide::Expr kernel_w, kernel_h, stride_x, stride_y, dilation_x, dilation_y;
    Halide::Expr padding_left, padding_top;
    bool pointwise = false;  // 1x1 filter, no padding
    // Where columns is defined, pixels of output and residual are a line: x is all of them, y and n
    // are 0.
    Divisor columns, rows;
    Halide::Expr batch;
    Divisor halo_row, halo_image;  // of halos: HaloLine
};

// A copy of windows' rows (generators/conv2d/channels_last.h).
struct CopiedWindows {
    Halide::Func to;                               // (pixel * channels + channel, g, row, n)
    Halide::Expr channels, taps;                   // of a pixel; elements of a window's row
    Halide::Expr elements, lines, groups, images;  // of a row; of an image; of it; of all
};

struct Conv2dOperands : Conv2dGeometry {
    Halide::Func input, residual;
    Halide::Func weight;  // undefined where packed is not
    Halide::Func packed;  // the weight as generators/conv2d/conv2d_filter.h packs it
    Halide::Func bias;    // undefined: none
    Halide::Expr out_h;   // of the output
    Halide::Expr has_bias, has_residual;
    Halide::Expr dense_pixels;  // where defined: the input's, of nhwc, lie next to each other
    // smooth 0: min(max(v < 0 ? slope * v : v, low), high), and where it is undefined; 1: silu; 2:
    // gelu; slope undefined: v
    Halide::Expr slope, low, high, smooth;
    Halide::Expr activates;  // where defined: whether there is one, which is a branch then
    Halide::Type type;       // of the output
    Halide::Target target;
};

// Where the operands' weight is not packed yet, it is here, in blocks of `block` output channels,
// zero-filled at the end: packed(k % block, c, s, r, k / block, g). Of a packed one `block` is what
// a schedule computes at once. `rows_inside`: the sum leaves out the rows of the filter that meet
// none of the image, which it asks for every output's row; so this is for tiles of one row.
// `in_blocks`: of any length, by generators/long_sum.h.
//
// `pairs`: products are of pairs of channels in bf16, what one instruction multiplies and adds up
// in f32; past an odd number of channels there are zeros. packed(e, p, s, r, k / block, g) is then
// as of generators/conv2d/conv2d_filter.h, and padded is in bf16: `stored` with its zeros, of
// `whole` pairs alone, or `words` of both channels, (p, g, x, y, n), of which tap(i, p, s, r, g, x,
// y, n) are the halves that the output at x, y reads.
//
// `windows`: of channels that may be fewer than a vector has, and dilations of 1 along rows. What a
// row of a window meets are neighbours in joined rows, as are its factors in a packed weight, and
// the sum is over them: rc is (s * channels + c), and rs has one step.
//
// padded compares each place with the image's edges, or it is zeros that the image's rows are
// copied into whole; joined rows are (column * channels + channel, g, y, n).
enum class Padding : uint8_t { compared, rows, joined_rows };
enum class Pairs : uint8_t { none, stored, whole, words };
struct PackedSum {
    int block;
    bool rows_inside;
    Padding padding = Padding::compared;
    bool in_blocks = false;
    Pairs pairs = Pairs::none;
    bool rounds_vectors = false;  // outputs, by vcvtne2ps2bf16, in vectors of 32
    bool windows = false;
};

// The sum is over rc = c, rs = s, rr = r, or where it is in blocks over those of `blocked`; of
// pairs over `of_pair`, too, which is 0 or 1, and rc is the pair.
struct Conv2d {
    Halide::Var ki{"ki"}, ko{"ko"};  // of packed, which is undefined where an operand is packed
    Halide::Func padded, packed, start, sum, activated, output;
    PackedPairs pack;  // what packed is made of, of pairs
    Halide::Func tap;
    std::optional<Halide::RVar> of_pair;
    Halide::RVar rc, rs, rr;
    BlockedSum blocked;
    Halide::RDom elements;  // of a row that is copied into padded
    Halide::Expr out_w, out_h;
};
Conv2d conv2d_packed(const Conv2dOperands &operands, const PackedSum &packed);

// The channels of the sum are split in slices of `tile`: the sum is over r.x (channel in slice),
// r.y = s, r.z = r, r.w (slice). Channels past the end are zero in both factors, so that a staged
// slice has a constant size. tile 1 needs no zeros. tap(c, s, r, g, x, y, n) is what the output at
// x, y reads of the input, so that it has the output's size whatever the stride and dilation are.
struct Conv2dSliced {
    Halide::Func padded, tap, start, filter, sum, activated, output;
    Halide::Func transposed;  // of products: the weight, neighbouring channels next to each other
    // Of products of images in rows (nchw): the input, neighbouring channels next to each other,
    // (c, pixel of all images, g), and a tile on its way there.
    Halide::Func channels_last, turned;
    bool in_rows = false;
    // Of those that are read as they are, tap(c, s, r, g, quarter, lane, set): the pixel of the
    // line is (set * 4 + quarter) * lanes + lane.
    int lanes = 0;
    Halide::Var quarter{"quarter"}, lane{"lane"}, set{"set"};
    int row_vector = 0;  // pixels, of which vectors are staged; 0: channels of a pixel are
    // Of halos, tap(c, x, tile, g): x is a place on the line with zeros around images
    // (generators/conv2d/halo.h) from where the tile's windows begin, so many. 0: of taps.
    int halo = 0;
    Halide::Var tile{"tile"};
    // Of bytes that are read so, channels of a pixel are staged all the same: tap(c, s, r, g, lane,
    // half, set) is of pixel 4 * (halves * set + half) + lane, of a thread's one or two halves;
    // words(c, g, half, set) are four such pixels of a channel, and turned_words(c / 4, lane, g,
    // half, set) four channels of one.
    Halide::Var half{"half"};
    Halide::Func words, turned_words;
    // Of an output that is apart: pixels of a row that are stored at once, `pixels` are (of those,
    // of the line).
    int stored_pixels = 1;
    bool whole_blocks = false;  // filters are, that a block has
    // Of products of conv2d itself: x is the pixels of all images, y and n are 0.
    bool line = false;
    // Of products of windows: the copy, instead of those.
    CopiedWindows windows;
    Halide::RDom r, pixels;
    BlockedSum blocked;
    // Of products: of the sum's updates by the residual, a smooth activation, and a linear one's
    // slope and bounds, in this order, else undefined. Each is one of a call, or none.
    Halide::RDom added, smooth, sloped, bounded;
    // Where a thread has whole vectors of pixels, the residual of one, (lane, k, g, vector).
    Halide::Func addend;
    // Of products in parts: else undefined.
    Halide::Var part{"part"};
    Halide::Func partial, joined;
    Halide::RDom of;
    Halide::Expr parts, pixels_of_line, filters, groups;
    Halide::Expr vectors_of_channels;  // of transposed and channels_last: a multiple of a vector
    Halide::Expr vectors_of_filters;   // of transposed, where they are next to each other
    Halide::Expr input_pixels;         // of all images
};
Conv2dSliced conv2d_sliced(const Conv2dOperands &operands, int tile);
// The same in slices of 64 bytes of channels, both factors of the operands' type: products of
// matrices, for the units that have them (compiler/tensor_cores.h). Channels are in whole vectors
// of 16 bytes, of which a slice past the end has zeros, and so are output channels.
struct ProductSlice {
    int channels, vector;

    explicit ProductSlice(const Halide::Type &type)
        : channels(64 / type.bytes()), vector(16 / type.bytes()) {}
};
constexpr int kStoredPair = 2;  // pixels: ProductForm::stored_pixels
// Pixels of the line that a tile has, and of the line with zeros around images that their windows
// meet, at most.
struct HaloTile {
    int outputs = 0, pixels = 0;
};
struct ProductForm {
    // Neighbouring channels of the weight are apart in memory, and its filters next to each other,
    // in whole vectors. It is staged so, or copied first.
    bool filters_inner = false;
    // The sum's pixels are a line, those of output and residual are not: the output is an update
    // over `pixels`, the line, and there is no `activated`. Its arguments are k, g, x, y, n.
    bool apart = false;
    // Where defined, the slices are divided in so many parts of so many slices each, which is at
    // least as many as there are: partial(k, g, x, part) of a line is their sums, and joined adds
    // them up over `of`, one after the other, from `start`.
    Halide::Expr parts = {}, slices = {};
    // Of images in rows (nchw) neighbouring channels are apart, in the weight too: both are copied
    // first, in whole vectors of channels with zeros past the last, so that there may be any number
    // of them, and of filters. The line is the pixels of all images; it is apart, or in parts.
    Conv2dLayout order = Conv2dLayout("nhwc");
    // Or, above 0, the filter alone is, its filters next to each other: the input is read as it is,
    // a word at a time, neighbouring pixels by so many neighbouring threads, and four of each such
    // threads' pixels are next to each other where they are staged.
    int lanes = 0;
    // The input is read as it is by 1x1 filters without padding, of strides of 1, in vectors of so
    // many pixels: rows are whole ones, and pixels are next to each other where they are staged. 0:
    // not so. `lanes` says which copy there is of the filter.
    int rows = 0;
    // Of an output that is apart, whose rows are whole vectors of so many pixels: they are stored
    // so. Where rows are read as they are it is what a thread has: pairs of 16 bits, vectors of
    // f32.
    int stored_pixels = 1;
    // Of strides of 1: what all windows of a tile meet is staged together, not of a tap.
    HaloTile halo = {};
    // Any number of channels, of images of either layout: what a row of a window meets is one tap
    // of a copy (generators/conv2d/channels_last.h). Dilations along rows are 1.
    bool windows = false;

    // The residual and linear activations, too, are loops of sums that are kept: not of parts.
    bool finishes_in_loops = false;

    // Whether filters of a type are staged as they are, terms across memory.
    bool stages_across(const Halide::Type &type) const;
};
Conv2dSliced conv2d_products(const Conv2dOperands &operands, const ProductForm &form = {});
// Their sums alone, from which others go on. Operands are then those that the sums read: copies.
Conv2dSliced conv2d_product_sums(Conv2dOperands &operands, const ProductForm &form);
// With tile 1, by generators/long_sum.h: the sum is over what `blocked` has.
Conv2dSliced conv2d_sliced_blocks(const Conv2dOperands &operands);

// The sum runs over vectors of `lanes` neighbouring channels and is added up across the lanes at
// the end: lanes(lane, k, g, x, y, n), over r.x (vector of channels), r.y = s, r.z = r; folded has
// a quarter as many lanes, and sum adds those up.
// The number of channels is a multiple of `lanes`.
struct Conv2dDot {
    Halide::Var lane{"lane"};
    Halide::Func padded, lanes, start, folded, sum, activated, output;
    Halide::Func filter;  // the weight's copy, where there is one
    Halide::RDom r;
};
Conv2dDot conv2d_dot(const Conv2dOperands &operands, int lanes);

// The same of a weight whose terms are not next to each other, as a gradient's are not.
Conv2dDot conv2d_dot_of_copy(Conv2dOperands operands, int lanes);

// One input and one output channel a group (c = k = 0): the sum is over r.x = s, r.y = r.
// packed(g, s, r) is the filter with groups innermost.
struct Conv2dDepthwise {
    Halide::Func padded, packed, start, sum, activated, output;
    Halide::RDom r;
    Halide::RDom columns;               // of rows that are copied; undefined where padded compares
    Halide::Expr groups, out_w, out_h;  // of the output
    // Of images in rows that are transposed: padded and sum are of neighbouring groups. line is the
    // sums' copy, which is transposed back.
    TransposedTiles tiles;
    std::vector<Halide::Func> back;
    Halide::Func line;
    Halide::Expr window_h, stride_y;  // rows of the input: of a window, from one to the next
};
// `rows_inside`: as PackedSum has it.
Conv2dDepthwise conv2d_depthwise(const Conv2dOperands &operands, bool rows_inside);

// The same, in tiles whose groups may be past the last, where sums are of anything and are left
// out.
Conv2dDepthwise conv2d_depthwise_tiles(const Conv2dOperands &operands);

// The same, padded being zeros that the image's rows are copied into, whole: no vector of columns
// compares, which on small images most others do.
Conv2dDepthwise conv2d_depthwise_rows(const Conv2dOperands &operands);

// The same of images in rows (nchw), transposed to neighbouring groups and back in tiles of
// kTransposedGroups groups and of `columns` (generators/conv2d/transposed_groups.h).
Conv2dDepthwise conv2d_depthwise_transposed(const Conv2dOperands &operands, int columns);

}  // namespace hk::generators
