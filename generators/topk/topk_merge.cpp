#include "generators/topk/topk_merge.h"

using namespace Halide;

namespace hk::generators {

TopKMerge topk_merge(const TopKMergeOperands &op) {
    TopKMerge stages;
    const Var &place = stages.place, &list = stages.list, &x = stages.x, &y = stages.y;
    const auto item = [&](const Expr &of_list, const Expr &at) {
        TopKItem values;
        for (const Func &value : op.items) {
            values.push_back(
                value(clamp(at, 0, op.length - 1), clamp(of_list, 0, op.lists - 1), x, y));
        }
        return values;
    };
    std::vector<Type> types;
    for (const Expr &value : item(list, place)) types.push_back(value.type());
    const auto left = [&](const Expr &at) { return item(2 * list, at); };
    const auto right = [&](const Expr &at) { return item(2 * list + 1, at); };
    const Expr right_length = select(2 * list + 1 < op.lists, op.length, 0);

    stages.r = RDom(0, op.halvings, "halving");
    stages.ahead = Func("ahead");
    stages.ahead(place, list, x, y) = Tuple(max(place - right_length, 0), min(place, op.length));
    // The reduction's variable counts only: low and high meet before it ends, where middle is both,
    // and stay.
    const Expr low = stages.ahead(place, list, x, y)[0], high = stages.ahead(place, list, x, y)[1];
    const Expr middle = (low + high) / 2 + stages.r * 0;
    const Expr before = !topk_beats(right(place - 1 - middle), left(middle));
    stages.ahead(place, list, x, y) = Tuple(select(low < high && before, middle + 1, low),
                                            select(before, high, middle));

    const Expr of_left = stages.ahead(place, list, x, y)[0], of_right = place - of_left;
    const Expr left_ends = of_left >= op.length, right_ends = of_right >= right_length;
    const Expr take_left =
        !left_ends && (right_ends || !topk_beats(right(of_right), left(of_left)));
    const TopKItem found = topk_select(take_left, left(of_left), right(of_right));
    const TopKItem padding = topk_padding(types);
    stages.merged = Func("merged");
    stages.merged(place, list, x, y) = Tuple(topk_select(left_ends && right_ends, padding, found));
    return stages;
}

}  // namespace hk::generators
