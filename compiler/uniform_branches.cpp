#include "compiler/uniform_branches.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

class IsExpensive : public IRVisitor {
public:
    bool found = false;

private:
    using IRVisitor::visit;

    void visit(const Call *op) override {
        found |= op->call_type == Call::PureExtern || op->call_type == Call::Extern;
        IRVisitor::visit(op);
    }
    void visit(const Div *op) override {
        found |= op->type.is_float();
        IRVisitor::visit(op);
    }
};

class UniformBranches : public IRMutator {
    using IRMutator::visit;

    bool in_threads_ = false;
    Scope<> varying_;    // names whose values differ from thread to thread
    Scope<> expensive_;  // names of values that cost more than a branch

    bool varies(const Expr &e) const {
        class Loads : public IRVisitor {
        public:
            bool found = false;

        private:
            using IRVisitor::visit;
            void visit(const Load *) override { found = true; }
        } loads;
        e.accept(&loads);
        return loads.found || expr_uses_vars(e, varying_);
    }

    bool is_expensive(const Expr &e) const {
        IsExpensive expensive;
        e.accept(&expensive);
        return expensive.found || expr_uses_vars(e, expensive_);
    }

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::GPUThread && op->for_type != ForType::GPULane)
            return IRMutator::visit(op);
        const bool outside = in_threads_;
        in_threads_ = true;
        const ScopedBinding<> bound(varying_, op->name);
        Stmt result = IRMutator::visit(op);
        in_threads_ = outside;
        return result;
    }

    template<typename Result, typename Node>
    Result visit_let(const Node *op) {
        const Expr value = mutate(op->value);
        const ScopedBinding<> bound(in_threads_ && varies(op->value), varying_, op->name),
            costs(in_threads_ && is_expensive(op->value), expensive_, op->name);
        return Node::make(op->name, value, mutate(op->body));
    }
    Stmt visit(const LetStmt *op) override { return visit_let<Stmt>(op); }
    Expr visit(const Let *op) override { return visit_let<Expr>(op); }

    Expr visit(const Select *op) override {
        const Expr chosen = mutate(op->true_value), other = mutate(op->false_value);
        const Broadcast *all = op->condition.as<Broadcast>();
        const Expr condition = all ? all->value : op->condition;
        const bool branch = in_threads_ && condition.type().is_scalar() && !varies(condition) &&
                            (is_expensive(chosen) || is_expensive(other));
        if (!branch) return Select::make(mutate(op->condition), chosen, other);
        return Call::make(op->type, Call::if_then_else, {condition, chosen, other},
                          Call::PureIntrinsic);
    }
};

}  // namespace

Stmt branch_where_uniform(const Stmt &stmt) { return UniformBranches().mutate(stmt); }

}  // namespace hk::compiler
