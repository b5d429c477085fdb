#pragma once
// What a sweep of one case searches: the table's ways to run it, and Halide's autoschedulers.

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "evaluate.h"
#include "search.h"

namespace hk::explorer {

// A row of the table, or several that differ in their knobs alone.
struct BaseOfCase {
    Base base;
    Candidate candidate;  // without knobs
    std::string chooser;  // "schedules/conv2d/cpu/broadcast.cpp:25", where knobs are taken
    std::string rows;     // "3x3, staged"
    std::string refused;  // why the case is not for it; empty: it is
};

struct CaseSpace {
    std::vector<BaseOfCase> bases;
    const KernelInfo *row = nullptr;         // that selection takes
    std::vector<const KernelInfo *> taking;  // all rows that take the case
    CallArguments sizes;                     // for autoschedulers, where it's measured elsewhere
    double work = 0;
    nlohmann::json shapes;
    double bytes = 0;  // of all tensors, once
};

// `schedules`: names to keep, ALGORITHM/SCHEDULE or SCHEDULE or an autoscheduler; empty: all but
// root. Throws InvalidArgument with the names that there are. Not called in a child.
CaseSpace space_of(Prepared &prepared, const std::vector<std::string> &schedules,
                   const Cores &cores, const Limits &limits);

// Its knobs go together, and what it says of registers and memory stays below `excess` times what
// there is.
bool is_legal(Candidate candidate, const std::string &knobs, double excess);

// For the report and for the line that goes into the table.
nlohmann::json to_json(const CaseSpace &space, const std::string &name);
// The knobs of `full` without which the chooser would choose others.
std::string needed_knobs(Candidate candidate, const std::string &full);

}  // namespace hk::explorer
