#pragma once
// What was found of a problem, for people and for programs.

#include <nlohmann/json_fwd.hpp>

#include "counts.h"
#include "launches.h"
#include "problem.h"

namespace hk::explain {

using bench::Problem;

// A device to choose for: one that is here, or the usual limits of one that is not.
struct Target {
    DeviceType type = DeviceType::cpu;
    DeviceLimits limits;
    std::string description;
};

struct Rejected {
    std::string row, reason;
};

// Where a row stands in the table's order, with what it asks of sizes.
struct Region {
    std::string row, conditions;  // "k at most 16, columns at least 4096"; "all others"
};

struct Choice {
    Target target;
    std::optional<bench::Arithmetic> arithmetic;  // of the problem
    const KernelInfo *kernel = nullptr;           // null: no row takes the problem
    std::vector<Rung> ladder;      // GPU: every row whose conditions hold; one is `kernel`
    std::vector<Launch> launches;  // empty: not known
    std::optional<counts::CallCounts> counts;  // of `kernel`, on CUDA where they were asked for
    std::vector<Rejected> rejected;            // every other row of this type and layout
    std::vector<Region> regions;               // the first that holds takes a problem
};

// The choice on every target that the family has kernels for, of a problem that is prepared.
// `count`: CUDA is the device in software, on which its row is run and counted.
std::vector<Choice> choices_of(Problem &problem, bool count);

// `words`: of the problem.
void print(const std::string &words, const std::vector<Choice> &choices);
nlohmann::json to_json(const std::vector<Choice> &choices);

}  // namespace hk::explain
