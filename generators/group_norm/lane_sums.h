#pragma once
// Sums by lanes: what a schedule has as the lanes of vectors, or as threads.

#include <optional>

#include "generators/accumulated.h"
#include "generators/long_sum.h"

namespace hk::generators {

// Sums over one box, of a value or several: block_sum(lane, …) is over in_block, and of any length
// (generators/long_sum.h) running over blocks; of_lane is the values of a lane, folded those of
// `width` sets of lanes, total all.
// What is added may be held, as terms(term, lane, …), where `term` is a place in the first
// dimension. Lanes that are vectors have a second update, over `rest`: what is left over of whole
// vectors.
struct LaneSums {
    Halide::Var lane{"lane"}, term{"term"};
    Halide::RDom in_block, rest, blocks;
    Halide::Func terms, block_sum, running, of_lane, folded, total;
    bool is_long;   // else one block is all
    bool has_rest;  // of vectors
};

using Box = std::array<Halide::Expr, 3>;
using Values = std::vector<Halide::Expr>;

inline Halide::Expr everywhere(const Box &) { return Halide::cast<bool>(true); }

// A place that is in an extent. `masked`: in the index of a vector that may be; no statement with a
// promise is masked, but done lane by lane, hence a clamp.
inline Halide::Expr within(const Halide::Expr &place, const Halide::Expr &extent,
                           bool masked = false) {
    return masked ? clamp(place, 0, extent - 1)
                  : Halide::unsafe_promise_clamped(place, 0, extent - 1);
}

inline Values expressions(const std::vector<Halide::Var> &vars) {
    return {vars.begin(), vars.end()};
}

inline Halide::Expr value(const Halide::Func &of, const Values &at, int i = 0) {
    return of.outputs() == 1 ? Halide::Expr(of(at)) : Halide::Expr(of(at)[i]);
}

using Terms = std::function<Values(const Box &place, const Halide::Expr &lane)>;

// Terms after the last step that all lanes have: so many lanes have one, where a place `has` it.
// `terms` makes no promise.
struct Rest {
    Halide::Expr lanes;
    Terms terms;
    std::function<Halide::Expr(const Box &place)> has;
};

// What is added up: the `arguments` of a sum, its lanes, and of a lane `values` at all places of a
// box, which may be more than kLongestSum. place[0] is a step of all lanes, of the rest 0. `has`,
// of the rest too, is asked for places past the box's end, where there is no term.
struct LaneSumsOf {
    std::string name;
    std::vector<Halide::Var> arguments;
    int lanes, width;
    Box box;
    int values;
    bool is_long;
    Terms terms;
    std::function<Halide::Expr(const Box &place, const Halide::Expr &lane)> has;  // a term
    bool masked = false;            // arguments are vectors
    bool held = false;              // terms are a stage
    std::optional<Rest> rest = {};  // of lanes that are; `has` does not ask for the lane then
};

LaneSums lane_sums(const LaneSumsOf &sums);

}  // namespace hk::generators
