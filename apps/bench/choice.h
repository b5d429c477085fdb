#pragma once
// From what a user names, on a command line, to a family and the settings of its cases.

#include "family.h"

namespace hk::bench {

struct Choice {
    std::string family;             // empty: the first that has the type
    std::string type, output_type;  // empty: the family's first
    std::string layout;             // the same
    std::string device = "cpu";
};

// Reads the choice into `settings`: type, output_type, layout and device. Throws InvalidArgument,
// with the names that there are.
Family choose(const Choice &choice, Settings &settings);

// Threads of the CPU's kernels. A single one stays on one core; several are placed where a case is
// measured (cores.h). Returns whether it could be pinned.
bool use_threads(const Settings &settings);

}  // namespace hk::bench
