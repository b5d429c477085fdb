// explorer run as a person runs it: one candidate beside the table's row, many cases, other
// targets, Halide's autoschedulers, and bad input.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <regex>

#include "tests/apps/program.h"

namespace hk::explorer {

namespace {

using test::Outcome;
using test::run_program;

constexpr const char *kSmall = "input=1x14x14x24,weight=20x3x3x24,padding=1";

Outcome run(const std::string &arguments) {
    return run_program(std::string("'") + HK_EXPLORER + "' run " + arguments + " 2>&1");
}

double ratio_of(const Outcome &outcome) {
    std::smatch found;
    if (!std::regex_search(outcome.output, found, std::regex("ratio ([0-9.]+)"))) return 0;
    return std::stod(found[1]);
}

// The bound is 15 s on two cores that do nothing else.
TEST(RunProgram, AnswersWithBothTimesAndTheirRatio) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome =
        run(std::string("conv2d ") + kSmall + " --knobs tile_x:4 --seconds 0.1");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("table "), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("candidate "), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("vector registers: "), std::string::npos) << outcome.output;
    EXPECT_GT(ratio_of(outcome), 0.05) << outcome.output;
    EXPECT_LT(took.count(), 60);
}

// The same code on the same runtime: threads, memory and caches are those of the table's rows.
TEST(RunProgram, TheRowItselfTakesAsLongAsTheRow) {
    double best = 1e9;
    for (int i = 0; i < 8 && best > 0.15; i++) {
        const Outcome outcome = run(std::string("conv2d ") + kSmall + " --seconds 0.3");
        ASSERT_EQ(outcome.status, 0) << outcome.output;
        best = std::min(best, std::abs(std::log(ratio_of(outcome))));
    }
    EXPECT_LT(best, 0.15);
}

TEST(RunProgram, TakesManyCasesAndNamesThoseThatAreNotTaken) {
    const Outcome outcome = run(std::string("conv2d ") + kSmall +
                                " input=1x5x5x16,weight=16x1x1x16 --row 1x1 --seconds 0.05");
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("kernel_w is 3, the row needs 1"), std::string::npos)
        << outcome.output;
    EXPECT_NE(outcome.output.find("1 of 2 cases, geometric mean"), std::string::npos)
        << outcome.output;
}

TEST(RunProgram, CompilesWhatHalideSchedules) {
    const Outcome outcome = run(
        "pool2d pooling=max,input=1x9x9x16,kernel=2,stride=2,padding=0 --schedule Mullapudi2016 "
        "--seconds 0.05");
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("max/Mullapudi2016"), std::string::npos) << outcome.output;
}

TEST(RunProgram, RunsOnOpenCL) {
    const Outcome outcome =
        run(std::string("conv2d ") + kSmall + " --target opencl:0 --knobs tile_c:4 --seconds 0.05");
    if (outcome.output.find("there is no device") != std::string::npos)
        GTEST_SKIP() << outcome.output;
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("sliced/staged"), std::string::npos) << outcome.output;
}

TEST(RunProgram, SaysInALineWhatIsAllowed) {
    const std::string conv = std::string("conv2d ") + kSmall;
    for (const auto &[arguments, allowed] :
         {std::pair<std::string, std::string>{conv + " --knobs tile:4",
                                              "only lanes, block, tile_x"},
          {conv + " --knobs tile_x:9", "allowed: 1, 2, 3"},
          {conv + " --knobs tile_x", "expected name:number"},
          {conv + " --schedule fast", "there are: "},
          {conv + " --row fast", "no row \"fast\""},
          {"conv2d 1x2x3", "a list ("},
          {"conv3d " + std::string(kSmall), "there are: conv2d"},
          {conv + " --target cuda:7", "no device"},
          {conv + " --type f64", "there are: f32"}}) {
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.status, 2) << arguments << '\n' << outcome.output;
        EXPECT_NE(outcome.output.find(allowed), std::string::npos) << arguments << '\n'
                                                                   << outcome.output;
        EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1)
            << arguments << '\n'
            << outcome.output;
    }
}

}  // namespace

}  // namespace hk::explorer
