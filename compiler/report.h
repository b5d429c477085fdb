#pragma once
// What the kernel compiler tells of a function: NAME.json.

#include <string>
#include <vector>

#include "compiler/arguments.h"
#include "compiler/resources.h"

namespace hk::compiler {

struct Report {
    std::string function;
    std::vector<Resources> kernels;  // of a GPU
    std::vector<FunctionArgument> arguments;
    double seconds = 0;  // of a core, to compile it: ptxas included, found in the cache or not
    std::string content = {};  // the same of functions that differ in their names alone
};

// {"name": …, "registers": …, …, "threads": …, "functions": [{"name": …, "registers": …, …}],
//  "arguments": [{"name": "output", "bytes": 0, "extents": [16, 0]}, …], "content": "5f0c…",
//  "seconds": 1.5}
std::string to_json(const Report &report);

}  // namespace hk::compiler
