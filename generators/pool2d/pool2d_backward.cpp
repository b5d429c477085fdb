#include "generators/pool2d/pool2d_backward.h"

#include <limits>

#include "generators/nan.h"
#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

namespace {

// How many windows hold a pixel, at most.
Expr most_windows(const Expr &kernel, const Expr &stride, const Expr &windows) {
    const Expr most = Internal::simplify(ceil_div(kernel, stride));
    return Internal::is_const_one(most) ? most : min(most, windows);
}

enum class Order : uint8_t { in_line, in_blocks };

// The windows that hold a pixel, counted from the first in each direction, and what the pixel adds
// up.
class Gathering {
public:
    explicit Gathering(const Pool2dBackwardOperands &op) : op_(op) {
        const PoolWindows &windows = op.windows;
        stages.first_x = Func("first_x");
        stages.first_y = Func("first_y");
        stages.first_x(x) =
            max((x + windows.padding_left - windows.kernel_x) / windows.stride_x + 1, 0);
        stages.first_y(y) =
            max((y + windows.padding_top - windows.kernel_y) / windows.stride_y + 1, 0);
    }

    Expr of_window(const Func &value, const Expr &i, const Expr &j) const {
        return value(c, g, clamp(next_x(i), 0, op_.out_w - 1), clamp(next_y(j), 0, op_.out_h - 1),
                     n);
    }

    // The place of the pixel in it.
    Expr place(const Expr &i, const Expr &j) const {
        const PoolWindows &windows = op_.windows;
        return (y - windows.first_y(next_y(j))) * windows.kernel_x + x - windows.first_x(next_x(i));
    }

    template<typename Term>
    void add(const Term &term, Order order) {
        const PoolWindows &windows = op_.windows;
        const Expr most_x = most_windows(windows.kernel_x, windows.stride_x, op_.out_w);
        const Expr most_y = most_windows(windows.kernel_y, windows.stride_y, op_.out_h);
        stages.sum = Func("sum");
        if (order == Order::in_blocks) {
            stages.blocked = blocked_sum(
                {c, g, x, y, n}, 0.f, {most_x, most_y, 1},
                [&](const std::array<Expr, 3> &at) {
                    return select(is_held(at[0], at[1]), term(at[0], at[1]), 0.f);
                },
                [](const std::array<Expr, 3> &) { return cast<bool>(true); });
            stages.sum(c, g, x, y, n) = stages.blocked.running(c, g, x, y, n)[0];
        } else {
            stages.w = RDom(0, most_x, 0, most_y, "w");
            const Expr i = stages.w.x, j = stages.w.y;
            stages.w.where(is_held(i, j));
            stages.sum(c, g, x, y, n) += term(i, j);
        }
        stages.output = Func("result");
        stages.output(c, g, x, y, n) = cast(op_.type, stages.sum(c, g, x, y, n));
    }

    Pool2dBackward stages;

private:
    const Pool2dBackwardOperands &op_;

    Expr next_x(const Expr &i) const { return stages.first_x(x) + i; }
    Expr next_y(const Expr &j) const { return stages.first_y(y) + j; }
    Expr is_held(const Expr &i, const Expr &j) const {
        const PoolWindows &windows = op_.windows;
        return next_x(i) < op_.out_w && windows.first_x(next_x(i)) <= x && next_y(j) < op_.out_h &&
               windows.first_y(next_y(j)) <= y;
    }
};

Tuple all_values(const FuncRef &of) { return of.size() == 1 ? Tuple(Expr(of)) : Tuple(of); }

// By rows, from `place`, where it is defined, and `value` of all windows of a row.
void add_rows(const Pool2dBackwardOperands &op, const Expr &place, const Expr &value,
              Pool2dBackward &stages) {
    const PoolWindows &windows = op.windows;
    const bool has_place = place.defined();
    const auto of_both = [&](const Expr &its_place, const Expr &its_value) {
        return has_place ? Tuple(its_place, its_value) : Tuple(its_value);
    };
    const Tuple nothing = of_both(-1, 0.f);
    stages.dense = Func("dense");
    stages.dense(c, g, x, y, n) = nothing;
    stages.dense(c, g, stages.windows, y, n) = of_both(place, value);
    const Var phase("phase");
    stages.taps = RDom(0, ceil_div(windows.kernel_x, windows.stride_x), "taps");
    const RVar tap = stages.taps.x;
    const Expr column = phase + tap * windows.stride_x;
    stages.taps.where(column < windows.kernel_x);
    const Tuple window = all_values(stages.dense(c, g, x - tap, y, n));
    stages.folded = Func("folded");
    stages.folded(c, g, x, phase, row, y, n) +=
        has_place ? select(window[0] == row * windows.kernel_x + column, window[1], 0.f)
                  : window[0];
    stages.across = Func("across");
    stages.across(c, g, x, row, y, n) =
        stages.folded(c, g, x / windows.stride_x, x % windows.stride_x, row, y, n);

    stages.w = RDom(0, most_windows(windows.kernel_y, windows.stride_y, op.out_h), "w");
    const Expr first = max((y + windows.padding_top - windows.kernel_y) / windows.stride_y + 1, 0);
    const Expr next = first + stages.w, its_row = y - windows.first_y(next);
    stages.w.where(next < op.out_h && its_row >= 0);
    const Expr its_place = has_place ? clamp(its_row, 0, windows.kernel_y - 1) : Expr(0);
    stages.sum = Func("sum");
    stages.sum(c, g, x, y, n) +=
        stages.across(c, g, x + windows.padding_left, its_place, clamp(next, 0, op.out_h - 1), n);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, stages.sum(c, g, x, y, n));
}

// What is just below a window's maximum: all but its maxima are at most that, which is one
// comparison, false for a NaN. Of a NaN, infinity, which only a NaN is not at most; of -infinity a
// NaN, which nothing is at most. By its bits, as LLVM takes what it selects for a number.
Expr just_below(const Expr &maximum, const Target &target) {
    const Expr bits = reinterpret<int32_t>(maximum);
    const Expr lower = select(bits > 0, bits - 1, bits == 0, Int(32).min() + 1, bits + 1);
    const int infinity = static_cast<int>(infinity_bits(Float(32)));
    return reinterpret<float>(select(is_nan_as_loaded(maximum, target), infinity, lower));
}

}  // namespace

Expr limit_of(const Pool2dBackwardOperands &op, const Expr &maximum) {
    if (op.type != Float(32) || op.target.has_gpu_feature()) return cast<float>(maximum);
    return just_below(maximum, op.target);
}

Expr is_maximum(const Pool2dBackwardOperands &op, const Expr &element, const Expr &limit) {
    const Expr same = cast<float>(element) == limit;
    if (op.target.has_gpu_feature()) return same || is_nan_by_bits(element);
    if (op.type != Float(32)) return strict_float(same) || is_nan_by_bits(element);
    // Not <=, which Halide 21 makes true for a NaN; LLVM makes one comparison of the two.
    return !(strict_float(element < limit) || strict_float(element == limit));
}

namespace {

// The edge is repeated around the image. To the right and below what repeats it has a place after
// the edge's own; to the left and above it would come before, and is skipped.
Pool2dBackward gather_of_maxima(const Pool2dBackwardOperands &op, Order order) {
    constexpr int kNone = std::numeric_limits<int32_t>::max();
    const PoolWindows &windows = op.windows;
    Gathering gathering(op);
    Pool2dBackward &stages = gathering.stages;
    stages.r = RDom(0, windows.kernel_x, 0, windows.kernel_y, "r");
    const RDom &r = stages.r;
    const Expr px = windows.first_x(x) + r.x, py = windows.first_y(y) + r.y;
    const Expr element = pixel_of_maximum(op.input, windows, op.unpadded, px, py);
    Expr is_best = is_maximum(op, element, limit_of(op, op.output(c, g, x, y, n)));
    if (!op.unpadded) is_best = px >= 0 && py >= 0 && is_best;
    stages.first_best = Func("first_best");
    stages.first_best(c, g, x, y, n) = kNone;
    const Expr first = stages.first_best(c, g, x, y, n);
    stages.first_best(c, g, x, y, n) =
        min(first, select(is_best, r.y * windows.kernel_x + r.x, kNone));
    stages.window = Func("window");
    stages.window(c, g, x, y, n) = first;
    gathering.add(
        [&](const Expr &i, const Expr &j) {
            const Expr is_its = gathering.of_window(stages.window, i, j) == gathering.place(i, j);
            return select(is_its, cast<float>(gathering.of_window(op.output_gradient, i, j)), 0.f);
        },
        order);
    return stages;
}

Pool2dBackward gather_shares(const Pool2dBackwardOperands &op, Order order) {
    const PoolWindows &windows = op.windows;
    Gathering gathering(op);
    Pool2dBackward &stages = gathering.stages;
    const Expr pixels =
        op.unpadded ? cast<float>(windows.kernel_x * windows.kernel_y) : windows.pixels(x, y);
    stages.window = Func("share");
    stages.window(c, g, x, y, n) = cast<float>(op.output_gradient(c, g, x, y, n)) / pixels;
    gathering.add(
        [&](const Expr &i, const Expr &j) { return gathering.of_window(stages.window, i, j); },
        order);
    return stages;
}

}  // namespace

Pool2dBackward pool2d_backward_max(const Pool2dBackwardOperands &op) {
    return gather_of_maxima(op, Order::in_line);
}

Pool2dBackward pool2d_backward_max_in_blocks(const Pool2dBackwardOperands &op) {
    return gather_of_maxima(op, Order::in_blocks);
}

Pool2dBackward pool2d_backward_average(const Pool2dBackwardOperands &op) {
    return gather_shares(op, Order::in_line);
}

Pool2dBackward pool2d_backward_average_in_blocks(const Pool2dBackwardOperands &op) {
    return gather_shares(op, Order::in_blocks);
}

Pool2dBackward pool2d_backward_max_by_rows(const Pool2dBackwardOperands &op) {
    const PoolWindows &windows = op.windows;
    const Expr nothing = Int(32).min();
    Pool2dBackward stages;
    stages.columns = RDom(0, windows.width, "columns");
    stages.order = Func("order");
    stages.order(c, g, x, y, n) = nothing;
    stages.order(c, g, stages.columns, y, n) = select(
        y >= 0 && y < windows.height,
        order_by_bits(op.input(c, g, stages.columns, clamp(y, 0, windows.height - 1), n)), nothing);

    stages.r = RDom(0, windows.kernel_x, 0, windows.kernel_y, "r");
    const RDom &r = stages.r;
    stages.window = Func("best_at");
    stages.window(c, g, x, y, n) = Tuple(nothing, -1);
    FuncRef window = stages.window(c, g, x, y, n);
    const Expr next = stages.order(c, g, windows.first_x(x) + r.x, windows.first_y(y) + r.y, n);
    const Expr best = window[0], place = window[1];
    window = Tuple(max(best, next), select(next > best, r.y * windows.kernel_x + r.x, place));

    stages.windows = RDom(0, op.out_w, "windows");
    const RDom &all = stages.windows;
    add_rows(op, stages.window(c, g, all, y, n)[1],
             cast<float>(op.output_gradient(c, g, all, y, n)), stages);
    return stages;
}

namespace {

// An image at x, y; above and below it its edge, beside it anything, which is not read.
Expr inside(const Func &image, const Expr &width, const Expr &height) {
    return loaded_if(
        likely(x >= 0 && x < width),
        image(c, g, unsafe_promise_clamped(x, 0, width - 1), clamp(y, 0, height - 1), n));
}

// A value inside an image, and another around it.
Expr inside_or(const Expr &value, const Expr &otherwise, const Expr &width, const Expr &height) {
    return select(x < 0 || x >= width, otherwise,
                  likely(select(y >= 0 && y < height, value, otherwise)));
}

// stages.folded of what is given, and of max of its places, and what is made of it.
void fold_phases(const Pool2dBackwardOperands &op, Pool2dBackward &stages) {
    const PoolWindows &w = op.windows;
    const Var phase("phase");
    const Expr from_x = phase + w.padding_left, from_y = y + w.padding_top;
    stages.taps =
        RDom(0, ceil_div(w.kernel_x, w.stride_x), 0, ceil_div(w.kernel_y, w.stride_y), "taps");
    const Expr s = from_x % w.stride_x + stages.taps.x * w.stride_x;
    const Expr r = from_y % w.stride_y + stages.taps.y * w.stride_y;
    stages.taps.where(s < w.kernel_x && r < w.kernel_y);
    const Expr window_x = x + from_x / w.stride_x - stages.taps.x;
    const Expr window_y = from_y / w.stride_y - stages.taps.y;
    const Expr given = stages.given(c, g, window_x, window_y, n);
    stages.folded = Func("folded");
    stages.folded(c, g, x, phase, y, n) +=
        stages.dense.defined()
            ? select(stages.dense(c, g, window_x, window_y, n) == r * w.kernel_x + s, given, 0.f)
            : given;
    stages.across = Func("across");
    stages.across(c, g, x, y, n) = stages.folded(c, g, x / w.stride_x, x % w.stride_x, y, n);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, stages.across(c, g, x, y, n));
}

}  // namespace

// What is around the image, -infinity, is found where that is all a window holds, before its first
// pixel inside: then this is the first maximum.
Pool2dBackward pool2d_backward_max_by_phases(const Pool2dBackwardOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2dBackward stages;
    stages.around = Func("around");
    // By its bits, as LLVM takes what it selects for a number.
    const Type bits = UInt(op.type.bits());
    const Expr below_all =
        Internal::make_const(bits, infinity_bits(op.type) | uint64_t{1} << (bits.bits() - 1));
    const Expr pixel = reinterpret(bits, inside(op.input, w.width, w.height));
    stages.around(c, g, x, y, n) =
        reinterpret(op.type, inside_or(pixel, below_all, w.width, w.height));
    stages.limit = Func("limit");
    stages.limit(c, g, x, y, n) = limit_of(op, inside(op.output, op.out_w, op.out_h));
    stages.given = Func("given");
    stages.given(c, g, x, y, n) = cast<float>(inside(op.output_gradient, op.out_w, op.out_h));

    stages.r = RDom(0, w.kernel_x, 0, w.kernel_y, "r");
    const Expr s = w.kernel_x - 1 - stages.r.x, r = w.kernel_y - 1 - stages.r.y;
    stages.window = Func("place");
    stages.window(c, g, x, y, n) = 0;
    const Expr first = stages.window(c, g, x, y, n);
    const Expr next = stages.around(c, g, w.first_x(x) + s, w.first_y(y) + r, n);
    stages.window(c, g, x, y, n) =
        select(is_maximum(op, next, stages.limit(c, g, x, y, n)), r * w.kernel_x + s, first);
    const Expr first_inside = max(-w.first_y(y), 0) * w.kernel_x + max(-w.first_x(x), 0);
    stages.dense = Func("dense");
    stages.dense(c, g, x, y, n) = inside_or(max(first, first_inside), -1, op.out_w, op.out_h);
    fold_phases(op, stages);
    return stages;
}

Pool2dBackward pool2d_backward_average_by_phases(const Pool2dBackwardOperands &op) {
    const PoolWindows &w = op.windows;
    const Expr pixels = op.unpadded ? cast<float>(w.kernel_x * w.kernel_y) : w.pixels(x, y);
    const Expr gradient = cast<float>(inside(op.output_gradient, op.out_w, op.out_h));
    Pool2dBackward stages;
    stages.given = Func("given");
    stages.given(c, g, x, y, n) = inside_or(gradient / pixels, 0.f, op.out_w, op.out_h);
    fold_phases(op, stages);
    return stages;
}

Pool2dBackward pool2d_backward_average_by_rows(const Pool2dBackwardOperands &op) {
    const PoolWindows &windows = op.windows;
    Pool2dBackward stages;
    stages.windows = RDom(0, op.out_w, "windows");
    const RDom &all = stages.windows;
    stages.pixels = Func("pixels");
    stages.pixels(x) = windows.pixels_of_row(x);
    add_rows(op, Expr(),
             cast<float>(op.output_gradient(c, g, all, y, n)) /
                 (stages.pixels(all) * windows.pixels_of_column(y)),
             stages);
    return stages;
}

Pool2dBackward pool2d_backward_average_of_planes(const Pool2dBackwardOperands &op) {
    Pool2dBackward stages;
    stages.share = Func("share");
    stages.share(c, g, n) = cast(op.type, cast<float>(op.output_gradient(c, g, 0, 0, n)) /
                                              cast<float>(op.windows.width * op.windows.height));
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = stages.share(c, g, n);
    return stages;
}

}  // namespace hk::generators
