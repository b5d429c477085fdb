#include "generators/accumulated.h"

#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

Expr accumulated(const Type &type, const Expr &sum, const Expr &previous, const Expr &accumulate) {
    return cast(type, if_present(accumulate, cast(sum.type(), previous) + sum, sum));
}

RowsInParts::RowsInParts(const Expr &batch, const Expr &height, int parts)
    : batch(batch), height(height), length((batch * height + parts - 1) / parts) {}

Expr RowsInParts::holds(const Expr &part, const Expr &i) const {
    return part * length + i < batch * height;
}

Expr RowsInParts::y(const Expr &part, const Expr &i) const { return (part * length + i) % height; }

// Clamped for the bounds of what is read: a part's length does not say where the rows end.
Expr RowsInParts::n(const Expr &part, const Expr &i) const {
    return clamp((part * length + i) / height, 0, batch - 1);
}

}  // namespace hk::generators
