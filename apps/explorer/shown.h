#pragma once
// What a page shows of a kernel: what its generator makes of it, and what the table and the
// schedule say.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "candidate.h"
#include "schedules/schedule.h"

namespace hk::explorer {

class Shown {
public:
    // `knobs`: instead of the row's. Throws InvalidArgument where they are not legal.
    Shown(const KernelInfo &row, const std::string &knobs);

    // Runs the generator; its files are in `folder`. `pages`: with Halide's HTML.
    void compile(const std::filesystem::path &folder, bool pages);

    // Runs a CUDA kernel on the device in software. `name`: the case; empty: that on which the
    // row's own counts are stated. Throws InvalidArgument, of other kernels too.
    void count(const std::string &name);

    // For page.py: names, conditions, parameters, command, knobs, estimates, resources, budget,
    // contract, counts, and the paths of files.
    nlohmann::json facts() const;

private:
    nlohmann::json knob_facts() const;

    const KernelInfo &row_;
    Candidate candidate_;
    schedules::KnobSpace space_;
    std::vector<std::string> command_;
    nlohmann::json files_;
    nlohmann::json resources_;
    nlohmann::json counts_;  // null: not asked for
};

}  // namespace hk::explorer
