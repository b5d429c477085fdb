#include "compiler/loop_ends.h"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/loop_nest.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// The condition that all statements of a loop's body have, and the body without it.
class Condition : public IRMutator {
public:
    // Undefined where some statement has another one, or none.
    std::optional<Expr> of(const Stmt &body) {
        body_ = mutate(body);
        return alone_ ? std::nullopt : condition_;
    }
    const Stmt &body() const { return body_; }

private:
    using IRMutator::visit;

    std::map<std::string, Expr> lets_;
    std::optional<Expr> condition_;
    bool alone_ = false;  // a statement is
    Stmt body_;

    Stmt visit(const LetStmt *op) override {
        lets_[op->name] = substitute(lets_, op->value);
        const Stmt body = mutate(op->body);
        return stmt_uses_var(body, op->name) ? LetStmt::make(op->name, op->value, body) : body;
    }
    Stmt visit(const IfThenElse *op) override {
        const Expr condition = substitute(lets_, op->condition);
        if (op->else_case.defined() || (condition_ && !equal(*condition_, condition)))
            return stays(op);
        condition_ = condition;
        return op->then_case;
    }
    Stmt visit(const For *op) override { return stays(op); }
    Stmt visit(const Store *op) override { return stays(op); }
    Stmt visit(const Allocate *op) override { return stays(op); }
    Stmt visit(const Evaluate *op) override { return is_barrier(op) ? Stmt(op) : stays(op); }

    Stmt stays(const Stmt &stmt) {
        alone_ = true;
        return stmt;
    }
};

// Whether a value is read from memory that a statement writes.
bool reads_what_is_written(const Expr &value, const Stmt &stmt) {
    class Memory : public IRVisitor {
    public:
        std::set<std::string> written;
        bool read = false;

    private:
        using IRVisitor::visit;
        void visit(const Store *op) override {
            written.insert(op->name);
            IRVisitor::visit(op);
        }
        void visit(const Load *op) override {
            read |= written.count(op->name) > 0;
            IRVisitor::visit(op);
        }
    } memory;
    stmt.accept(&memory);
    memory.read = false;
    value.accept(&memory);
    return memory.read;
}

// How many steps a condition lets through, from the first on: as many as it holds of a line.
std::optional<Expr> steps_of(const Expr &condition, const std::string &loop, const Expr &min) {
    const LT *less = condition.as<LT>();
    if (!less || less->a.type() != Int(32) || expr_uses_var(less->b, loop)) return std::nullopt;
    const Expr next = substitute(loop, Variable::make(Int(32), loop) + 1, less->a);
    const auto step = as_const_int(simplify(next - less->a));
    if (!step || *step <= 0) return std::nullopt;
    const auto by = static_cast<int>(*step);
    return max((less->b - substitute(loop, min, less->a) + (by - 1)) / by, 0);
}

class EndEarly : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        const bool staged =
            op->for_type == ForType::Serial && op->name.rfind(".stages_") != std::string::npos;
        if (!staged) return IRMutator::visit(op);
        Condition condition;
        const std::optional<Expr> found = condition.of(op->body);
        if (!found || reads_what_is_written(*found, op->body)) return op;
        const std::optional<Expr> steps = steps_of(*found, op->name, op->min);
        if (!steps) return op;
        const std::string extent = unique_name(op->name + ".extent");
        const Stmt loop =
            For::make(op->name, op->min, Variable::make(Int(32), extent), op->for_type,
                      op->partition_policy, op->device_api, condition.body());
        return LetStmt::make(extent, simplify(min(op->extent, *steps)), loop);
    }
};

}  // namespace

Stmt end_loops_early(const Stmt &stmt) { return EndEarly().mutate(stmt); }

}  // namespace hk::compiler
