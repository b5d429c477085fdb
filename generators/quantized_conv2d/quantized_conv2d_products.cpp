#include <functional>

#include "generators/conv2d/channels_last.h"
#include "generators/conv2d/product_sum.h"
#include "generators/quantized_conv2d/ends.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

Expr stored_zero(const QuantizedConv2dOperands &op) { return cast<uint8_t>(op.input_zero_point); }

// Past the last channel the filter is zero: of the input the last vector is read again. Outside the
// image it is the zero point, which 1x1 filters, that have no outside, need not fill in.
Func padded_bytes(const QuantizedConv2dOperands &op, int vector) {
    const Expr stored = op.input(in_last_vector(c, op.channels, vector), g,
                                 clamp(x, 0, op.width - 1), clamp(y, 0, op.height - 1), n);
    Func padded("padded");
    padded(c, g, x, y, n) =
        op.pointwise ? stored
                     : select(within(x, op.width) && within(y, op.height), stored, stored_zero(op));
    return padded;
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

// Words of pixels of a channel become words of channels of a pixel.
void turn_words(const Func &rows, const Expr &flip, Conv2dSliced &stages) {
    const Var &lane = stages.lane, &half = stages.half, &set = stages.set;
    const auto four = [](const std::function<Expr(int)> &byte) {
        return concat_bits({byte(0), byte(1), byte(2), byte(3)});
    };
    stages.words = Func("words");
    stages.words(c, g, half, set) =
        four([&](int i) { return rows(c, g, (set * 2 + half) * kWord + i, 0, 0); }) ^
        (cast<uint32_t>(flip) * Expr(uint32_t{0x01010101}));
    stages.turned_words = Func("turned_words");
    stages.turned_words(c, lane, g, half, set) =
        four([&](int i) { return byte_of(stages.words(kWord * c + i, g, half, set), lane); });
    stages.tap(c, s, r, g, lane, half, set) =
        byte_of(stages.turned_words(c / kWord, lane, g, half, set), c % kWord);
}

// Sums of products of bytes. The taps of a window's sum, which has no zeros past the last one.
Expr sum_bytes(QuantizedConv2dOperands &op, const ProductForm &form,
               QuantizedConv2dProducts &stages) {
    const auto [tile, vector] = ProductSlice(Int(8));
    if (form.stored_pixels > 1 && form.rows == 0) op.input = signed_bytes(op);
    Conv2dSliced &products = stages.products;
    Expr taps = op.channels;
    products.tap = Func("tap");
    products.row_vector = form.rows;
    if (form.rows > 0) {
        stages.padded = bytes_of_rows(op, signed_bytes(op));
        turn_words(bytes_of_rows(op, op.input), op.input_flip, products);
        copy_filter(op, op.weight, products);
    } else if (form.windows) {
        taps = read_windows(op, op.input, op.weight, stored_zero(op), products);
        stages.padded = op.input;
    } else {
        if (products.in_rows) read_channels_last(op, op.input, op.weight, products);
        stages.padded = padded_bytes(op, vector);
    }
    begin(op, stages, ZeroPoints::in_sums_without_terms);
    products.start = stages.start;
    products.filter = Func("filter");
    products.filter(c, s, r, k, g) =
        select(c / vector * vector < op.channels,
               op.weight(in_last_vector(c, op.channels, vector), s, r, min(k, op.filters - 1), g),
               cast<int8_t>(0));
    const Pixel pixel = pixel_of_sum(op, form);
    if (form.rows == 0)
        products.tap(c, s, r, g, x, y, n) =
            stages.padded(c, g, input_x(op, s, pixel.x), input_y(op, r, pixel.y), pixel.n);
    const RDom &d = products.r;
    const auto tap = [&](const Expr &channel) {
        return form.rows > 0
                   ? products.tap(channel, d.y, d.z, g, x % kWord, x / kWord % 2, x / (2 * kWord))
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
