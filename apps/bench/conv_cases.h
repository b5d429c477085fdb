#pragma once
// What families of convolutions share in the benchmark: the lists of shapes, rows asked for by
// name, and one case for each row of the table.

#include "family.h"
#include "shapes.h"

namespace hk::bench {

// A family's side of it, for given settings.
struct ConvKernels {
    const char *pass;                        // of the shapes that it runs: "fwd", …
    std::string (*kind)(const ConvShape &);  // as CaseInfo's
    std::vector<const KernelInfo *> rows;    // of the settings' types, layout and device
    std::function<const KernelInfo *(const ConvShape &)> select;  // null: no row takes the shape
    // A case, given what selection takes.
    std::function<std::unique_ptr<Case>(const ConvShape &, const KernelInfo *, const Settings &)>
        prepare;
};

// The lists of convolutions, and "table": for each row the first shape of the lists that selection
// gives to it; rows that none of them reaches have no case. Throws InvalidArgument for a list
// that is not there.
std::vector<CaseInfo> conv_cases(const ConvKernels &kernels, const std::string &list,
                                 const Settings &settings);

// Operations, held against the peak of the settings' type.
Unit arithmetic(const Settings &settings);

// "depthwise", "grouped", "dense 1x1", "dense, larger".
std::string kind_of(const ConvShape &shape);

// Names of the lists, "table" among them.
std::vector<std::string> conv_case_lists();

}  // namespace hk::bench
