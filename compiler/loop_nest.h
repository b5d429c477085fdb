#pragma once
// Loops of a GPU's threads around slices that are staged in shared memory, for passes that move
// copies to other steps of them.

#include <string>
#include <utility>
#include <vector>

#include "Halide.h"

namespace hk::compiler {

bool is_barrier(const Halide::Internal::Stmt &stmt);

// The statements of a block, in order, those that are produced and consumed among them.
void flatten(const Halide::Internal::Stmt &stmt, std::vector<Halide::Internal::Stmt> &list);

// With all its loops unrolled, whose lengths are known.
Halide::Internal::Stmt unrolled(const Halide::Internal::Stmt &stmt);

// Loops, the outermost first, with what is let in their bodies around the next.
class Nest {
public:
    struct Level {
        std::string name;
        Halide::Expr min, extent;
        const Halide::Internal::For *loop;
        std::vector<std::pair<std::string, Halide::Expr>> lets;
    };

    // Down to what is no loop alone.
    explicit Nest(const Halide::Internal::For *outermost);

    const std::vector<Level> &levels() const { return levels_; }
    const Halide::Internal::Stmt &body() const { return body_; }
    Halide::Internal::Stmt around(Halide::Internal::Stmt body) const;

    // The values of the step after the one of these, and whether that is the last, which the first
    // follows.
    struct Step {
        std::vector<Halide::Expr> values;
        Halide::Expr is_last;
    };
    Step after(const std::vector<Halide::Expr> &values) const;

    // The statement for the step of these values of the loops.
    Halide::Internal::Stmt at(const std::vector<Halide::Expr> &values,
                              Halide::Internal::Stmt stmt) const;
    // For the first step of all loops, where there is one.
    Halide::Internal::Stmt first(const Halide::Internal::Stmt &stmt) const;
    // For the step that follows the one of the loops, where there is one.
    Halide::Internal::Stmt next(const Halide::Internal::Stmt &stmt) const;

    // Whether a statement uses what changes from step to step.
    bool changes(const Halide::Internal::Stmt &stmt) const;
    // The same of the outermost loop alone.
    bool changes_with_outermost(const Halide::Internal::Stmt &stmt) const;

private:
    std::vector<Level> levels_;
    Halide::Internal::Stmt body_;

    // Whether a loop's steps are others for each step of those around.
    bool depends(const Halide::Internal::For *loop) const;
    void bind(Halide::Internal::Scope<> &names) const;
};

}  // namespace hk::compiler
