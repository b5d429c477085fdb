#pragma once
// Candidates for another machine, which has neither Halide nor a compiler: a program that checks
// and measures them, and the way back of its results.

#include "sweep_case.h"

namespace hk::explorer {

struct BundleOptions {
    std::filesystem::path folder;
    int candidates = 64;  // of each case
};

// DIR/measure, DIR/sweep.json and DIR/left-out.csv. The first candidates of the strategy, and the
// rows that selection may take there, ahead of time for baseline x86-64 and its usual extensions;
// GPUs' with finished device code, and no device needed here. Candidates that don't compile or are
// over their budget are left out: those go into left-out.csv, and onto stderr.
void make_bundle(const Subject &subject, const std::vector<std::string> &schedules,
                 const SweepOptions &options, const BundleOptions &bundle, nlohmann::json state);

// Merges left-out.csv and results-*.csv, of any machines and parts, into results.csv and
// sweep.json; returns both.
std::pair<nlohmann::json, std::vector<Record>> collect(const std::filesystem::path &folder);

}  // namespace hk::explorer
