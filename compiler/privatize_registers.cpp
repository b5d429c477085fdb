#include "compiler/privatize_registers.h"

#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "compiler/linear.h"
#include "compiler/turned_registers.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// Rewrites the indices of one allocation by a function that sees them with the values of int32 lets
// in place, in terms of thread ids. Other code stays as it is: with lets replaced everywhere an
// OpenCL program was twice as long.
// A load from select(…) becomes a selection of loads.
class MapIndices : public IRMutator {
public:
    using Map = std::function<Expr(const Expr &index, bool stored)>;

    MapIndices(const std::string &name, Map map) : name_(name), map_(std::move(map)) {}

private:
    using IRMutator::visit;

    const std::string &name_;
    const Map map_;
    std::map<std::string, Expr> values_;

    template<typename Result, typename Node>
    Result visit_let(const Node *op) {
        const Expr value = mutate(op->value);
        if (value.type() != Int(32)) return Node::make(op->name, value, mutate(op->body));
        const auto outer = values_.find(op->name);
        const Expr shadowed = outer == values_.end() ? Expr() : outer->second;
        values_[op->name] = substitute(values_, value);
        const Result body = mutate(op->body);
        if (shadowed.defined())
            values_[op->name] = shadowed;
        else
            values_.erase(op->name);
        return Node::make(op->name, value, body);
    }

    Stmt visit(const LetStmt *op) override { return visit_let<Stmt>(op); }
    Expr visit(const Let *op) override { return visit_let<Expr>(op); }

    Expr visit(const Load *op) override {
        if (op->name != name_) return IRMutator::visit(op);
        return load(op, map_(substitute(values_, op->index), false));
    }
    Expr load(const Load *op, const Expr &index) {
        if (const Select *choice = index.as<Select>())
            return Select::make(choice->condition, load(op, choice->true_value),
                                load(op, choice->false_value));
        return Load::make(op->type, op->name, index, op->image, op->param, mutate(op->predicate),
                          ModulusRemainder());
    }
    Stmt visit(const Store *op) override {
        if (op->name != name_) return IRMutator::visit(op);
        return Store::make(op->name, mutate(op->value), map_(substitute(values_, op->index), true),
                           op->param, mutate(op->predicate), ModulusRemainder());
    }
};

// What is bound inside the allocation: thread ids, and names whose values change while it lives.
struct Bound : IRVisitor {
    using IRVisitor::visit;

    Scope<Interval> threads;  // thread id -> its values
    Scope<> changing;
    std::map<std::string, std::pair<int64_t, int64_t>> loops;  // serial ones: first and last
    bool any_thread = false;

    // Forgets all loops but those that say that they turn registers; whether there are any.
    bool keep_turns() {
        std::erase_if(
            loops, [](const auto &loop) { return loop.first.find(kTurns) == std::string::npos; });
        return !loops.empty();
    }

    void visit(const For *op) override {
        if (op->for_type == ForType::GPUThread || op->for_type == ForType::GPULane) {
            threads.push(op->name, Interval(op->min, simplify(op->min + op->extent - 1)));
            any_thread = true;
        } else {
            changing.push(op->name);
            const Expr first = find_constant_bound(op->min, Direction::Lower, values_),
                       last =
                           find_constant_bound(op->min + op->extent - 1, Direction::Upper, values_);
            if (first.defined() && last.defined())
                loops[op->name] = {*as_const_int(first), *as_const_int(last)};
        }
        IRVisitor::visit(op);
    }
    void visit(const LetStmt *op) override {
        changing.push(op->name);
        if (op->value.type() == Int(32))
            values_.push(op->name, find_constant_bounds(op->value, values_));
        IRVisitor::visit(op);
    }
    void visit(const Let *op) override {
        changing.push(op->name);
        IRVisitor::visit(op);
    }

private:
    Scope<Interval> values_;  // of lets
};

// What is left of an index without its thread part, as a number of the dense slice.
class Slice {
public:
    struct Access {
        Expr index;
        bool stored;
    };

    Slice(const std::string &allocation, const std::vector<Access> &accesses, const Bound &bound)
        : name_(allocation.substr(0, allocation.rfind('.'))), bound_(bound) {
        for (const auto &[index, stored] : accesses)
            for (const auto &[name, turns] : bound_.loops)
                if (stored && expr_uses_var(rest(index), name)) turned_.insert({name, turns});
        Expr first;
        for (const auto &[index, stored] : accesses) {
            const Expr part = split(first_lane(index)).first;
            if (!first.defined()) first = part;
            if (!can_prove(part == first, bound_.threads)) {
                std::ostringstream message;
                message << first << " in one access is " << part << " in another";
                reject(message.str());
            }
            const Expr r = rest(index);
            if (stored)
                note(r);
            else
                choose(r, [&](const Expr &element) { return note(element), element; });
        }
    }

    bool dense() const { return constant_; }
    bool turns() const { return constant_ && !turned_.empty(); }
    int size() const { return static_cast<int>(elements_.size()); }

    Expr local(const Expr &index) const {
        const Expr r = rest(index);
        if (!constant_) return r;
        return choose(r, [&](const Expr &element) -> Expr {
            if (const Ramp *ramp = element.as<Ramp>())
                return Ramp::make(number(ramp->base), 1, ramp->lanes);
            return number(element);
        });
    }

private:
    static constexpr int longest_choice = 8;

    const std::string name_;
    const Bound &bound_;
    std::map<std::string, std::pair<int64_t, int64_t>> turned_;  // loops that store
    std::set<int64_t> elements_;
    bool constant_ = true;

    [[noreturn]] void reject(const std::string &what) const {
        throw CompileError("register crosstalk in " + name_ + ": the thread's part of its index, " +
                           what +
                           ". Give all its stages and its consumer the same threads, or store it "
                           "in shared memory.\n");
    }

    // The part with thread ids, and the rest.
    std::pair<Expr, Expr> split(const Expr &index) const {
        const Linear whole(simplify(index, true, bound_.threads));
        Linear part(0), rest(0);
        rest.constant = whole.constant;
        for (const auto &[term, factor] : whole.terms) {
            if (!expr_uses_vars(term, bound_.threads)) {
                rest.terms[term] = factor;
                continue;
            }
            if (expr_uses_vars(term, bound_.changing)) {
                std::ostringstream message;
                message << term << ", changes while it lives";
                reject(message.str());
            }
            part.terms[term] = factor;
        }
        return {part.sum(), rest.sum()};
    }

    // Lanes of one vector are all of one thread.
    static Expr first_lane(const Expr &index) {
        if (const Ramp *ramp = index.as<Ramp>()) return first_lane(ramp->base);
        if (const Broadcast *broadcast = index.as<Broadcast>()) return first_lane(broadcast->value);
        return index;
    }

    Expr rest(const Expr &index) const {
        if (const Ramp *ramp = index.as<Ramp>())
            return Ramp::make(rest(ramp->base), ramp->stride, ramp->lanes);
        if (const Broadcast *broadcast = index.as<Broadcast>())
            return Broadcast::make(rest(broadcast->value), broadcast->lanes);
        return split(index).second;
    }

    // The elements of an index in the turns of the short loops that it depends on, and which of
    // them it is in this turn. Registers have no index: in a loop that is not unrolled a load is a
    // choice among them, a select an element, where code for each turn would be far longer.
    template<typename OfElement>
    Expr choose(const Expr &r, const OfElement &of_element) const {
        for (const auto &[name, turns] : bound_.loops) {
            const bool is_short = turns.second - turns.first < longest_choice;
            if (!is_short || turned_.count(name) || !expr_uses_var(r, name)) continue;
            Expr result;
            for (int64_t turn = turns.second; turn >= turns.first; turn--) {
                const Expr now = make_const(Int(32), turn);
                const Expr one = choose(simplify(substitute(name, now, r)), of_element);
                const Expr is_now = Variable::make(Int(32), name) == now;
                const int lanes = one.type().lanes();
                result = !result.defined() ? one
                         : lanes == 1      ? Select::make(is_now, one, result)
                                      : Select::make(Broadcast::make(is_now, lanes), one, result);
            }
            return result;
        }
        return of_element(r);
    }

    static Expr in_turn(const Expr &e, const std::string &loop, int64_t turn) {
        return simplify(substitute(loop, make_const(Int(32), turn), e));
    }

    void note(const Expr &r) {
        for (const auto &[name, turns] : turned_) {
            if (!expr_uses_var(r, name)) continue;
            for (int64_t turn = turns.first; turn <= turns.second; turn++)
                note(in_turn(r, name, turn));
            return;
        }
        const Ramp *ramp = r.as<Ramp>();
        const auto first = as_const_int(ramp ? ramp->base : r);
        if (!first || (ramp && !is_const_one(ramp->stride))) {
            constant_ = false;
            return;
        }
        for (int i = 0; i < (ramp ? ramp->lanes : 1); i++) elements_.insert(*first + i);
    }

    // Neighbours stay neighbours, which keeps vectors whole. In a loop that stores, where it is so
    // many after that of the turn before.
    Expr number(const Expr &element) const {
        for (const auto &[name, turns] : turned_) {
            if (!expr_uses_var(element, name)) continue;
            const Expr first = number(in_turn(element, name, turns.first));
            const Expr step = number(in_turn(element, name, turns.first + 1)) - first;
            const Expr turn = Variable::make(Int(32), name) - static_cast<int>(turns.first);
            for (int64_t i = turns.first; i <= turns.second; i++)
                if (!can_prove(number(in_turn(element, name, i)) ==
                               first + step * static_cast<int>(i - turns.first)))
                    throw CompileError("registers of " + name_ + " are not in the order of " +
                                       name + "'s turns, which stores them\n");
            return simplify(first + step * turn);
        }
        const auto place = elements_.find(*as_const_int(element));
        return static_cast<int>(std::distance(elements_.begin(), place));
    }
};

class PrivatizeRegisters : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::Register) return IRMutator::visit(op);
        Bound bound;
        op->body.accept(&bound);
        // One thread's own already.
        if (!bound.any_thread && !bound.keep_turns()) return IRMutator::visit(op);
        std::vector<Slice::Access> accesses;
        MapIndices(op->name, [&](const Expr &index, bool stored) {
            return accesses.push_back({index, stored}), index;
        }).mutate(op->body);
        const Slice slice(op->name, accesses, bound);
        const Stmt body = MapIndices(op->name, [&](const Expr &index, bool) {
                              return slice.local(index);
                          }).mutate(op->body);
        if (!bound.any_thread && !slice.turns()) return IRMutator::visit(op);
        const std::vector<Expr> extents =
            slice.dense() ? std::vector<Expr>{std::max(slice.size(), 1)} : op->extents;
        return Allocate::make(op->name, op->type, op->memory_type, extents, op->condition,
                              mutate(slice.turns() ? turn_registers(op->name, body) : body),
                              op->new_expr, op->free_function);
    }
};

}  // namespace

Stmt privatize_registers(const Stmt &body) { return PrivatizeRegisters().mutate(body); }

Expr registers_one_by_one(const Load *op) {
    const Ramp *ramp = op->index.as<Ramp>();
    if (!ramp || !is_const(ramp->base)) return op;
    std::vector<Expr> elements;
    for (int i = 0; i < ramp->lanes; i++)
        elements.push_back(Load::make(op->type.element_of(), op->name,
                                      simplify(ramp->base + i * ramp->stride), op->image, op->param,
                                      const_true(), ModulusRemainder()));
    return Shuffle::make_concat(elements);
}

}  // namespace hk::compiler
