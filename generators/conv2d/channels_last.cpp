#include "generators/conv2d/channels_last.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Of what is not below zero, without the steps that Halide takes for what may be.
Expr whole(const Expr &value, const Expr &by) {
    return cast<int32_t>(cast<uint32_t>(value) / cast<uint32_t>(by));
}

}  // namespace

void copy_channels_last(const Func &image, const ImageSize &size, Func &tile, Func &to) {
    // A tile may reach past the last pixel.
    const Expr pixel = min(x, size.width * size.height * size.batch - 1);
    const Expr row = whole(pixel, size.width), of = whole(row, size.height);
    const Expr column = unsafe_promise_clamped(pixel - row * size.width, 0, size.width - 1);
    const Expr line = unsafe_promise_clamped(row - of * size.height, 0, size.height - 1);
    const Expr channel = min(c, size.channels - 1);
    const Expr value =
        image(channel, g, column, line, unsafe_promise_clamped(of, 0, size.batch - 1));
    tile = Func("turned");
    tile(c, x, g) = select(c < size.channels, value, cast(value.type(), 0));
    to = Func("channels_last");
    to(c, x, g) = tile(c, x, g);
}

Func filter_of_vectors(const Func &filter, const Expr &channels) {
    Func to("transposed");
    const Expr value = filter(min(c, channels - 1), s, r, k, g);
    to(c, s, r, k, g) = select(c < channels, value, cast(value.type(), 0));
    return to;
}

}  // namespace hk::generators
