#pragma once
// Random convolutions, steered by the conditions of a row of the table.

#include <optional>
#include <span>
#include <string>

#include "hk/conv2d.h"
#include "tests/support/placed.h"

namespace hk::test {

enum class Data {
    integers,  // small ones, so that every sum is exact in f32
    reals,     // in -1..1
    one_nan,   // integers, and a NaN in the input
    one_infinity,
};

struct Conv2dCase {
    uint64_t seed = 0;
    Conv2dProblem problem;
    bool bias = false, residual = false;
    Data data = Data::integers;
    Placement input = Placement::packed, weight = Placement::packed, output = Placement::packed;
};

std::string to_string(const Conv2dCase &c);

struct Conv2dRequest {
    DataType type = DataType::f32;
    Layout layout = Layout::nhwc;
    Data data = Data::integers;
    std::span<const Constraint> where;
    double operations = 1e6;  // at most, unless `where` asks for more
};

// A problem of the request; none where this seed's draws don't meet `where`.
std::optional<Conv2dCase> random_case(uint64_t seed, const Conv2dRequest &request);

}  // namespace hk::test
