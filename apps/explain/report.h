#pragma once
// What a verb found, for people and for programs.

#include <nlohmann/json_fwd.hpp>

#include "verb.h"

namespace hk::explain {

struct Rejected {
    std::string row, reason;
};

// Where a row stands in the table's order, with what it asks of sizes.
struct Region {
    std::string row, conditions;  // "k at most 16, columns at least 4096"; "all others"
};

struct Choice {
    Target target;
    std::optional<Arithmetic> arithmetic;  // of the problem
    const KernelInfo *kernel = nullptr;    // null: no row takes the problem
    std::vector<Rung> ladder;              // GPU: every row whose conditions hold; one is `kernel`
    std::vector<Launch> launches;          // empty: not known
    std::vector<Rejected> rejected;        // every other row of this type and layout
    std::vector<Region> regions;           // the first that holds takes a problem
};

// The choice on every target that the family has kernels for.
std::vector<Choice> choices_of(const Verb &verb);

void print(const Verb &verb, const std::vector<Choice> &choices);
nlohmann::json to_json(const std::vector<Choice> &choices);

}  // namespace hk::explain
