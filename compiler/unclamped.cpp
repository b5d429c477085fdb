#include "compiler/unclamped.h"

#include <vector>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// value < end, and not below zero where it is known.
struct Fact {
    Expr value, end;
    bool above_zero;
};

class Unclamp : public IRMutator {
public:
    Unclamp(const Expr &condition, const Lets &lets) : lets_(lets) {
        note(simplify(with_values(condition, lets)));
    }

private:
    using IRMutator::visit;

    const Lets &lets_;
    std::vector<Fact> facts_;
    Lets changed_;

    void note(const Expr &condition) {
        if (const And *both = condition.as<And>()) {
            note(both->a);
            note(both->b);
        } else if (const LT *less = condition.as<LT>()) {
            note(less->a, less->b);
        } else if (const LE *at_most = condition.as<LE>();
                   at_most && at_most->a.type() == Int(32)) {
            note(at_most->a, at_most->b + 1);
        }
    }

    void note(const Expr &value, const Expr &end) {
        if (value.type() == Int(32)) {
            facts_.push_back({value, end, false});
            return;
        }
        const Cast *of_value = value.as<Cast>(), *of_end = end.as<Cast>();
        if (value.type() == UInt(32) && of_value && of_end && of_value->value.type() == Int(32) &&
            of_end->value.type() == Int(32))
            facts_.push_back({of_value->value, of_end->value, true});
    }

    bool equal_in_place(const Expr &a, const Expr &b) const {
        return is_const_zero(simplify(with_values(a - b, lets_)));
    }

    bool at_most(const Expr &a, const Expr &b) const {
        for (const Fact &fact : facts_)
            if (equal_in_place(a - fact.value, b + 1 - fact.end)) return true;
        return false;
    }

    // What a minimum is by the condition.
    Expr smaller(const Min *op) const {
        if (!op || op->type != Int(32)) return {};
        if (at_most(op->a, op->b)) return op->a;
        if (at_most(op->b, op->a)) return op->b;
        return {};
    }

    Expr visit(const Min *op) override {
        const Expr value = smaller(op);
        return value.defined() ? mutate(value) : IRMutator::visit(op);
    }

    Expr visit(const Max *op) override {
        if (op->type != Int(32) || !is_const_zero(op->b)) return IRMutator::visit(op);
        Expr value = smaller(op->a.as<Min>());
        if (!value.defined()) value = op->a;
        for (const Fact &fact : facts_)
            if (fact.above_zero && equal_in_place(value, fact.value)) return mutate(value);
        return IRMutator::visit(op);
    }

    // A let stays where nothing in it changes.
    Expr visit(const Variable *op) override {
        const auto let = lets_.find(op->name);
        if (let == lets_.end()) return op;
        Expr &changed = changed_[op->name];
        if (!changed.defined()) changed = mutate(let->second);
        return changed.same_as(let->second) ? Expr(op) : changed;
    }
};

}  // namespace

Expr unclamped(const Expr &index, const Expr &condition, const Lets &lets) {
    return Unclamp(condition, lets).mutate(index);
}

}  // namespace hk::compiler
