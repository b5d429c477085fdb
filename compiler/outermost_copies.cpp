#include "compiler/outermost_copies.h"

#include <vector>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

bool has_barrier(const Stmt &stmt) {
    class Barriers : public IRVisitor {
    public:
        bool found = false;

    private:
        using IRVisitor::visit;
        void visit(const Evaluate *op) override { found |= is_barrier(op); }
    } barriers;
    stmt.accept(&barriers);
    return barriers.found;
}

}  // namespace

Stmt take_outermost_copies(Stmt &stmt) {
    const For *loop = stmt.as<For>();
    std::vector<Stmt> list, copies;
    flatten(loop->body, list);
    Stmt inside;
    for (const Stmt &one : list) {
        if (is_barrier(one)) continue;
        if (!inside.defined() && has_barrier(one))
            inside = one;
        else
            copies.push_back(unrolled(one));
    }
    if (!inside.defined() || copies.empty()) return {};
    stmt = For::make(loop->name, loop->min, loop->extent, loop->for_type, loop->partition_policy,
                     loop->device_api, inside);
    return Block::make(copies);
}

OutermostCopies::OutermostCopies(const Nest &nest, const StepNumbers &numbers, int first, int bytes)
    : nest_(nest), numbers_(numbers), first_(first), bytes_(bytes) {}

int OutermostCopies::count_of_numbers(const Nest &nest) {
    return 1 + static_cast<int>(nest.levels().size());
}

Expr OutermostCopies::write_place() const { return numbers_[write()]; }

// Of two stages the one that is written next, once the other's copies have begun.
Expr OutermostCopies::read_place() const { return numbers_[write()]; }

Stmt OutermostCopies::start(const Stmt &copies, const Expr &steps) const {
    std::vector<Stmt> all = {numbers_.set(next(), nest_.levels()[0].min), numbers_.set(write(), 0)};
    for (int i = 1; i < loops(); i++) all.push_back(numbers_.set(inside(i), nest_.levels()[i].min));
    all.push_back(IfThenElse::make(steps > 0, begun_next(copies)));
    return Block::make(all);
}

Stmt OutermostCopies::step(const Stmt &copies, const Stmt &begin, const Stmt &sum) const {
    Expr is_first = const_true();
    std::vector<std::string> names;
    std::vector<Stmt> sets;
    for (int i = 1; i < loops(); i++) {
        is_first = is_first && numbers_[inside(i)] == nest_.levels()[i].min;
        names.push_back(unique_name("next"));
        sets.push_back(numbers_.set(inside(i), Variable::make(Int(32), names.back())));
    }
    // The step whose copies begin is the next one.
    Stmt rest = Block::make({begin, nest_.at(values(), sum), Block::make(sets)});
    for (int i = 1; i < loops(); i++) rest = LetStmt::make(names[i - 1], numbers_[i], rest);
    return Block::make(IfThenElse::make(simplify(is_first), begun_next(copies)), rest);
}

// The outermost loop's is not known: a sum has no use for it (Nest::changes_with_outermost).
std::vector<Expr> OutermostCopies::values() const {
    std::vector<Expr> all = {nest_.levels()[0].min};
    for (int i = 1; i < loops(); i++) all.push_back(numbers_[inside(i)]);
    return all;
}

Stmt OutermostCopies::begun_next(const Stmt &copies) const {
    const Nest::Level &outermost = nest_.levels()[0];
    const Expr value = numbers_[next()];
    Stmt all = copies;
    for (auto let = outermost.lets.rbegin(); let != outermost.lets.rend(); let++)
        all = LetStmt::make(let->first, let->second, all);
    all = LetStmt::make(outermost.name, value, all);
    const Expr place = numbers_[write()];
    return Block::make({IfThenElse::make(value < outermost.min + outermost.extent, all),
                        numbers_.set(next(), value + 1),
                        numbers_.set(write(), select(place == 0, bytes_, 0))});
}

}  // namespace hk::compiler
