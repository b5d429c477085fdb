#pragma once
// Two-dimensional convolution of a quantised weight (runtime/include/hk/quantized_conv2d.h has the
// definition). Index letters and the order of arguments are those of generators/conv2d/conv2d.h.
//
// An input of u8 is summed in s32, as
//   sum of input * weight - zx * filter_sum(k) - zw * window_sum(x, y) + zx * zw * terms
// with zx, zw the zero points and zx stored in the padding: products of 8 bits, and two sums of
// bytes that are only made where the other's zero point is not zero. An input of f32 is summed in
// f32 over input * (weight - zw).
//
// Channels go in words of four, what one instruction multiplies and adds up in 8 bits: channel 4 *
// w + i.

#include <functional>
#include <vector>

#include "generators/conv2d/conv2d.h"
#include "generators/quantized_conv2d/quantized_conv2d_filter.h"

namespace hk::generators {

struct QuantizedConv2dOperands : Conv2dGeometry {
    // input(c, g, x, y, n) u8 or f32; weight(c, s, r, k, g) s8, undefined where packed is not:
    // that is as quantized_conv2d_filter.h has it; scale(k, g), real_bias(k, g) f32, and
    // sum_bias(k, g) s32, the bias that has the scale of the products.
    Halide::Func input, weight, packed, scale, real_bias, sum_bias;
    Halide::Expr terms;  // of a sum
    // flips: of bytes, 128 where they are s8, whose zero point is then given plus 128
    Halide::Expr input_flip, input_scale, input_zero_point, weight_zero_point;
    Halide::Expr output_scale, output_flip, output_zero_point;
    Halide::Expr integer_output;    // the four bytes of the output are those of the sum
    Halide::Expr slope, low, high;  // of the activation, in units of output_scale
    Halide::Type output_type;       // u8 or f32
    // Where defined, bytes of the input are s8, not u8, if it holds, and nothing is flipped.
    Halide::Expr input_signed;
    Halide::Func output;  // of products whose output is apart (ProductForm): the buffer's own
    // Where defined, whether a window has a term of this channel and row.
    std::function<Halide::Expr(const Halide::Expr &, const Halide::Expr &)> has_tap;

    bool integer() const { return input.type().is_uint(); }
};

// Whether the upper bound of stored bytes is the type's own: most activations, and none.
Halide::Expr quantized_conv2d_bounded_by_type(const QuantizedConv2dOperands &operands);

// What all algorithms have. multiplier(k, g) and offset(k, g) turn a sum into what is activated.
struct QuantizedConv2dEnds {
    Halide::Func padded, filter_sum, window_sum, start, multiplier, offset, sum, activated, output;
    // Of filter_sum, window_sum: c, s, r; of a packed filter i, w, s, r.
    Halide::RDom filter_r, window_r;
};

// The sum is over r[0] = i, r[1] = w, r[2] = s, r[3] = r. Where the operands' weight is not packed
// yet, it is here: packed(i, k, g, w, s, r), bytes for u8, numbers less the zero point for f32.
//
// Of integers, where instructions multiply and add up two numbers of 16 bits, not four bytes, sums
// are two: halves(half, k, g, x, y, n), over bytes 2 * half + i of a word, i < 2; padded has 16
// bits, and sum adds up both over half_r. Else halves is undefined.
struct QuantizedConv2d : QuantizedConv2dEnds {
    Halide::Var half{"half"};
    Halide::Func halves;
    Halide::RDom half_r;
    Halide::Func packed;  // undefined where an operand is packed
    Halide::RDom r;
    BlockedSum blocked;
    // Of joined rows, else undefined: what padded reads, (column * channels + channel, g, y, n),
    // and the elements of a row that are copied into it.
    Halide::Func joined;
    Halide::RDom elements;
};
struct PackedWords {
    int block;                 // of filters that a schedule sums up at once
    bool whole = false;        // the number of channels is a multiple of four
    bool filled = false;       // zeros past the last are compared with, not stored: any schedule
    bool in_blocks = false;    // of f32, by generators/long_sum.h: over w, s, r of `blocked`
    bool rows_inside = false;  // the sum leaves out the rows of the filter that meet none of the
                               // image, which it asks for every output's row
    bool joined_rows = false;  // rows of the image are copied as one loop, of few channels
    bool halves = false;       // sums are halves
};
QuantizedConv2d quantized_conv2d_packed(const QuantizedConv2dOperands &operands,
                                        const PackedWords &form);

// The words of the sum are split in slices of `tile`: the sum is over r[0] = i, r[1] = word in
// slice, r[2] = s, r[3] = r, r[4] (slice). filter(i, w, s, r, k, g), and tap(i, w, s, r, g, x, y,
// n), what the output at x, y reads of window(i, w, g, x, y, n), the padded input, are of whole
// slices, one of them zero past the last channel. Factors are stored bytes for u8 and slices of
// several words, whose zero points enter through filter_sum and window_sum, made for each call;
// else they are numbers without zero point.
struct QuantizedConv2dSliced : QuantizedConv2dEnds {
    Halide::Func window, tap, filter;
    Halide::RDom r;
    BlockedSum blocked;
};
// in_blocks: as above, with slices of one word.
QuantizedConv2dSliced quantized_conv2d_sliced(const QuantizedConv2dOperands &operands, int tile,
                                              bool in_blocks = false);

// Of bytes, both factors copied before in words of four channels, zeros past the last: of the image
// with its zero point around it, `image`, whose rows have the words of a pixel next to each other;
// of the filter copied_filter(4 * k + i, w, s, r, g), in whole slices of words. What a row of a
// window meets is one step of the sum, of `words` words, where its taps are next to each other.
//
// The sum is over r[0] = i, r[1] = word in slice, r[2] = step, r[3] = r, r[4] (slice); filter(4 * k
// + i, w, s, r, g) and tap(4 * x + i, w, s, r, g, y, n) are the copies', as an output reads them.
struct QuantizedConv2dWords : QuantizedConv2dEnds {
    CopiedWindows image;
    Halide::Func copied_filter, filter, tap;
    Halide::Expr words, steps, kernel_h, filters;
    Halide::RDom r;
};
// `rows`: of the output, of which there are so many images.
QuantizedConv2dWords quantized_conv2d_words(const QuantizedConv2dOperands &operands,
                                            const Halide::Expr &rows, const Halide::Expr &images,
                                            int tile);

// The same in slices of 64 bytes of channels: products of matrices, as conv2d_products(), in both
// layouts. Of integers, for the units that have them (compiler/tensor_cores.h), factors are the
// stored bytes; the input's are not flipped, but are of the type that they have. Of f32 they are
// numbers: of the filter a copy, less its zero point. Channels of nhwc are in whole vectors of 16
// bytes, and filters of integers; channels of products of windows are any number.
//
// Products of rows (nchw) read words of pixels and turn them: 1x1 filters those of a slice, others
// a copy of the image: lines(c, pixel of word, word of all images, g) is its bytes as s8,
// neighbouring channels next to each other, made of words(c, g, word), by turned(c / 4, pixel of
// word, g, word).
struct TurnedImage {
    Halide::Var word{"word"};
    Halide::Func words, turned, lines;
    Halide::Expr all_words;
};
struct QuantizedConv2dProducts : QuantizedConv2dEnds {
    Conv2dSliced products;  // filter, tap and sum, or its parts and `joined`, which is `sum`
    TurnedImage image;      // or undefined
};
QuantizedConv2dProducts quantized_conv2d_products(const QuantizedConv2dOperands &operands,
                                                  const ProductForm &form);

// The sum runs over vectors of neighbouring channels and is added up across the lanes at the end:
// lanes(lane, k, g, x, y, n) is a sum over r[0] = i, r[1] (vector of channels), r[2] = s, r[3] = r;
// folded has a quarter as many lanes, and sum adds those up. The number of channels is a multiple
// of `lanes`, u8: of 4 * `lanes`, or where an instruction multiplies `halves` of words of 2 *
// `lanes`.
struct QuantizedConv2dDot : QuantizedConv2dEnds {
    Halide::Var lane{"lane"};
    Halide::Func lanes, folded;
    Halide::RDom r;
};
QuantizedConv2dDot quantized_conv2d_dot(const QuantizedConv2dOperands &operands, int lanes,
                                        bool halves);

// How four numbers of the input make a word, for u8; f32 knows `columns` of one number.
//   columns  what an output reads of a row, in words of four columns.
//   pairs    four columns of a row from every second one on: they serve two outputs, for which the
//            filter is shifted (its phase). Stride and dilation 1.
//   squares  2 x 2 numbers: four serve the outputs around them. Stride 2, dilation 1.
//   rows     or two numbers of 16 bits of a column: of rows that the filter has next to each other.
enum class DepthwiseWords { columns, pairs, squares, rows };

// One input and one output channel a group (c = k = 0). The sum is over r.x = i in a word, r.y and
// r.z (words of the filter, across and down). At element word * g + i, taps(element, w, x, y, n)
// are words of the padded input and packed(element, phase, w, r) those of the filter, filled with
// zeros.
struct QuantizedConv2dDepthwise : QuantizedConv2dEnds {
    int word;  // numbers of one: 1 of f32
    Halide::Var phase{"phase"};
    Halide::Func taps, packed;
    Halide::RDom r;
};
QuantizedConv2dDepthwise quantized_conv2d_depthwise(const QuantizedConv2dOperands &operands,
                                                    DepthwiseWords words);

}  // namespace hk::generators
