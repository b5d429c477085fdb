#pragma once
// Of a nest of loops in stages (compiler/async_copies.h): what the outermost loop copies for all
// steps of those inside. It has two stages. One is read while the next is on its way, from the
// first step of the loops inside on: copies have all of their steps' time.

#include "Halide.h"
#include "compiler/loop_nest.h"
#include "compiler/step_numbers.h"

namespace hk::compiler {

// What a loop copies before one that is inside; undefined: nothing. `loop` is left without.
Halide::Internal::Stmt take_outermost_copies(Halide::Internal::Stmt &loop);

class OutermostCopies {
public:
    static constexpr int kStages = 2;

    // Its numbers are those from `first` on, those before begin with the values of the loops whose
    // copies begin next, one step ahead. A stage has so many bytes.
    OutermostCopies(const Nest &nest, const StepNumbers &numbers, int first, int bytes);
    static int count_of_numbers(const Nest &nest);

    // Places of the stage that is written next, and of the one that a step's sum reads.
    Halide::Expr write_place() const;
    Halide::Expr read_place() const;

    // Before all steps, of which there are so many: the first copies.
    Halide::Internal::Stmt start(const Halide::Internal::Stmt &copies,
                                 const Halide::Expr &steps) const;
    // A step: with the first of those inside `copies`, of the outermost loop's next one; then what
    // each step has, `begin`, and its sum, which uses the values of the loops inside.
    Halide::Internal::Stmt step(const Halide::Internal::Stmt &copies,
                                const Halide::Internal::Stmt &begin,
                                const Halide::Internal::Stmt &sum) const;

private:
    const Nest &nest_;
    const StepNumbers &numbers_;
    const int first_, bytes_;

    int loops() const { return static_cast<int>(nest_.levels().size()); }
    // The outermost loop's value whose copies begin next; those of the loops inside.
    int next() const { return first_; }
    int write() const { return first_ + 1; }
    int inside(int level) const { return first_ + 1 + level; }

    std::vector<Halide::Expr> values() const;
    Halide::Internal::Stmt begun_next(const Halide::Internal::Stmt &copies) const;
};

}  // namespace hk::compiler
