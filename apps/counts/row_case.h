#pragma once
// A problem for each row of the table, on which its counts are stated.

#include <functional>
#include <string>
#include <vector>

#include "family.h"

namespace hk::counts {

struct RowCase {
    const KernelInfo *row;
    std::string family, name;  // of bench's, and of the case in its lists
    bench::CaseInfo info;
    std::vector<bench::CaseInfo> others = {};  // that it takes, the next best first
};

// Of each kernel of the device that bench's families have and whose name has `filter` in it, one
// case of their lists that it takes: of those that selection gives to it on a device with the usual
// limits, or where there are none, in whose ladder of fallbacks it stands highest, those of few
// channels a group and of more than 100 million operations or bytes last, that whose work, as the
// family counts it, is nearest to 2 million. Types, layouts and families in bench's order; the
// first that has the kernel.
std::vector<RowCase> row_cases(Device device, std::string_view filter);

// The same for all kernels of the families whose calls run others with `filter` in their names
// beside.
std::vector<RowCase> row_cases_beside(Device device, std::string_view filter);

// For a filter with which there is nothing: throws InvalidArgument, which says so.
[[noreturn]] void refuse_filter(const std::string &filter);

// The first of its cases whose call runs the row, of which `runs` is asked. Throws Error where
// there is none.
const bench::CaseInfo &first_that_runs(const RowCase &one,
                                       const std::function<bool(const bench::CaseInfo &)> &runs);

// How far from those 2 million, as a ratio.
double distance_of(double work);

// Of a CUDA kernel a case of the lists of its family, or sizes such as "input=1x56x56x64,…". Throws
// InvalidArgument where there is none.
RowCase named_case(const KernelInfo &row, const std::string &name);

}  // namespace hk::counts
