#include "compiler/masked_stores.h"

#include <map>
#include <string>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// min(a, most) is a where a mask says a < end, and end - 1 <= most.
class Unclamp : public IRMutator {
public:
    explicit Unclamp(const Expr &mask) : mask_(mask) {}

private:
    using IRMutator::visit;

    static bool no_more(const Expr &least, const Expr &most) {
        return can_prove(simplify(least <= most));
    }

    bool implied(const Expr &mask, const Min *op) const {
        if (const And *both = mask.as<And>()) return implied(both->a, op) || implied(both->b, op);
        const LT *less = mask.as<LT>();
        return less && equal(simplify(less->a - op->a), make_zero(op->type)) &&
               no_more(less->b - 1, op->b);
    }

    Expr visit(const Min *op) override {
        return implied(mask_, op) ? op->a : IRMutator::visit(op);
    }

    const Expr &mask_;
};

// With the values of vectors in place of their names.
class Unlet : public IRMutator {
public:
    explicit Unlet(const std::map<std::string, Expr> &values) : values_(values) {}

private:
    using IRMutator::visit;

    Expr visit(const Variable *op) override {
        const auto value = values_.find(op->name);
        return value == values_.end() ? Expr(op) : mutate(value->second);
    }

    const std::map<std::string, Expr> &values_;
};

class InStores : public IRMutator {
    using IRMutator::visit;

    std::map<std::string, Expr> vectors_;  // of the lets around, whose names are unique

    Stmt visit(const LetStmt *op) override {
        if (!op->value.type().is_vector()) return IRMutator::visit(op);
        vectors_[op->name] = op->value;
        Stmt result = IRMutator::visit(op);
        vectors_.erase(op->name);
        return result;
    }

    Expr without_lets(const Expr &value) const {
        return Unlet(vectors_).mutate(substitute_in_all_lets(value));
    }

    Stmt visit(const Store *op) override {
        if (is_const_one(op->predicate) || !op->index.type().is_vector())
            return IRMutator::visit(op);
        const Expr mask = without_lets(op->predicate), index = without_lets(op->index);
        const Expr unclamped = Unclamp(mask).mutate(index);
        if (unclamped.same_as(index)) return IRMutator::visit(op);
        return Store::make(op->name, op->value, simplify(unclamped), op->param, op->predicate,
                           op->alignment);
    }
};

}  // namespace

Stmt unclamp_masked_stores(const Stmt &stmt) { return InStores().mutate(stmt); }

}  // namespace hk::compiler
