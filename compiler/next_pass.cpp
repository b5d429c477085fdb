#include "compiler/next_pass.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/let_values.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kTurns = 4;  // of tiles
constexpr int kReads = 8;  // of a step: cache lines
constexpr int kLine = 64;  // bytes

struct Loop {
    std::string name;
    Expr extent;
    bool starts_at_zero;
};

// What a copy reads of the operand that it prefetches.
struct Copy {
    std::string pass;         // the loop around it
    std::vector<Loop> loops;  // its own, the outermost first
    std::string operand;
    Type type;                  // of a read, which may be of a vector
    std::vector<Expr> offsets;  // in the operand, of elements
};

// The operand that a statement prefetches; of several, the last.
class Prefetched : public IRVisitor {
public:
    std::string operand;

private:
    using IRVisitor::visit;

    void visit(const Call *op) override {
        const auto *of = op->is_intrinsic(Call::prefetch) ? op->args[0].as<Variable>() : nullptr;
        if (of) operand = of->name;
        IRVisitor::visit(op);
    }
};

// Reads of one nest of loops.
class Reads : public IRVisitor {
public:
    Reads(Copy &copy, Lets lets) : copy_(copy), lets_(std::move(lets)) {}

    bool are_understood() const { return understood_ && !copy_.offsets.empty(); }

private:
    using IRVisitor::visit;

    Copy &copy_;
    Lets lets_;
    std::vector<Loop> loops_;
    bool understood_ = true;

    void visit(const LetStmt *op) override {
        lets_[op->name] = op->value;
        op->body.accept(this);
        lets_.erase(op->name);
    }
    void visit(const For *op) override {
        loops_.push_back({op->name, op->extent, is_const_zero(op->min)});
        op->body.accept(this);
        loops_.pop_back();
    }
    void visit(const Load *op) override {
        IRVisitor::visit(op);
        if (op->name != copy_.operand) return;
        const Ramp *ramp = op->index.as<Ramp>();
        const Expr first = ramp ? ramp->base : op->index;
        const bool another_nest =
            !copy_.offsets.empty() &&
            !std::ranges::equal(copy_.loops, loops_, {}, &Loop::name, &Loop::name);
        understood_ &= first.type().is_scalar() && (!ramp || is_const_one(ramp->stride)) &&
                       !another_nest;
        if (!understood_) return;
        copy_.loops = loops_;
        copy_.type = op->type;
        copy_.offsets.push_back(with_values(first, lets_));
    }
};

class Uses : public IRVisitor {
public:
    explicit Uses(std::string name) : name_(std::move(name)) {}
    bool found = false;
    bool in_loop = false;  // of those in the statement

private:
    using IRVisitor::visit;

    const std::string name_;
    int depth_ = 0;

    void visit(const For *op) override {
        depth_++;
        IRVisitor::visit(op);
        depth_--;
    }
    void visit(const Load *op) override {
        if (op->name == name_) {
            found = true;
            in_loop |= depth_ > 0;
        }
        IRVisitor::visit(op);
    }
};

// How many of a copy's rows a step of the sum's loop has, which may be unrolled; 0: another loop.
int rows_of_step(const Loop &copy, const Loop &sum) {
    if (!copy.starts_at_zero || !sum.starts_at_zero) return 0;
    if (equal(copy.extent, sum.extent)) return 1;
    const Div *divided = sum.extent.as<Div>();
    const auto rows = divided ? as_const_int(divided->b) : std::nullopt;
    return rows && *rows > 0 && equal(copy.extent, divided->a) ? static_cast<int>(*rows) : 0;
}

// What a copy reads for a step of the sum whose loops are given. The copy's loops are those of the
// sum that are as long; one that the sum does not have, of vectors of a row, is unrolled.
std::optional<std::vector<Expr>> as_of_sum(const Copy &copy, std::vector<Loop> of_sum) {
    std::vector<Expr> offsets = copy.offsets;
    const int vectors_of_line = std::max(kLine / (copy.type.bytes() * copy.type.lanes()), 1);
    for (const Loop &loop : copy.loops) {
        const auto same = std::ranges::find_if(
            of_sum, [&](const Loop &other) { return rows_of_step(loop, other) > 0; });
        const bool is_vectors = same == of_sum.end();
        const auto steps = as_const_int(loop.extent);
        if (is_vectors && (!steps || !loop.starts_at_zero)) return {};
        const int rows = is_vectors ? static_cast<int>(*steps) : rows_of_step(loop, *same);
        const Expr first = is_vectors ? Expr(0) : Variable::make(Int(32), same->name) * rows;
        std::vector<Expr> unrolled;
        for (const Expr &offset : offsets)
            for (int row = 0; row < rows && unrolled.size() <= kReads;
                 row += is_vectors ? vectors_of_line : 1)
                unrolled.push_back(substitute(loop.name, first + row, offset));
        if (!is_vectors) of_sum.erase(same);
        offsets = std::move(unrolled);
    }
    if (offsets.size() > kReads) return {};
    return offsets;
}

class NextPass : public IRMutator {
    using IRMutator::visit;

    // A let, or where there is no value a loop.
    struct Scope {
        std::string name;
        Expr value;
    };
    struct Used {
        std::string name;
        Copy copy;
        std::vector<Loop> tiles = {}, sum = {};
        bool in_sum = false;
    };

    std::vector<Scope> scopes_;
    std::map<std::string, Copy> copies_;  // by the names of what they make
    std::optional<Used> used_;

    Stmt visit(const LetStmt *op) override {
        scopes_.push_back({op->name, op->value});
        Stmt result = IRMutator::visit(op);
        scopes_.pop_back();
        return result;
    }

    Stmt visit(const For *op) override {
        scopes_.push_back({op->name, {}});
        std::vector<Loop> *loops = !used_ ? nullptr : used_->in_sum ? &used_->sum : &used_->tiles;
        if (loops)
            loops->push_back(
                {op->name, with_values(op->extent, lets_around()), is_const_zero(op->min)});
        Stmt result = loops && used_->in_sum ? in_sum(op) : IRMutator::visit(op);
        if (loops) loops->pop_back();
        scopes_.pop_back();
        return result;
    }

    Stmt visit(const ProducerConsumer *op) override {
        if (used_) {
            const bool around = std::exchange(used_->in_sum, op->is_producer);
            Stmt result = IRMutator::visit(op);
            used_->in_sum = around;
            return result;
        }
        if (op->is_producer) {
            if (const auto copy = copy_of(op)) copies_[op->name] = *copy;
            return IRMutator::visit(op);
        }
        const auto copy = copies_.find(op->name);
        if (copy == copies_.end()) return IRMutator::visit(op);
        used_ = Used{op->name, copy->second};
        Stmt result = IRMutator::visit(op);
        used_.reset();
        return result;
    }

    Lets lets_around() const {
        Lets lets;
        for (const Scope &scope : scopes_)
            if (scope.value.defined()) lets[scope.name] = scope.value;
        return lets;
    }

    std::optional<Copy> copy_of(const ProducerConsumer *op) const {
        Prefetched prefetched;
        op->body.accept(&prefetched);
        size_t inside = scopes_.size();
        while (inside > 0 && scopes_[inside - 1].value.defined()) inside--;
        if (prefetched.operand.empty() || inside == 0) return {};
        Copy copy;
        copy.operand = prefetched.operand;
        copy.pass = scopes_[inside - 1].name;
        Lets lets;
        for (; inside < scopes_.size(); inside++)
            lets[scopes_[inside].name] = scopes_[inside].value;
        Reads reads(copy, lets);
        op->body.accept(&reads);
        for (Loop &loop : copy.loops) loop.extent = with_values(loop.extent, lets_around());
        if (!reads.are_understood() || !expr_uses_var(copy.offsets[0], copy.pass)) return {};
        return copy;
    }

    // The innermost loop of a sum gets the prefetches.
    Stmt in_sum(const For *op) {
        Uses uses(used_->name);
        op->body.accept(&uses);
        const auto offsets = uses.found && !uses.in_loop ? as_of_sum(used_->copy, used_->sum)
                                                         : std::optional<std::vector<Expr>>();
        if (!offsets) return IRMutator::visit(op);
        const Expr next = Variable::make(Int(32), used_->copy.pass) + 1;
        std::vector<Stmt> all;
        for (const Expr &offset : *offsets)
            all.push_back(Evaluate::make(
                Call::make(used_->copy.type.element_of(), Call::prefetch,
                           {Variable::make(Handle(), used_->copy.operand),
                            simplify(substitute(used_->copy.pass, next, offset)), 1, 1},
                           Call::Intrinsic)));
        Expr tile = 0;
        for (const Loop &loop : used_->tiles) tile = tile + Variable::make(Int(32), loop.name);
        const Expr row = Variable::make(Int(32), op->name);
        const Expr turn = simplify((row - tile) & (kTurns - 1));
        Stmt prefetch = Block::make(all);
        if (!used_->tiles.empty()) prefetch = IfThenElse::make(turn == 0, prefetch);
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy,
                         op->device_api, Block::make(prefetch, op->body));
    }
};

}  // namespace

Stmt prefetch_next_pass(const Stmt &stmt) { return NextPass().mutate(stmt); }

}  // namespace hk::compiler
