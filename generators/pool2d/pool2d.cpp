#include "generators/pool2d/pool2d.h"

#include "generators/nan.h"
#include "generators/optional.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

Expr inside(const Expr &first, const Expr &kernel, const Expr &size) {
    return cast<float>(min(first + kernel, size) - max(first, 0));
}

}  // namespace

Expr PoolWindows::pixels_of_row(const Expr &x) const { return inside(first_x(x), kernel_x, width); }

Expr PoolWindows::pixels_of_column(const Expr &y) const {
    return inside(first_y(y), kernel_y, height);
}

Expr pixel_of_maximum(const Func &image, const PoolWindows &windows, bool unpadded, const Expr &x,
                      const Expr &y) {
    const Range all = {Expr(), Expr()};
    const Region pixels = {all, all, {0, windows.width}, {0, windows.height}, all};
    const Func around = unpadded ? image : BoundaryConditions::repeat_edge(image, pixels);
    return around(c, g, x, y, n);
}

namespace {

constexpr int kNan = 0x7fc00000;

// A maximum while it is looked for (pool2d.h).
Tuple no_maximum() { return {Float(32).min(), 0}; }

Tuple larger(const FuncRef &found, const Expr &element, const Target &target) {
    const Expr largest = found[0], has_nan = found[1];
    return {max(largest, cast<float>(element)),
            select(is_nan_as_loaded(element, target), -1, has_nan)};
}

// By its bits, as LLVM takes what it selects for a number.
Expr maximum(const FuncRef &found) {
    const Expr largest = found[0], has_nan = found[1];
    return reinterpret<float>(select(has_nan != 0, kNan, reinterpret<int32_t>(largest)));
}

// The same as one value, where so few pixels are folded at a time that a pair takes longer to begin
// and to end.
Expr larger_of(const Expr &best, const Expr &element) {
    const Expr value = cast<float>(element);
    return select(value > best || is_nan_by_bits(element), value, best);
}

void finish(const Pool2dOperands &op, const Expr &result, Pool2d &stages) {
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, result);
}

void finish_average(const Pool2dOperands &op, Pool2d &stages) {
    const PoolWindows &w = op.windows;
    const Expr pixels = op.unpadded ? cast<float>(w.kernel_x * w.kernel_y) : w.pixels(x, y);
    finish(op, stages.folded(c, g, x, y, n) / pixels, stages);
}

// Pixels above each other; in rows outside of the image, the nearest inside.
struct Column {
    Expr inside, element;
};

Column column_of(const Pool2dOperands &op, const RDom &rows) {
    const Expr row = op.windows.first_y(y) + rows, height = op.windows.height;
    return {row >= 0 && row < height, op.input(c, g, x, clamp(row, 0, height - 1), n)};
}

// stages.above, in the middle of what changes nothing.
void place_columns(const Pool2dOperands &op, const Expr &nothing, Pool2d &stages) {
    stages.columns = RDom(0, op.windows.width, "columns");
    stages.column = Func("column");
    stages.column(c, g, x, y, n) = nothing;
    stages.column(c, g, stages.columns, y, n) = stages.above(c, g, stages.columns, y, n);
}

}  // namespace

Pool2d pool2d_max(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2d stages;
    stages.r = RDom(0, w.kernel_x, 0, w.kernel_y, "r");
    stages.folded = Func("best");
    stages.folded(c, g, x, y, n) = no_maximum();
    FuncRef folded = stages.folded(c, g, x, y, n);
    folded = larger(folded,
                    pixel_of_maximum(op.input, w, op.unpadded, w.first_x(x) + stages.r.x,
                                     w.first_y(y) + stages.r.y),
                    op.target);
    finish(op, maximum(folded), stages);
    return stages;
}

Pool2d pool2d_average(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2d stages;
    stages.r = RDom(0, w.kernel_x, 0, w.kernel_y, "r");
    const Func image =
        op.unpadded ? in_f32(op.input) : with_zeros_around(op.input, w.width, w.height, false);
    stages.folded = Func("sum");
    stages.folded(c, g, x, y, n) +=
        image(c, g, w.first_x(x) + stages.r.x, w.first_y(y) + stages.r.y, n);
    finish_average(op, stages);
    return stages;
}

Pool2d pool2d_average_of_tiles(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    const auto pixel = [&](const Expr &px) {
        return op.input(c, g, clamp(px, 0, w.width - 1), clamp(y, 0, w.height - 1), n);
    };
    Pool2d stages;
    stages.columns = RDom(0, w.kernel_x, "columns");
    stages.across = Func("across");
    const Expr px = w.first_x(x) + stages.columns;
    stages.across(c, g, x, y, n) += select(within(px, w.width), cast<float>(pixel(px)), 0.f);
    stages.r = RDom(0, w.kernel_y, "r");
    stages.folded = Func("sum");
    const Expr py = w.first_y(y) + stages.r;
    stages.folded(c, g, x, y, n) +=
        select(within(py, w.height), stages.across(c, g, x, py, n), 0.f);
    finish(op, stages.folded(c, g, x, y, n) / w.pixels(x, y), stages);
    return stages;
}

Pool2d pool2d_average_in_blocks(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    const Expr left = max(w.first_x(x), 0), right = min(w.first_x(x) + w.kernel_x, w.width);
    const Expr top = max(w.first_y(y), 0), bottom = min(w.first_y(y) + w.kernel_y, w.height);
    // Columns may be lanes of a vector, which a condition of the sum would take apart.
    const auto pixel = [&](const std::array<Expr, 3> &at) {
        const Expr px = left + at[0], py = top + at[1];
        const Expr value = op.input(c, g, min(px, w.width - 1), min(py, w.height - 1), n);
        return select(px < right && py < bottom, cast<float>(value), 0.f);
    };
    Pool2d stages;
    stages.blocked =
        blocked_sum({c, g, x, y, n}, 0.f, {min(w.kernel_x, w.width), min(w.kernel_y, w.height), 1},
                    pixel, [](const std::array<Expr, 3> &) { return cast<bool>(true); });
    stages.folded = Func("sum");
    stages.folded(c, g, x, y, n) = stages.blocked.running(c, g, x, y, n)[0];
    finish_average(op, stages);
    return stages;
}

Pool2d pool2d_max_by_rows(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    const Expr nothing = Float(32).min();
    Pool2d stages;
    stages.rows = RDom(0, w.kernel_y, "rows");
    stages.above = Func("best_above");
    stages.above(c, g, x, y, n) = nothing;
    stages.above(c, g, x, y, n) =
        larger_of(stages.above(c, g, x, y, n), column_of(op, stages.rows).element);
    place_columns(op, nothing, stages);
    stages.r = RDom(0, w.kernel_x, 0, 1, "r");
    stages.folded = Func("best");
    stages.folded(c, g, x, y, n) = nothing;
    stages.folded(c, g, x, y, n) = larger_of(stages.folded(c, g, x, y, n),
                                             stages.column(c, g, w.first_x(x) + stages.r.x, y, n));
    finish(op, stages.folded(c, g, x, y, n), stages);
    return stages;
}

Pool2d pool2d_average_by_rows(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2d stages;
    stages.rows = RDom(0, w.kernel_y, "rows");
    const Column column = column_of(op, stages.rows);
    stages.above = Func("sum_above");
    stages.above(c, g, x, y, n) += select(column.inside, cast<float>(column.element), 0.f);
    place_columns(op, 0.f, stages);
    stages.r = RDom(0, w.kernel_x, 0, 1, "r");
    stages.folded = Func("sum");
    stages.folded(c, g, x, y, n) += stages.column(c, g, w.first_x(x) + stages.r.x, y, n);
    finish_average(op, stages);
    return stages;
}

Pool2d pool2d_average_in_lanes(const Pool2dOperands &op) {
    const Expr width = op.windows.width, height = op.windows.height;
    Pool2d stages;
    const auto of_lane = [](const Expr &count) { return ceil_div(count, kLanes); };
    stages.r =
        op.nhwc ? RDom(0, width, 0, of_lane(height), "r") : RDom(0, of_lane(width), 0, height, "r");
    RDom &r = stages.r;
    const Expr px = op.nhwc ? r.x : r.x * kLanes + stages.lane;
    const Expr py = op.nhwc ? r.y * kLanes + stages.lane : r.y;
    r.where(px < width && py < height);
    const Expr pixel =
        op.input(min(c, op.channels - 1), g, unsafe_promise_clamped(px, 0, width - 1),
                 unsafe_promise_clamped(py, 0, height - 1), n);
    stages.part = Func("part");
    stages.part(stages.lane, c, g, n) += cast<float>(pixel);
    stages.of_lane = Func("of_lane");
    stages.of_lane(stages.lane, c, g, n) = stages.part(stages.lane, c, g, n);
    stages.lanes = RDom(0, kLanes, "lanes");
    stages.folded = Func("sum");
    stages.folded(c, g, n) += stages.of_lane(stages.lanes, c, g, n);
    finish(op, stages.folded(c, g, n) / cast<float>(width * height), stages);
    return stages;
}

// A number past the end of a row is not read, of any vector; channels past the last are the last.
Pool2d pool2d_average_of_planes(const Pool2dOperands &op) {
    const Expr width = op.windows.width, height = op.windows.height;
    Pool2d stages;
    const Var lane = stages.lane, set = stages.set;
    stages.r = RDom(0, ceil_div(width, kPlaneLanes * kPlaneParts), 0, height, "r");
    const Expr at = (stages.r.x * kPlaneParts + set) * kPlaneLanes + lane;
    const Expr pixel = op.input(min(c, op.channels - 1), g,
                                unsafe_promise_clamped(at, 0, width - 1), stages.r.y, n);
    stages.part = Func("part");
    stages.part(lane, set, c, g, n) +=
        select(at < width, cast<float>(loaded_if(likely(at < width), pixel)), 0.f);
    Expr of_lane = stages.part(lane, 0, c, g, n);
    for (int i = 1; i < kPlaneParts; i++) of_lane += stages.part(lane, i, c, g, n);
    stages.of_lane = Func("of_lane");
    stages.of_lane(lane, c, g, n) = of_lane;
    stages.lanes = RDom(0, kPlaneLanes, "lanes");
    stages.folded = Func("sum");
    stages.folded(c, g, n) += stages.of_lane(stages.lanes, c, g, n);
    finish(op, stages.folded(c, g, n) / cast<float>(width * height), stages);
    return stages;
}

}  // namespace hk::generators
