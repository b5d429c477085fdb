#include "generators/conv2d/conv2d_slices.h"

#include "generators/conv2d/finish.h"
#include "generators/optional.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

constexpr int kPairs = kSliceChannels / 2;

// The input in whole slices of channels.
Func fill_up_slices(const Conv2dOperands &op) {
    const Expr all = c < op.channels;
    Func filled("filled");
    filled(c, g, x, y, n) = select(
        all,
        loaded_if(likely(all), op.input(unsafe_promise_clamped(c, 0, op.channels - 1), g, x, y, n)),
        Internal::make_zero(op.type));
    return filled;
}

Expr input_x(const Conv2dOperands &op, const Expr &s) {
    return x * op.stride_x + s * op.dilation_x - op.padding_left;
}

Expr input_y(const Conv2dOperands &op, const Expr &r) {
    return y * op.stride_y + r * op.dilation_y - op.padding_top;
}

Func pad(const Conv2dOperands &op) {
    return with_zeros_around(fill_up_slices(op), op.width, op.height, op.pointwise, op.type);
}

// Of the input, where windows are not joined: each is read once, or a few times.
Func read_taps(const Conv2dOperands &op) {
    const Expr column = input_x(op, s), row = input_y(op, r);
    Func tap("tap");
    tap(c, s, r, g, x, y, n) = select(
        within(row, op.height) && within(column, op.width),
        fill_up_slices(op)(c, g, clamp(column, 0, op.width - 1), clamp(row, 0, op.height - 1), n),
        Internal::make_zero(op.type));
    return tap;
}

// The next pixels' channels, which the last vector of a window's row may have, are left out.
Func read_windows(Conv2dOperands &op, Conv2dSlices &stages) {
    const Expr channels = op.channels;
    stages.padded = joined_rows_with_zeros_around(op.input, channels, op.width, op.height,
                                                  stages.elements, op.type);
    op.channels *= op.kernel_w;
    op.kernel_w = 1;
    Func tap("tap");
    tap(c, s, r, g, x, y, n) =
        select(c < op.channels, stages.padded(input_x(op, 0) * channels + c, g, input_y(op, r), n),
               Internal::make_zero(op.type));
    return tap;
}

void read(Conv2dOperands &op, const SliceForm &form, Conv2dSlices &stages) {
    switch (form.source) {
        case SliceSource::line:
            stages.padded = op.input;
            return;
        case SliceSource::image:
            stages.padded = pad(op);
            return;
        case SliceSource::taps:
            stages.tap = read_taps(op);
            return;
        case SliceSource::windows:
            stages.tap = read_windows(op, stages);
    }
}

// The sum, at the places of tiles of columns where there are such.
class SumOfSlices {
public:
    SumOfSlices(const Conv2dOperands &op, const SliceForm &form, Conv2dSlices &stages)
        : op_(op),
          form_(form),
          stages_(stages),
          slices_(ceil_div(op.channels, kSliceChannels)),
          d_({{0, 2}, {0, kPairs}, {0, op.kernel_w}, {0, op.kernel_h}, {0, slices_}}, "r") {
        stages.half = d_[0], stages.pair = d_[1], stages.s = d_[2], stages.r = d_[3];
        stages.slices = d_[4];
        stages.filter_bytes =
            slices_ * (kSliceChannels * kFilterBlock * 2) * op.kernel_w * op.kernel_h;
        stages.sum = Func("sum");
    }

    Func sum() {
        if (form_.source == SliceSource::line) return of_tiles();
        stages_.sum(k, g, x, y, n) = 0.f;
        stages_.sum(k, g, x, y, n) += factor() * cast<float>(read());
        return stages_.sum;
    }

private:
    const Conv2dOperands &op_;
    const SliceForm &form_;
    Conv2dSlices &stages_;
    const Expr slices_;
    const RDom d_;

    Expr pair() const { return d_[4] * kPairs + d_[1]; }

    Expr factor() const {
        return cast<float>(op_.packed(2 * (k % kFilterBlock) + d_[0], pair(), d_[2], d_[3],
                                      min(k / kFilterBlock, (op_.filters - 1) / kFilterBlock), g));
    }

    Expr read() const {
        const Expr channel = 2 * pair() + d_[0];
        return stages_.tap.defined()
                   ? stages_.tap(channel, d_[2], d_[3], g, x, y, n)
                   : stages_.padded(channel, g, input_x(op_, d_[2]), input_y(op_, d_[3]), n);
    }

    Func of_tiles() {
        const Var &tile = stages_.tile;
        const int columns = form_.columns;
        const auto before = [&](const Expr &of) {  // columns that a tile begins before its place
            return max(likely(0), (of + 1) * columns - op_.width);
        };
        const Expr column = tile * columns - before(tile) + x;
        stages_.sum(k, g, x, tile, y, n) = 0.f;
        stages_.sum(k, g, x, tile, y, n) +=
            factor() * cast<float>(stages_.padded(2 * pair() + d_[0], g, column, y, n));
        Func rows("rows");
        const Expr of = x / columns;
        rows(k, g, x, y, n) = stages_.sum(
            k, g, unsafe_promise_clamped(x % columns + before(of), 0, columns - 1), of, y, n);
        return rows;
    }
};

}  // namespace

Conv2dSlices conv2d_slices(const Conv2dOperands &operands, const SliceForm &form) {
    Conv2dOperands op = operands;
    Conv2dSlices stages;
    read(op, form, stages);
    stages.out_w = op.out_w, stages.out_h = op.out_h, stages.filters = op.filters;
    stages.start = sum_start(op);
    const Func sum = SumOfSlices(op, form, stages).sum();
    Func started("started");
    started(k, g, x, y, n) = stages.start(k, g) + sum(k, g, x, y, n);
    stages.activated = Func("activated");
    stages.output = Func("result");
    finish(op, started, stages.activated, stages.output, form.rounds_vectors);
    return stages;
}

}  // namespace hk::generators
