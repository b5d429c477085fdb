#include "generators/quantized_conv2d/ends.h"
#include "generators/quotient.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

constexpr int kVector = 4;  // of words

// What a step of the sum has: the words of a row of taps where these are next to each other, else
// those of a tap.
struct Steps {
    Expr of_pixel;      // words
    Expr steps, words;  // of a filter's row; of a step

    explicit Steps(const QuantizedConv2dOperands &op)
        : of_pixel((op.channels + kWord - 1) / kWord),
          steps(select(op.dilation_x == 1, 1, op.kernel_w)),
          words(select(op.dilation_x == 1, op.kernel_w, 1) * of_pixel) {}
};

// Of a line, or a step, the pixel or the tap that a word is of, and which of its words it is.
struct Place {
    Expr pixel, word;

    Place(const Steps &of, const Expr &word)
        : pixel(whole_quotient(word, of.of_pixel)), word(word - pixel * of.of_pixel) {}

    // Its bytes, byte(channel, whether there is one): past the last channel that one again.
    template<typename Byte>
    Expr of_bytes(const Expr &channels, const Byte &byte) const {
        std::vector<Expr> bytes;
        for (int i = 0; i < kWord; i++) {
            const Expr channel = kWord * word + i, near = min(channel, channels - 1);
            bytes.push_back(reinterpret<uint8_t>(
                byte(unsafe_promise_clamped(near, 0, channels - 1), channel < channels)));
        }
        return concat_bits(bytes);
    }
};

Expr four_of(const Expr &byte) { return cast<uint32_t>(byte) * Expr(uint32_t{0x01010101}); }

// Words are copied as any of 32 bits. Past the last channel they have anything, as the filter has
// zeros there.
Func copied_image(const QuantizedConv2dOperands &op, const Steps &of) {
    const Place at(of, w);
    const Expr px = at.pixel - op.padding_left, py = y - op.padding_top;
    const Expr word = at.of_bytes(op.channels, [&](const Expr &channel, const Expr &) {
        return op.input(channel, g, clamp(px, 0, op.width - 1), clamp(py, 0, op.height - 1), n);
    });
    Func to("words_of_image");
    to(w, y, g, n) =
        reinterpret<float>(select(within(px, op.width) && within(py, op.height),
                                  word ^ four_of(op.input_flip), four_of(op.input_zero_point)));
    return to;
}

Func copied_filter(const QuantizedConv2dOperands &op, const Steps &of) {
    const Place at(of, w);
    const Expr tap = unsafe_promise_clamped(min(s + at.pixel, op.kernel_w - 1), 0, op.kernel_w - 1);
    const Expr word = at.of_bytes(op.channels, [&](const Expr &channel, const Expr &has) {
        return select(has, op.weight(channel, tap, r, min(k, op.filters - 1), g), cast<int8_t>(0));
    });
    Func to("words_of_filter");
    to(k, w, s, r, g) = reinterpret<float>(select(w < of.words, word, cast<uint32_t>(0)));
    return to;
}

// The sum of the products of four bytes, of u8 by s8: dp4a.
Expr dot(const Expr &bytes, const Expr &weights) {
    const Expr product = cast(Int(32, kWord), reinterpret(UInt(8, kWord), bytes)) *
                         cast(Int(32, kWord), reinterpret(Int(8, kWord), weights));
    return Internal::VectorReduce::make(Internal::VectorReduce::Add, product, 1);
}

}  // namespace

QuantizedConv2dWords quantized_conv2d_words(const QuantizedConv2dOperands &op, const Expr &rows,
                                            const Expr &images, int tile) {
    constexpr ZeroPoints zero_points = ZeroPoints::in_sums_without_terms;
    QuantizedConv2dWords stages;
    // For windows' sums.
    stages.padded = padded_bytes(op, [&](const Expr &px, const Expr &py) {
        return op.input(c, g, px, py, n) ^ cast<uint8_t>(op.input_flip);
    });
    begin(op, stages, zero_points);

    const Steps of(op);
    const Expr columns = op.out_w;
    stages.words = (of.words + tile - 1) / tile * tile;
    stages.steps = of.steps;
    stages.kernel_h = op.kernel_h;
    stages.filters = op.filters;
    CopiedWindows &image = stages.image;
    // The last window's slices are inside.
    const Expr last = ((columns - 1) * op.stride_x + (of.steps - 1) * op.dilation_x) * of.of_pixel;
    image.elements = last + stages.words;
    image.lines = (rows - 1) * op.stride_y + (op.kernel_h - 1) * op.dilation_y + 1;
    image.groups = op.groups;
    image.images = images;
    image.to = copied_image(op, of);
    stages.copied_filter = copied_filter(op, of);

    stages.filter = Func("filter");
    const Expr filters = (op.filters + kVector - 1) / kVector * kVector;
    stages.filter(k, w, s, r, g) =
        stages.copied_filter(in_last_vector(k, filters, kVector), w, s, r, g);
    const Expr word =
        min(x, columns - 1) * (op.stride_x * of.of_pixel) + (s * (op.dilation_x * of.of_pixel) + w);
    const Expr line = min(y, rows - 1) * op.stride_y + r * op.dilation_y;
    stages.tap = Func("tap");
    stages.tap(x, w, s, r, g, y, n) =
        image.to(unsafe_promise_clamped(word, 0, image.elements - 1),
                 unsafe_promise_clamped(line, 0, image.lines - 1), g, n);

    stages.r = RDom(0, tile, 0, of.steps, 0, op.kernel_h, 0, stages.words / tile, "r");
    const RDom &d = stages.r;
    const Expr w_of_step = d[3] * tile + d[0];
    stages.sum(k, g, x, y, n) = stages.start(k, g);
    stages.sum(k, g, x, y, n) += dot(stages.tap(x, w_of_step, d[1], d[2], g, y, n),
                                     stages.filter(k, w_of_step, d[1], d[2], g));
    finish(op, stages, zero_points, {x, y, n}, true);
    return stages;
}

}  // namespace hk::generators
