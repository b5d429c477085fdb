#pragma once
// The source of a bundle's program that is written for it: the tables that its library sees, and
// the candidates of its cases.

#include "bases.h"
#include "sweep_case.h"

namespace hk::explorer {

struct BundleItem {
    Candidate candidate;
    std::string function;             // its name in the program
    const KernelInfo *row = nullptr;  // of the table that selection sees; null: a candidate alone
    CallArguments sizes;              // for an autoscheduler
    bool compiled = false;
    KernelResources resources = {};
    std::vector<compiler::FunctionArgument> arguments = {};
};

struct BundleCase {
    std::string list, name;
    std::vector<size_t> items;
};

// Only what is compiled is in it.
std::string bundle_source(const Subject &subject, const SweepOptions &options,
                          const std::vector<BundleItem> &items,
                          const std::vector<BundleCase> &cases);

}  // namespace hk::explorer
