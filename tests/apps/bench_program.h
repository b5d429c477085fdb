#pragma once
// The program bench, as its tests run it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace hk::bench {

using nlohmann::json;
using test::Outcome;
using test::run_program;

inline const std::string bench = std::string("'") + HK_BENCH + "' ";

inline std::string temporary(const std::string &name) {
    return testing::TempDir() + "hk_bench_test_" + std::to_string(getpid()) + "_" + name;
}

inline std::string read(const std::string &path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline json smoke(const std::string &flags) {
    const std::string path = temporary("smoke.json");
    const Outcome outcome =
        run_program(bench + "--list smoke --seconds 0.01 --json '" + path + "' " + flags);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    json result = json::parse(read(path), nullptr, false);
    std::remove(path.c_str());
    return result;
}

}  // namespace hk::bench
