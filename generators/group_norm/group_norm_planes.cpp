#include "generators/ceil_div.h"
#include "generators/group_norm/blocks.h"
#include "generators/quotient.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Columns of a row, which has the planes of one channel or of all of a group.
class Planes {
public:
    explicit Planes(const GroupNormOperands &op)
        : op_(op), plane_(max(whole_quotient(op.width, op.planes), 1)) {}

    Expr plane() const { return plane_; }

    Expr channel(const Expr &column) const {
        // A multiplier up to 2 above the exact one: right where a number times a plane is up to
        // 2^30.
        static_assert(kMostOfPlanes <= 1 << 15);
        const Expr above = cast<uint32_t>(whole_quotient(1 << 30, plane_) + 1) * cast<uint32_t>(2);
        const Expr multiplier = select(op_.planes > 1, reinterpret<int32_t>(above), 0);
        return within(c + quotient(column, {plane_, multiplier, 31}), op_.channels * op_.planes);
    }

private:
    const GroupNormOperands &op_;
    const Expr plane_;
};

// Neighbouring lanes have the vectors of a row, a power of two of them, and others the rows after
// it; of nchw, whose rows are long, all lanes have one.
class LanesOfRows {
public:
    LanesOfRows(const GroupNormOperands &op, const GroupNormSizes &sizes)
        : lanes_(sizes.lanes), log_(0) {
        if (!op.nhwc) return;
        int most = 0;
        while (1 << most < lanes_) most++;
        log_ = min(32 - count_leading_zeros(op.channels / sizes.together - 1), most);
    }

    Expr across() const { return one_row() ? Expr(lanes_) : Expr(1) << log_; }
    Expr down() const { return one_row() ? Expr(1) : Expr(lanes_) >> log_; }
    Expr vector(const Expr &step, const Expr &lane) const {
        return step * across() + (one_row() ? lane : lane & (across() - 1));
    }
    Expr row(const Expr &step, const Expr &lane) const {
        return one_row() ? step : step * down() + (lane >> log_);
    }

private:
    bool one_row() const { return Internal::is_const_zero(log_); }

    const int lanes_;
    Expr log_;
};

// A group in vectors of rows: of nchw a row is columns, of nhwc the channels of a pixel.
Blocks vectors_of_rows(const GroupNormOperands &op, const GroupNormSizes &sizes,
                       GroupNorm &stages) {
    const int size = sizes.together;
    const LanesOfRows lanes(op, sizes);
    const Expr vectors = (op.nhwc ? op.channels : op.width) / size;
    const Expr rows = op.nhwc ? op.width : op.channels;
    const auto steps = [nhwc = op.nhwc](const Expr &y, const Expr &z) {
        return nhwc ? std::pair{z, y} : std::pair{y, z};  // along a row, and of rows
    };
    stages.across = lanes.across();
    stages.down = lanes.down();
    Blocks blocks;
    blocks.of = {g, n};
    blocks.is_long = !sizes.short_sums;
    blocks.is_one = true;
    blocks.masked = false;
    blocks.held = true;
    blocks.lanes = sizes.lanes;
    blocks.width = sizes.width;
    // Rows are the loop around vectors, but where they are short.
    const auto [y_steps, z_steps] =
        steps(ceil_div(vectors, lanes.across()), ceil_div(rows, lanes.down()));
    blocks.lengths = {size, y_steps, z_steps};
    blocks.numbers = {1, 1, 1};
    blocks.start = cast<float>(op.input(0, g, 0, 0, n));
    blocks.element = [=](const Box &, const Box &at, const Expr &lane) {
        const auto [along, down] = steps(at[1], at[2]);
        const Expr place = within(lanes.vector(along, lane), vectors) * size + at[0];
        const Expr row = within(lanes.row(down, lane), rows);
        return cast<float>(op.nhwc ? op.input(place, g, row, 0, n) : op.input(row, g, place, 0, n));
    };
    blocks.has = [=](const Box &, const Box &at, const Expr &lane) {
        const auto [along, down] = steps(at[1], at[2]);
        return lanes.vector(along, lane) < vectors && lanes.row(down, lane) < rows;
    };
    blocks.total = op.count();
    blocks.count = [=](const Box &) { return op.count(); };
    return blocks;
}

// Of nhwc a pixel alone, whose elements are held: so many vectors a lane.
Blocks held_vectors(const GroupNormOperands &op, const GroupNormSizes &sizes, GroupNorm &stages) {
    const int size = sizes.together;
    const Expr vectors = op.channels / size;
    const auto vector = [=](const Expr &i, const Expr &lane) {
        return i / size * sizes.lanes + lane;
    };
    const Expr place = min(vector(pixel, stages.lane), vectors - 1) * size + pixel % size;
    stages.loaded = Func("loaded");
    stages.loaded(pixel, stages.lane, g, n) = op.input(place, g, 0, 0, n);
    stages.terms = Func("terms");
    stages.terms(pixel, stages.lane, g, n) = cast<float>(stages.loaded(pixel, stages.lane, g, n));
    Blocks blocks;
    blocks.of = {g, n};
    blocks.is_long = false;
    blocks.is_one = true;
    blocks.masked = false;
    blocks.lanes = sizes.lanes;
    blocks.width = sizes.width;
    blocks.lengths = {size * sizes.held, 1, 1};
    blocks.numbers = {1, 1, 1};
    blocks.start = cast<float>(op.input(0, g, 0, 0, n));
    blocks.element = [&stages](const Box &, const Box &at, const Expr &lane) {
        return Expr(stages.terms(at[0], lane, g, n));
    };
    blocks.has = [=](const Box &, const Box &at, const Expr &lane) {
        return vector(at[0], lane) < vectors;
    };
    blocks.total = op.count();
    blocks.count = [=](const Box &) { return op.count(); };
    return blocks;
}

// The element that a lane holds of channel c.
Expr held_element(const GroupNorm &stages, const GroupNormSizes &sizes) {
    const int size = sizes.together;
    const Expr vector = c / size;
    return stages.terms(vector / sizes.lanes % sizes.held * size + c % size, vector % sizes.lanes,
                        g, n);
}

// What a normalised column is multiplied by, and what is added: of a channel one load each.
Tuple of_column(const GroupNormOperands &op, const GroupNorm &stages, const Planes &planes,
                const Expr &column) {
    const Expr channel = planes.channel(column);
    return {stages.statistics(0, g, n)[2] * op.weight(channel, g), op.bias(channel, g)};
}

void add_results(const GroupNormOperands &op, const Expr &element, const FuncRef &of_column,
                 GroupNorm &stages) {
    const Func &statistics = stages.statistics;
    const FuncRef its = statistics(0, g, n);
    const Expr distance = strict_float(element - its[0] - its[1]);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) =
        cast(op.type, strict_float(distance * of_column[0] + of_column[1]));
    add_saved(statistics(group, g, n)[0], statistics(group, g, n)[2], stages);
}

}  // namespace

GroupNorm group_norm_by_planes(const GroupNormOperands &op, const GroupNormSizes &sizes) {
    GroupNorm stages = statistics_of_runs(op, sizes);
    stages.of_columns = Func("of_columns");
    stages.of_columns(x, c, g, n) = of_column(op, stages, Planes(op), x);
    add_results(op, cast<float>(op.input(c, g, x, y, n)), stages.of_columns(x, c, g, n), stages);
    return stages;
}

GroupNorm group_norm_by_vectors(const GroupNormOperands &op, const GroupNormSizes &sizes) {
    GroupNorm stages;
    const bool held = sizes.held > 0;
    add_statistics(op, held ? held_vectors(op, sizes, stages) : vectors_of_rows(op, sizes, stages),
                   stages);
    const Expr element = held ? held_element(stages, sizes) : cast<float>(op.input(c, g, x, y, n));
    stages.of_columns = Func("of_columns");
    if (op.nhwc) {
        stages.of_columns(c, g, n) =
            Tuple(stages.statistics(0, g, n)[2] * op.weight(c, g), op.bias(c, g));
        add_results(op, element, stages.of_columns(c, g, n), stages);
        return stages;
    }
    const int size = sizes.together;
    const Planes planes(op);
    stages.of_vector = Func("of_vector");
    stages.of_vector(x, c, g, n) = of_column(op, stages, planes, x * size);
    stages.of_columns(pixel, x, c, g, n) = stages.of_vector(x, c, g, n);
    RDom &after = stages.after;
    after = RDom(1, size - 1, "after");
    after.where(planes.plane() % size != 0);
    stages.of_columns(after, x, c, g, n) = of_column(op, stages, planes, x * size + after);
    add_results(op, element, stages.of_columns(x % size, x / size, c, g, n), stages);
    return stages;
}

}  // namespace hk::generators
