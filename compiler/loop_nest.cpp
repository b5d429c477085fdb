#include "compiler/loop_nest.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

bool is_barrier(const Stmt &stmt) {
    const Evaluate *op = stmt.as<Evaluate>();
    const Call *call = op ? op->value.as<Call>() : nullptr;
    return call && call->is_intrinsic(Call::gpu_thread_barrier);
}

void flatten(const Stmt &stmt, std::vector<Stmt> &list) {
    if (const Block *block = stmt.as<Block>()) {
        flatten(block->first, list);
        flatten(block->rest, list);
    } else if (const ProducerConsumer *part = stmt.as<ProducerConsumer>()) {
        flatten(part->body, list);
    } else if (stmt.defined()) {
        list.push_back(stmt);
    }
}

namespace {

class Unroll : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        const Stmt body = mutate(op->body);
        std::vector<Stmt> copies;
        for (int64_t i = 0; i < *as_const_int(op->extent); i++)
            copies.push_back(substitute(op->name, simplify(op->min + static_cast<int>(i)), body));
        return Block::make(copies);
    }
};

}  // namespace

Stmt unrolled(const Stmt &stmt) { return Unroll().mutate(stmt); }

Nest::Nest(const For *outermost) {
    Stmt body = outermost;
    while (const For *loop = body.as<For>()) {
        if (loop->for_type != ForType::Serial || (!levels_.empty() && depends(loop))) break;
        Level level{loop->name, loop->min, loop->extent, loop, {}};
        body = loop->body;
        for (;;) {
            if (const LetStmt *let = body.as<LetStmt>()) {
                level.lets.emplace_back(let->name, let->value);
                body = let->body;
            } else if (const ProducerConsumer *part = body.as<ProducerConsumer>()) {
                body = part->body;
            } else {
                break;
            }
        }
        levels_.push_back(std::move(level));
    }
    body_ = body;
}

Stmt Nest::around(Stmt body) const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); level++) {
        for (auto let = level->lets.rbegin(); let != level->lets.rend(); let++)
            body = LetStmt::make(let->first, let->second, body);
        const For *loop = level->loop;
        body = For::make(loop->name, loop->min, loop->extent, loop->for_type,
                         loop->partition_policy, loop->device_api, body);
    }
    return body;
}

Stmt Nest::at(const std::vector<Expr> &values, Stmt stmt) const {
    for (size_t i = levels_.size(); i-- > 0;) {
        const Level &level = levels_[i];
        for (auto let = level.lets.rbegin(); let != level.lets.rend(); let++)
            stmt = LetStmt::make(let->first, let->second, stmt);
        stmt = LetStmt::make(level.name, values[i], stmt);
    }
    return stmt;
}

Stmt Nest::first(const Stmt &stmt) const {
    Expr some = const_true();
    std::vector<Expr> mins;
    for (const Level &level : levels_) {
        some = some && level.extent > 0;
        mins.push_back(level.min);
    }
    return IfThenElse::make(simplify(some), at(mins, stmt));
}

Nest::Step Nest::after(const std::vector<Expr> &values) const {
    Step step{std::vector<Expr>(values.size()), const_true()};
    for (size_t i = levels_.size(); i-- > 0;) {
        const Level &level = levels_[i];
        const Expr last = values[i] == level.min + level.extent - 1;
        step.values[i] =
            simplify(select(step.is_last, select(last, level.min, values[i] + 1), values[i]));
        step.is_last = simplify(step.is_last && last);
    }
    return step;
}

Stmt Nest::next(const Stmt &stmt) const {
    std::vector<Expr> values, next;
    std::vector<std::string> names;
    for (const Level &level : levels_) {
        values.push_back(Variable::make(Int(32), level.name));
        names.push_back(unique_name(level.name + ".next"));
        next.push_back(Variable::make(Int(32), names.back()));
    }
    const Step step = after(values);
    Stmt result = at(next, stmt);
    for (size_t i = levels_.size(); i-- > 0;)
        result = LetStmt::make(names[i], step.values[i], result);
    return IfThenElse::make(!step.is_last, result);
}

void Nest::bind(Scope<> &names) const {
    for (const Level &level : levels_) {
        names.push(level.name);
        for (const auto &let : level.lets) names.push(let.first);
    }
}

bool Nest::depends(const For *loop) const {
    Scope<> bound;
    bind(bound);
    return expr_uses_vars(loop->min, bound) || expr_uses_vars(loop->extent, bound);
}

bool Nest::changes(const Stmt &stmt) const {
    Scope<> bound;
    bind(bound);
    return stmt_uses_vars(stmt, bound);
}

bool Nest::changes_with_outermost(const Stmt &stmt) const {
    Scope<> bound;
    bound.push(levels_[0].name);
    for (const auto &[name, value] : levels_[0].lets)
        if (expr_uses_vars(value, bound)) bound.push(name);
    return stmt_uses_vars(stmt, bound);
}

}  // namespace hk::compiler
