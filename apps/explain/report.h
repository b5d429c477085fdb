#pragma once
// What a verb found, for people and for programs.

#include <nlohmann/json_fwd.hpp>

#include "verb.h"

namespace hk::explain {

struct Rejected {
    std::string row, reason;
};

struct Choice {
    Target target;
    const KernelInfo *kernel = nullptr;  // null: no row takes the problem
    std::vector<Rung> ladder;            // GPU: every row whose conditions hold; one is `kernel`
    std::vector<Launch> launches;        // empty: not known
    std::vector<Rejected> rejected;      // every other row of this type and layout
};

// The choice on every target that the family has kernels for.
std::vector<Choice> choices_of(const Verb &verb);

void print(const Verb &verb, const std::vector<Choice> &choices);
nlohmann::json to_json(const std::vector<Choice> &choices);

}  // namespace hk::explain
