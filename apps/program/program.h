#pragma once
// The main() of a program.

#include <functional>
#include <string>

#include "flags.h"

namespace hk::program {

// Parses the flags, does `work`, and sees that all that was printed is written. The exit status:
// what `work` returns, 0 for --help; 1 where it throws or standard output can't be written; 2 for
// bad input, flags or InvalidArgument. Messages go to standard error and begin with `name`.
int run(const std::string &name, Flags &flags, int argc, char **argv,
        const std::function<int()> &work);

}  // namespace hk::program
