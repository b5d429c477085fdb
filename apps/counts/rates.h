#pragma once
// How fast the device in software executes rows of the table.

#include <string>

#include "software_device.h"

namespace hk::counts {

// Prints of each CUDA row with `filter` in its name, on the first of its cases that runs it
// (row_case.h), thread instructions a nanosecond that one core of the host executes, by what is
// checked. Empty: of a convolution, a top-k and a row on tensor cores. Throws InvalidArgument where
// there is no such row.
void print_rates(const std::string &filter);

}  // namespace hk::counts
