#include "compiler/linear.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

void Linear::add(const Expr &e, int64_t factor) {
    if (const auto number = as_const_int(e)) {
        constant += factor * *number;
    } else if (const Add *sum = e.as<Add>()) {
        add(sum->a, factor);
        add(sum->b, factor);
    } else if (const Sub *difference = e.as<Sub>()) {
        add(difference->a, factor);
        add(difference->b, -factor);
    } else if (const Mul *product = e.as<Mul>(); product && as_const_int(product->b)) {
        add(product->a, factor * *as_const_int(product->b));
    } else if (terms[e] += factor; terms[e] == 0) {
        terms.erase(e);
    }
}

Expr Linear::sum() const {
    Expr result = make_const(Int(32), constant);
    for (const auto &[term, factor] : terms) result += term * static_cast<int>(factor);
    return simplify(result);
}

}  // namespace hk::compiler
