#pragma once
// The conv2d generator compiled in this process, for this CPU.

#include <map>
#include <string>
#include <vector>

#include "Halide.h"
#include "tests/support/conv2d_check.h"

namespace hk::test {

// An algorithm of generators/conv2d.h and the problems that it takes.
struct JitAlgorithm {
    std::string name;
    std::map<std::string, std::string> parameters;  // of the generator
    std::vector<Constraint> where;
};

// All algorithms, and some with sizes that the compiler knows.
std::vector<JitAlgorithm> jit_algorithms();

// The algorithm of a row of the table, with the sizes that the row fixes.
JitAlgorithm jit_algorithm(const KernelInfo &row);

class JitConv2d {
public:
    JitConv2d(const JitAlgorithm &algorithm, const std::string &schedule, const std::string &knobs,
              DataType type, Layout layout);

    // A packed output on the host; what the kernel did not write is poison.
    Tensor operator()(const Conv2dCase &c, const Conv2dOperands &operands) const;

private:
    Halide::Callable function_;
};

// `count` problems that the algorithm takes.
std::vector<Conv2dCase> jit_cases(const JitAlgorithm &algorithm, DataType type, Layout layout,
                                  Data data, int count);

}  // namespace hk::test
