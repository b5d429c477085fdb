#include "compiler/privatize_registers.h"

#include <map>
#include <set>
#include <sstream>
#include <vector>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// Replaces the names of int32 lets by their values, so that indices are in terms of thread ids.
// What other code needs is computed once again by LLVM's or the driver's common subexpressions.
class InlineIndices : public IRMutator {
    using IRMutator::visit;

    std::map<std::string, Expr> values_;

    template<typename Result, typename Node>
    Result visit_let(const Node *op) {
        const Expr value = mutate(op->value);
        if (value.type() != Int(32)) return Node::make(op->name, value, mutate(op->body));
        const auto outer = values_.find(op->name);
        const Expr shadowed = outer == values_.end() ? Expr() : outer->second;
        values_[op->name] = value;
        const Result body = mutate(op->body);
        if (shadowed.defined())
            values_[op->name] = shadowed;
        else
            values_.erase(op->name);
        return body;
    }

    Stmt visit(const LetStmt *op) override { return visit_let<Stmt>(op); }
    Expr visit(const Let *op) override { return visit_let<Expr>(op); }
    Expr visit(const Variable *op) override {
        const auto found = values_.find(op->name);
        return found == values_.end() ? Expr(op) : found->second;
    }
};

struct ThreadIds : IRVisitor {
    using IRVisitor::visit;

    std::map<std::string, Expr> zero;  // thread id -> 0
    Scope<Interval> bounds;            // thread id -> its values

    void visit(const For *op) override {
        if (op->for_type == ForType::GPUThread || op->for_type == ForType::GPULane) {
            zero[op->name] = 0;
            bounds.push(op->name, Interval(op->min, simplify(op->min + op->extent - 1)));
        }
        IRVisitor::visit(op);
    }
};

struct Indices : IRVisitor {
    using IRVisitor::visit;

    explicit Indices(const std::string &name) : name(name) {}
    const std::string &name;
    std::vector<Expr> found;

    void visit(const Load *op) override {
        if (op->name == name) found.push_back(op->index);
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        if (op->name == name) found.push_back(op->index);
        IRVisitor::visit(op);
    }
};

// What is left of an index without its thread part, as a number of the dense slice.
class Slice {
public:
    Slice(const std::string &name, const std::vector<Expr> &indices, const ThreadIds &threads) : threads_(threads) {
        Expr first;
        for (const Expr &index : indices) {
            const Expr part = thread_part(index);
            if (!first.defined()) first = part;
            if (!same(part, first)) {
                std::ostringstream message;
                message << "register crosstalk in " << name << ": one access belongs to thread part " << first
                        << ", another to " << part
                        << ". Give its stages and its consumer the same threads, or store it elsewhere.\n";
                throw CompileError(message.str());
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
    const ThreadIds &threads_;
    std::set<int64_t> elements_;
    bool constant_ = true;

    Expr rest(const Expr &index) const { return simplify(substitute(threads_.zero, index)); }

    // f of the first lane; lanes of one vector are all of one thread.
    Expr thread_part(const Expr &index) const {
        Expr scalar = index;
        while (const Ramp *ramp = scalar.as<Ramp>()) scalar = ramp->base;
        while (const Broadcast *broadcast = scalar.as<Broadcast>()) scalar = broadcast->value;
        const Expr whole = simplify(scalar, true, threads_.bounds);
        return simplify(whole - simplify(substitute(threads_.zero, whole)), true, threads_.bounds);
    }

    bool same(const Expr &a, const Expr &b) const {
        return is_const_zero(simplify(a - b, true, threads_.bounds)) || can_prove(a == b, threads_.bounds);
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

class UseSlice : public IRMutator {
    using IRMutator::visit;

    const std::string &name_;
    const Slice &slice_;

    Expr visit(const Load *op) override {
        if (op->name != name_) return IRMutator::visit(op);
        return Load::make(op->type, op->name, slice_.local(op->index), op->image, op->param, mutate(op->predicate),
                          ModulusRemainder());
    }
    Stmt visit(const Store *op) override {
        if (op->name != name_) return IRMutator::visit(op);
        return Store::make(op->name, mutate(op->value), slice_.local(op->index), op->param, mutate(op->predicate),
                           ModulusRemainder());
    }

public:
    UseSlice(const std::string &name, const Slice &slice) : name_(name), slice_(slice) {}
};

class PrivatizeRegisters : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::Register) return IRMutator::visit(op);
        ThreadIds inside;
        op->body.accept(&inside);
        if (inside.zero.empty()) return IRMutator::visit(op);  // one thread's own already

        const Stmt body = InlineIndices().mutate(op->body);
        ThreadIds threads;
        body.accept(&threads);
        Indices indices(op->name);
        body.accept(&indices);
        const Slice slice(op->name, indices.found, threads);
        const std::vector<Expr> extents =
            slice.dense() ? std::vector<Expr>{std::max(slice.size(), 1)} : op->extents;
        return Allocate::make(op->name, op->type, op->memory_type, extents, op->condition,
                              mutate(UseSlice(op->name, slice).mutate(body)), op->new_expr, op->free_function);
    }
};

}  // namespace

Stmt privatize_registers(const Stmt &body) { return PrivatizeRegisters().mutate(body); }

}  // namespace hk::compiler
