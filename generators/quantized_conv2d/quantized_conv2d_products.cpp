#include "generators/conv2d/channels_last.h"
#include "generators/conv2d/product_sum.h"
#include "generators/quantized_conv2d/ends.h"
#include "generators/quantized_conv2d/folded_windows.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Past the last channel the filter is zero: of the input the last vector is read again.
Func padded_vectors(const QuantizedConv2dOperands &op, int vector) {
    return padded_bytes(op, [&](const Expr &px, const Expr &py) {
        return op.input(in_last_vector(c, op.channels, vector), g, px, py, n);
    });
}

// Bytes are of the type that they have. Where pixels are in the place of filters they are s8, as
// these are: they pass a thread's registers on their way, where input_flip makes them so.
void take_signed(QuantizedConv2dOperands &op, bool always) {
    const Expr flip = always ? Expr(128) : op.input_flip;
    op.input_signed = always ? Internal::const_true() : op.input_flip > 0;
    op.input_zero_point = op.input_zero_point - flip;
    op.input_flip = flip - op.input_flip;
}

// The input's bytes so.
Func signed_bytes(const QuantizedConv2dOperands &op) {
    Func bytes("signed");
    bytes(c, g, x, y, n) = op.input(c, g, x, y, n) ^ cast<uint8_t>(op.input_flip);
    return bytes;
}

// A pixel of a sum: of 1x1 filters that read a copy, the line's.
Pixel pixel_of_sum(const QuantizedConv2dOperands &op, const ProductForm &form) {
    return op.pointwise && !form.order.nhwc() ? Pixel{x, y, n} : pixel_at(op);
}

// The same of the output, whose images have places of their own where parts are joined.
Pixel pixel_of_output(const QuantizedConv2dOperands &op, const ProductForm &form) {
    if (form.order.nhwc() || form.apart) return pixel_of_sum(op, form);
    if (op.pointwise) return {x + op.columns.value * (y + op.rows.value * n), 0, 0};
    return {x, y, n};
}

// Images in rows as they are, of unpadded 1x1 filters with strides of 1: x of the line.
Func bytes_of_rows(const QuantizedConv2dOperands &op, const Func &input) {
    const Expr first = clamp(x / kWord * kWord, 0, pixels_of_images(op) - kWord);
    const Pixel pixel = place_of_pixel(op, first);
    Func rows("rows");
    rows(c, g, x, y, n) = input(in_last_vector(c, op.channels, ProductSlice(Int(8)).vector), g,
                                pixel.x / kWord * kWord + x % kWord, pixel.y, pixel.n);
    return rows;
}

Expr byte_of(const Expr &word, const Expr &i) {
    return cast<uint8_t>(word >> cast<uint32_t>(8 * i));
}

// Four bytes as a word.
template<typename Byte>
Expr word_of(const Byte &byte) {
    return concat_bits({byte(0), byte(1), byte(2), byte(3)});
}

Expr flips_of_word(const QuantizedConv2dOperands &op) {
    return cast<uint32_t>(op.input_flip) * Expr(uint32_t{0x01010101});
}

// Words of a thread's neighbouring pixels: `half` is one of two, or 0.
int words_of_thread(const Conv2dSliced &stages) { return stages.stored_pixels == kWord ? 1 : 2; }

// Words of pixels of a channel become words of channels of a pixel.
void turn_words(const Func &rows, const Expr &flips, Conv2dSliced &stages) {
    const int words = words_of_thread(stages);
    const Var &lane = stages.lane, &half = stages.half, &set = stages.set;
    stages.words = Func("words");
    stages.words(c, g, half, set) =
        word_of([&](int i) { return rows(c, g, (set * words + half) * kWord + i, 0, 0); }) ^ flips;
    stages.turned_words = Func("turned_words");
    stages.turned_words(c, lane, g, half, set) =
        word_of([&](int i) { return byte_of(stages.words(kWord * c + i, g, half, set), lane); });
    stages.tap(c, s, r, g, lane, half, set) =
        byte_of(stages.turned_words(c / kWord, lane, g, half, set), c % kWord);
}

// As read_channels_last(), by words of pixels, of which rows are whole ones.
void read_turned_image(QuantizedConv2dOperands &op, QuantizedConv2dProducts &stages) {
    TurnedImage &image = stages.image;
    const Var &lane = stages.products.lane, &word = image.word;
    const Expr words_of_row = op.width / kWord;
    const Expr row = whole_quotient(word, words_of_row), of = whole_quotient(row, op.height);
    const Expr first = unsafe_promise_clamped(word - row * words_of_row, 0, words_of_row - 1),
               line = unsafe_promise_clamped(row - of * op.height, 0, op.height - 1),
               n_of_word = unsafe_promise_clamped(of, 0, op.batch - 1);
    const Func input = op.input;
    image.words = Func("words");
    image.words(c, g, word) =
        word_of([&](int i) {
            return input(min(c, op.channels - 1), g, first * kWord + i, line, n_of_word);
        }) ^
        flips_of_word(op);
    image.turned = Func("turned_words");
    image.turned(c, lane, g, word) =
        word_of([&](int i) { return byte_of(image.words(kWord * c + i, g, word), lane); });
    image.lines = Func("channels_last");
    image.lines(c, lane, word, g) = byte_of(image.turned(c / kWord, lane, g, word), c % kWord);
    image.all_words = words_of_row * op.height * op.batch;
    op.input = Func("input_in_lines");
    op.input(c, g, x, y, n) =
        image.lines(c, x % kWord, x / kWord + words_of_row * (y + op.height * n), g);
}

// Sums of products of bytes. The taps of a window's sum, which has no zeros past the last one.
Expr sum_bytes(QuantizedConv2dOperands &op, const ProductForm &form,
               QuantizedConv2dProducts &stages) {
    const auto [tile, vector] = ProductSlice(Int(8));
    if (form.stored_pixels > 1 && form.rows == 0) op.input = signed_bytes(op);
    Conv2dSliced &products = stages.products;
    Expr taps = op.channels;
    products.tap = Func("tap");
    const bool as_they_are = form.rows > 0 && op.pointwise;
    const int words = words_of_thread(products);
    if (as_they_are) {
        stages.padded = bytes_of_rows(op, signed_bytes(op));
        turn_words(bytes_of_rows(op, op.input), flips_of_word(op), products);
        copy_filter(op, op.weight, products);
    } else if (form.rows > 0) {
        read_turned_image(op, stages);
        copy_filter(op, op.weight, products);
        stages.padded = padded_vectors(op, vector);
    } else if (form.windows) {
        taps = read_folded_windows(op, stored_zero(op), products);
        stages.padded = op.input;
    } else {
        if (products.in_rows) read_channels_last(op, op.input, op.weight, products);
        stages.padded = padded_vectors(op, vector);
    }
    begin(op, stages, ZeroPoints::in_sums_without_terms);
    products.start = stages.start;
    products.filter = Func("filter");
    products.filter(c, s, r, k, g) =
        select(c / vector * vector < op.channels,
               op.weight(in_last_vector(c, op.channels, vector), s, r, min(k, op.filters - 1), g),
               cast<int8_t>(0));
    const Pixel pixel = pixel_of_sum(op, form);
    if (!as_they_are)
        products.tap(c, s, r, g, x, y, n) =
            stages.padded(c, g, input_x(op, s, pixel.x), input_y(op, r, pixel.y), pixel.n);
    const RDom &d = products.r;
    const auto tap = [&](const Expr &channel) {
        return as_they_are ? products.tap(channel, d.y, d.z, g, x % kWord, x / kWord % words,
                                          x / (words * kWord))
                           : products.tap(channel, d.y, d.z, g, x, y, n);
    };
    sum_products(
        op, form, tile, 0,
        [&](const Expr &channel) {
            return cast<int32_t>(products.filter(channel, d.y, d.z, k, g)) *
                   number(op, tap(channel));
        },
        products);
    return taps;
}

// Sums of numbers, by a copy of the filter.
void sum_numbers(const QuantizedConv2dOperands &op, const ProductForm &form,
                 QuantizedConv2dProducts &stages) {
    begin(op, stages, ZeroPoints::in_sums_without_terms);
    Conv2dOperands numbers;
    static_cast<Conv2dGeometry &>(numbers) = op;
    numbers.type = Float(32);
    numbers.input = op.input;
    Func weight("numbers");
    weight(c, s, r, k, g) =
        cast<float>(cast<int32_t>(op.weight(c, s, r, k, g)) - op.weight_zero_point);
    numbers.weight = weight;
    const bool copied = form.windows || !form.order.nhwc();
    if (!copied) numbers.channels = in_vectors(op.channels, ProductSlice(numbers.type).vector);
    Conv2dSliced &products = stages.products;
    products = conv2d_product_sums(numbers, form);
    if (copied) return;
    products.transposed = weight;
    products.filters = op.filters;
    products.groups = op.groups;
    products.vectors_of_channels = numbers.channels;
}

// The output, its pixels at places of their own.
void output_at_places(const QuantizedConv2dOperands &op, const Conv2dLayout &order,
                      QuantizedConv2dProducts &stages) {
    const int vector = stages.products.stored_pixels;
    stages.products.pixels = pixels_by_vectors(op, vector);
    const auto [of_line, pixel] = stored_pixel(op, stages.products.pixels, vector);
    stages.output = op.output;
    stages.output(order.image_arguments(k)) = undef(op.output_type);
    stages.output(order.in_order({k, g, pixel.x, pixel.y, pixel.n})) =
        stages.activated(k, g, of_line, 0, 0);
}

}  // namespace

QuantizedConv2dProducts quantized_conv2d_products(const QuantizedConv2dOperands &operands,
                                                  const ProductForm &form) {
    QuantizedConv2dOperands op = operands;
    QuantizedConv2dProducts stages;
    stages.products.in_rows = !form.order.nhwc();
    stages.products.stored_pixels = form.stored_pixels;
    stages.products.whole_blocks = form.stored_pixels > 1;
    if (op.integer()) {
        take_signed(op, form.stored_pixels > 1);
        op.channels = sum_bytes(op, form, stages);
    } else {
        sum_numbers(op, form, stages);
    }
    stages.sum = form.parts.defined() ? stages.products.joined : stages.products.sum;
    finish(op, stages, ZeroPoints::in_sums, pixel_of_output(op, form), true);
    if (form.apart) output_at_places(op, form.order, stages);
    return stages;
}

}  // namespace hk::generators
