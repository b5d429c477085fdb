// explorer sweep as a person runs it: a real sweep that is killed and goes on, and bad input.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "record.h"
#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::explorer {

namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::run_program;

const std::string explorer = std::string("'") + HK_EXPLORER + "' ";

std::string text_of(const fs::path &file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(SweepProgram, GoesOnAfterItWasKilled) {
    const std::string folder = test::own_file("killed");
    const std::string command = explorer +
                                "sweep conv2d input=1x8x8x16,weight=16x3x3x16,padding=1 " +
                                "--schedule packed/broadcast --budget 5 --output '" + folder + "'";
    const auto count = [&] {
        const fs::path file = fs::path(folder) / "results.csv";
        size_t measured = 0;
        if (fs::exists(file))
            for (const Record &record : read_records(file)) measured += record.ok();
        return measured;
    };
    const pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        execl("/bin/sh", "sh", "-c", (command + " 2>/dev/null >&2").c_str(), nullptr);
        _exit(127);
    }
    const auto start = std::chrono::steady_clock::now();
    while (count() < 2 && std::chrono::steady_clock::now() - start < std::chrono::minutes(3))
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(-child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string before = text_of(fs::path(folder) / "results.csv");
    ASSERT_GE(count(), 2u);
    const double spent = read_records(fs::path(folder) / "results.csv").back().at;
    std::ofstream(fs::path(folder) / "results.csv", std::ios::app) << "56x56,\"packed/broadcast ti";
    // Seconds more than what is spent: time for a candidate or two.
    std::string shorter = command;
    shorter.replace(shorter.find("--budget 5"), 10,
                    "--budget " + std::to_string((spent + 25) / 60));
    const Outcome outcome = run_program(shorter);
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("table "), std::string::npos) << outcome.output;
    const std::string after = text_of(fs::path(folder) / "results.csv");
    EXPECT_EQ(after.substr(0, before.size()), before);
    std::set<std::string> names;
    for (const Record &record : read_records(fs::path(folder) / "results.csv"))
        EXPECT_TRUE(names.insert(record.candidate).second) << record.candidate << " twice";
    const auto state = read_json(fs::path(folder) / "sweep.json");
    EXPECT_EQ(state["family"], "conv2d");
    EXPECT_GT(state["ceilings"]["peak"].get<double>(), 1);
    EXPECT_GT(state["ceilings"]["memory"].get<double>(), 0.1);
    EXPECT_EQ(state["cases"][0]["bytes"], 4 * (8 * 8 * 16 * 2 + 16 * 16 * 9));
    EXPECT_NE(state["cases"][0]["bases"][0]["chooser"].get<std::string>().find(
                  "schedules/conv2d/cpu/broadcast.cpp:"),
              std::string::npos);
}

void expect_refused(const std::string &arguments, const std::string &allowed) {
    const Outcome outcome = run_program(explorer + "sweep " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << ": " << outcome.output;
    EXPECT_NE(outcome.output.find(allowed), std::string::npos) << outcome.output;
}

TEST(SweepProgram, BadInputNamesWhatIsAllowed) {
    expect_refused("conv3d 56x56", "there are: conv2d conv2d_backward_data");
    expect_refused("conv2d 57x57", "give a name of its lists");
    expect_refused("conv2d 56x56_64-64_3x3 --strategy anneal", "grid");
    expect_refused("conv2d 56x56_64-64_3x3 --target tpu", "tpu");
    expect_refused("conv2d 56x56_64-64_3x3 --part 5/4", "allowed: 1/N to N/N");
    expect_refused("conv2d 56x56_64-64_3x3 --part x", "allowed: 1/N to N/N");
    expect_refused("conv2d 56x56_64-64_3x3 --budget 0", "--budget");
    const std::string folder = test::own_file("bad");
    expect_refused("conv2d 56x56_64-64_3x3 --schedule winograd --output '" + folder + "'",
                   "packed/broadcast");
    expect_refused("conv2d 56x56_64-64_3x3 --output /dev/null/x", "--output is /dev/null/x");
}

}  // namespace

}  // namespace hk::explorer
