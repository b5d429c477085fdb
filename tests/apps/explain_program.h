#pragma once
// The program explain, as its tests run it.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "hk/conv2d.h"
#include "tests/apps/program.h"

namespace hk::test {

using nlohmann::json;

inline const std::string explain = std::string("'") + HK_EXPLAIN + "' ";

inline json explain_json(const std::string &arguments) {
    const Outcome outcome = run_program(explain + arguments + " --json", false);
    EXPECT_EQ(outcome.status, 0) << explain << arguments << '\n' << outcome.output;
    return json::parse(outcome.output, nullptr, false);
}

inline std::set<std::string> built_targets() {
    std::set<std::string> result;
    for (const KernelInfo &kernel : conv2d_kernels()) result.emplace(name_of(kernel.device));
    return result;
}

}  // namespace hk::test
