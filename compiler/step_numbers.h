#pragma once
// A few numbers of a thread, in registers, that change from step to step of a loop.

#include <string>

#include "Halide.h"

namespace hk::compiler {

class StepNumbers {
public:
    explicit StepNumbers(int count);

    Halide::Expr operator[](int i) const;
    Halide::Internal::Stmt set(int i, const Halide::Expr &value) const;
    // All to values that may be of the numbers before.
    Halide::Internal::Stmt set_all(const std::vector<std::pair<int, Halide::Expr>> &values) const;
    Halide::Internal::Stmt allocated_around(const Halide::Internal::Stmt &body) const;

private:
    const std::string name_;
    const int count_;
};

}  // namespace hk::compiler
