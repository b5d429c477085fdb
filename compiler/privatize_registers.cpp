#include "compiler/privatize_registers.h"

#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <vector>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// Rewrites the indices of one allocation by a function that sees them with the values of int32 lets
// in place, in terms of thread ids. Other code stays as it is: with lets replaced everywhere an
// OpenCL program was twice as long.
class MapIndices : public IRMutator {
public:
    MapIndices(const std::string &name, std::function<Expr(const Expr &)> map)
        : name_(name), map_(std::move(map)) {}

private:
    using IRMutator::visit;

    const std::string &name_;
    const std::function<Expr(const Expr &)> map_;
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
        return Load::make(op->type, op->name, map_(substitute(values_, op->index)), op->image,
                          op->param, mutate(op->predicate), ModulusRemainder());
    }
    Stmt visit(const Store *op) override {
        if (op->name != name_) return IRMutator::visit(op);
        return Store::make(op->name, mutate(op->value), map_(substitute(values_, op->index)),
                           op->param, mutate(op->predicate), ModulusRemainder());
    }
};

// What is bound inside the allocation: thread ids, and names whose values change while it lives.
struct Bound : IRVisitor {
    using IRVisitor::visit;

    Scope<Interval> threads;  // thread id -> its values
    Scope<> changing;
    bool any_thread = false;

    void visit(const For *op) override {
        if (op->for_type == ForType::GPUThread || op->for_type == ForType::GPULane) {
            threads.push(op->name, Interval(op->min, simplify(op->min + op->extent - 1)));
            any_thread = true;
        } else {
            changing.push(op->name);
        }
        IRVisitor::visit(op);
    }
    void visit(const LetStmt *op) override {
        changing.push(op->name);
        IRVisitor::visit(op);
    }
    void visit(const Let *op) override {
        changing.push(op->name);
        IRVisitor::visit(op);
    }
};

// constant + sum of factor * term, where no term is a sum or a multiple of another.
struct Linear {
    int64_t constant = 0;
    std::map<Expr, int64_t, IRDeepCompare> terms;

    explicit Linear(const Expr &index) { add(index, 1); }

    void add(const Expr &e, int64_t factor) {
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

    Expr sum() const {
        Expr result = make_const(Int(32), constant);
        for (const auto &[term, factor] : terms) result += term * static_cast<int>(factor);
        return simplify(result);
    }
};

// What is left of an index without its thread part, as a number of the dense slice.
class Slice {
public:
    Slice(const std::string &allocation, const std::vector<Expr> &indices, const Bound &bound)
        : name_(allocation.substr(0, allocation.rfind('.'))), bound_(bound) {
        Expr first;
        for (const Expr &index : indices) {
            const Expr part = split(first_lane(index)).first;
            if (!first.defined()) first = part;
            if (!can_prove(part == first, bound_.threads)) {
                std::ostringstream message;
                message << first << " in one access is " << part << " in another";
                reject(message.str());
            }
            note(rest(index));
        }
    }

    bool dense() const { return constant_; }
    int size() const { return static_cast<int>(elements_.size()); }

    Expr local(const Expr &index) const {
        const Expr r = rest(index);
        if (!constant_) return r;
        if (const Ramp *ramp = r.as<Ramp>()) return Ramp::make(number(ramp->base), 1, ramp->lanes);
        return number(r);
    }

private:
    const std::string name_;
    const Bound &bound_;
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

    void note(const Expr &r) {
        const Ramp *ramp = r.as<Ramp>();
        const auto first = as_const_int(ramp ? ramp->base : r);
        if (!first || (ramp && !is_const_one(ramp->stride))) {
            constant_ = false;
            return;
        }
        for (int i = 0; i < (ramp ? ramp->lanes : 1); i++) elements_.insert(*first + i);
    }

    // Neighbours stay neighbours, which keeps vectors whole.
    Expr number(const Expr &element) const {
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
        if (!bound.any_thread) return IRMutator::visit(op);  // one thread's own already
        std::vector<Expr> indices;
        MapIndices(op->name, [&](const Expr &index) {
            return indices.push_back(index), index;
        }).mutate(op->body);
        const Slice slice(op->name, indices, bound);
        const Stmt body = MapIndices(op->name, [&](const Expr &index) {
                              return slice.local(index);
                          }).mutate(op->body);
        const std::vector<Expr> extents =
            slice.dense() ? std::vector<Expr>{std::max(slice.size(), 1)} : op->extents;
        return Allocate::make(op->name, op->type, op->memory_type, extents, op->condition,
                              mutate(body), op->new_expr, op->free_function);
    }
};

}  // namespace

Stmt privatize_registers(const Stmt &body) { return PrivatizeRegisters().mutate(body); }

}  // namespace hk::compiler
