#pragma once
// The program bench, as its tests run it.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::bench {

using nlohmann::json;
using test::Outcome;
using test::own_file;
using test::run_program;

inline const std::string bench = std::string("'") + HK_BENCH + "' ";

inline std::string read(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline json smoke(const std::string &flags) {
    const std::string path = own_file("smoke.json");
    const Outcome outcome =
        run_program(bench + "--list smoke --seconds 0.01 --json '" + path + "' " + flags);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return json::parse(read(path), nullptr, false);
}

}  // namespace hk::bench
