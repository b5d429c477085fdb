#include "compiler/turned_registers.h"

#include <algorithm>
#include <optional>
#include <vector>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// The indices of what is loaded and stored in a loop, without that loop's name: in its first turn.
class FirstTurn : public IRMutator {
public:
    bool stores = false;
    Type type;
    int64_t first = 0, last = -1;  // of the registers
    std::optional<int64_t> step;   // to those of the next turn; 0 where it is not the same for all

    FirstTurn(const std::string &name, const For *loop) : name_(name), loop_(loop) {}

private:
    using IRMutator::visit;

    const std::string &name_;
    const For *const loop_;
    Scope<Interval> inner_;

    Stmt visit(const For *op) override {
        const ScopedBinding<Interval> bound(inner_, op->name,
                                            Interval(op->min, simplify(op->min + op->extent - 1)));
        return IRMutator::visit(op);
    }

    Expr in_turn(const Expr &index, int turn) const {
        return simplify(substitute(loop_->name, simplify(loop_->min + turn), index));
    }

    Expr note(const Expr &index) {
        const Ramp *ramp = index.as<Ramp>();
        const Expr place = in_turn(ramp ? ramp->base : index, 0);
        const auto distance = as_const_int(simplify(in_turn(ramp ? ramp->base : index, 1) - place));
        if (!step) step = distance;
        if (step != distance) step = 0;
        const Interval places = find_constant_bounds(place, inner_);
        if (!places.is_bounded()) step = 0;
        if (step == 0) return index;
        const int64_t low = *as_const_int(places.min),
                      high = *as_const_int(places.max) + (ramp ? ramp->lanes - 1 : 0);
        const bool any = last >= first;
        first = any ? std::min(first, low) : low;
        last = any ? std::max(last, high) : high;
        return in_turn(index, 0);
    }

    Expr visit(const Load *op) override {
        if (op->name != name_) return IRMutator::visit(op);
        return Load::make(op->type, name_, note(op->index), op->image, op->param,
                          mutate(op->predicate), op->alignment);
    }
    Stmt visit(const Store *op) override {
        if (op->name != name_) return IRMutator::visit(op);
        stores |= expr_uses_var(op->index, loop_->name);
        type = op->value.type().element_of();
        return Store::make(name_, mutate(op->value), note(op->index), op->param,
                           mutate(op->predicate), op->alignment);
    }
};

class TurnRegisters : public IRMutator {
public:
    explicit TurnRegisters(const std::string &name) : name_(name) {}

private:
    using IRMutator::visit;

    const std::string &name_;
    Type type_;

    Expr load(int64_t place) const {
        return Load::make(type_, name_, make_const(Int(32), place), Buffer<>(), Parameter(),
                          const_true(), ModulusRemainder());
    }
    Stmt store(int64_t place, const Expr &value) const {
        return Store::make(name_, value, make_const(Int(32), place), Parameter(), const_true(),
                           ModulusRemainder());
    }

    // By `step`, of `count` from `first` on.
    Stmt turned(int64_t first, int64_t step, int64_t count) const {
        std::vector<std::string> names;
        std::vector<Stmt> stores;
        for (int64_t i = 0; i < step; i++) names.push_back(unique_name("turned"));
        for (int64_t i = 0; i + step < count; i++)
            stores.push_back(store(first + i, load(first + i + step)));
        for (int64_t i = 0; i < step; i++)
            stores.push_back(store(first + count - step + i, Variable::make(type_, names[i])));
        Stmt result = Block::make(stores);
        for (int64_t i = 0; i < step; i++)
            result = LetStmt::make(names[i], load(first + i), result);
        return result;
    }

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::Serial) return IRMutator::visit(op);
        FirstTurn turn(name_, op);
        const Stmt body = turn.mutate(op->body);
        if (!turn.stores) return IRMutator::visit(op);
        const auto turns = as_const_int(simplify(op->extent));
        const int64_t step = turn.step.value_or(0);
        if (!turns || step <= turn.last - turn.first)
            throw CompileError("registers of " + name_ + " in loop " + op->name +
                               ": its turns are not of so many each\n");
        type_ = turn.type;
        const Stmt to_next = turned(turn.first, step, step * *turns);
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy,
                         op->device_api, Block::make(mutate(body), to_next));
    }
};

}  // namespace

Stmt turn_registers(const std::string &name, const Stmt &body) {
    return TurnRegisters(name).mutate(body);
}

}  // namespace hk::compiler
