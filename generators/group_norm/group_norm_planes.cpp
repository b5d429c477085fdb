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

// A group in vectors of a row: lane l has the vectors l, l + lanes, … of each row.
Blocks vectors_of_rows(const GroupNormOperands &op, const GroupNormSizes &sizes,
                       GroupNorm &stages) {
    const int size = sizes.together, lanes = sizes.lanes;
    const Expr vectors = op.width / size;
    stages.terms = Func("terms");
    const Expr column = within(x, vectors) * size + pixel;
    stages.terms(pixel, x, c, g, n) = cast<float>(op.input(c, g, column, 0, n));
    Blocks blocks;
    blocks.of = {g, n};
    blocks.is_long = blocks.is_one = true;
    blocks.masked = false;
    blocks.lanes = lanes;
    blocks.width = sizes.width;
    blocks.lengths = {size, ceil_div(vectors, lanes), op.channels};
    blocks.numbers = {1, 1, 1};
    const Func terms = stages.terms;
    const auto vector = [=](const Box &place, const Expr &lane) { return place[1] * lanes + lane; };
    blocks.start = cast<float>(op.input(0, g, 0, 0, n));
    const Expr channels = op.channels;
    blocks.element = [=](const Box &, const Box &place, const Expr &lane) {
        return Expr(
            terms(within(place[0], size), vector(place, lane), within(place[2], channels), g, n));
    };
    blocks.has = [=](const Box &, const Box &place, const Expr &lane) {
        return vector(place, lane) < vectors && place[2] < channels;
    };
    blocks.total = op.count();
    blocks.count = [=](const Box &) { return op.count(); };
    return blocks;
}

// What a normalised column is multiplied by, and what is added: of a channel one load each.
Tuple of_column(const GroupNormOperands &op, const GroupNorm &stages, const Planes &planes,
                const Expr &column) {
    const Expr channel = planes.channel(column);
    return {stages.statistics(0, g, n)[2] * op.weight(channel, g), op.bias(channel, g)};
}

void add_results(const GroupNormOperands &op, const FuncRef &of_column, GroupNorm &stages) {
    const Func &statistics = stages.statistics;
    const FuncRef its = statistics(0, g, n);
    const Expr distance = strict_float(cast<float>(op.input(c, g, x, y, n)) - its[0] - its[1]);
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
    add_results(op, stages.of_columns(x, c, g, n), stages);
    return stages;
}

GroupNorm group_norm_by_vectors(const GroupNormOperands &op, const GroupNormSizes &sizes) {
    GroupNorm stages;
    add_statistics(op, vectors_of_rows(op, sizes, stages), stages);
    const int size = sizes.together;
    const Planes planes(op);
    stages.of_vector = Func("of_vector");
    stages.of_vector(x, c, g, n) = of_column(op, stages, planes, x * size);
    stages.of_columns = Func("of_columns");
    stages.of_columns(pixel, x, c, g, n) = stages.of_vector(x, c, g, n);
    RDom &after = stages.after;
    after = RDom(1, size - 1, "after");
    after.where(planes.plane() % size != 0);
    stages.of_columns(after, x, c, g, n) = of_column(op, stages, planes, x * size + after);
    add_results(op, stages.of_columns(x % size, x / size, c, g, n), stages);
    return stages;
}

}  // namespace hk::generators
