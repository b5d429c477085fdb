#pragma once
// What schedules of families that work element by element are given.

#include "schedules/schedule.h"

namespace hk::schedules {

struct ElementwiseContext : Context {
    bool packed;                          // whether all elements lie along x
    Halide::Expr length, runs, elements;  // along x, along y, and of all
    std::vector<Halide::Expr> cases;      // that the rest of the algorithm is not looked at in
};

}  // namespace hk::schedules
