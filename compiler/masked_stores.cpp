#include "compiler/masked_stores.h"

#include "compiler/let_values.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// min(a, most) is a where a mask says a < end, and end - 1 <= most.
class Unclamp : public IRMutator {
public:
    Unclamp(const Expr &mask, const Lets &scalars) : mask_(mask), scalars_(scalars) {}

private:
    using IRMutator::visit;

    bool same(const Expr &a, const Expr &b) const {
        const auto is_zero = [](const Expr &e) { return is_const_zero(simplify(e)); };
        return is_zero(a - b) || is_zero(with_values(a - b, scalars_));
    }

    bool implied(const Expr &mask, const Min *op) const {
        if (const And *both = mask.as<And>()) return implied(both->a, op) || implied(both->b, op);
        const LT *less = mask.as<LT>();
        return less && can_prove(simplify(less->b - 1 <= op->b)) && same(less->a, op->a);
    }

    Expr visit(const Min *op) override {
        return op->type.is_vector() && implied(mask_, op) ? op->a : IRMutator::visit(op);
    }

    const Expr &mask_;
    const Lets &scalars_;
};

class InStores : public IRMutator {
    using IRMutator::visit;

    Lets vectors_, scalars_;  // of the lets around

    Stmt visit(const LetStmt *op) override {
        auto &lets = op->value.type().is_vector() ? vectors_ : scalars_;
        lets[op->name] = op->value;
        Stmt result = IRMutator::visit(op);
        lets.erase(op->name);
        return result;
    }

    Expr without_vectors(const Expr &value) const {
        return with_values(substitute_in_all_lets(value), vectors_);
    }

    Stmt visit(const Store *op) override {
        if (is_const_one(op->predicate) || !op->index.type().is_vector())
            return IRMutator::visit(op);
        const Expr mask = without_vectors(op->predicate), index = without_vectors(op->index);
        const Expr unclamped = Unclamp(mask, scalars_).mutate(index);
        if (unclamped.same_as(index)) return IRMutator::visit(op);
        return Store::make(op->name, op->value, simplify(unclamped), op->param, op->predicate,
                           op->alignment);
    }
};

}  // namespace

Stmt unclamp_masked_stores(const Stmt &stmt) { return InStores().mutate(stmt); }

}  // namespace hk::compiler
