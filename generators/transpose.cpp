#include "generators/transpose.h"

using namespace Halide;

namespace hk::generators {

std::vector<Func> transpose(const Func &rows, int size, const std::vector<Var> &rest) {
    std::vector<Expr> from = {element / size, element % size};
    from.insert(from.end(), rest.begin(), rest.end());
    std::vector<Var> arguments = {element, row};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    Func across("across");
    across(arguments) = rows(from);
    return {rows, across};
}

}  // namespace hk::generators
