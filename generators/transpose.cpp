#include "generators/transpose.h"

using namespace Halide;

namespace hk::generators {

std::vector<Func> transpose(const Func &rows, int size, const std::vector<Var> &rest) {
    const auto at = [&](const Expr &e, const Expr &r) {
        std::vector<Expr> place = {e, r};
        place.insert(place.end(), rest.begin(), rest.end());
        return place;
    };
    std::vector<Var> arguments = {element, row};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    std::vector<Func> steps = {rows};
    for (int half = size / 2; half > 0; half /= 2) {
        const Func &last = steps.back();
        Func next("shuffled");
        next(arguments) =
            select(element % 2 == 0, last(at(element / 2, row)), last(at(element / 2, row + half)));
        steps.push_back(next);
    }
    return steps;
}

}  // namespace hk::generators
