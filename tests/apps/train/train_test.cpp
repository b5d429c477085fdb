// The programs as a person runs them.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/pictures/image.h"
#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::train {
namespace {

class Train : public testing::Test {
protected:
    test::Outcome run(const std::string &program, const std::string &arguments,
                      const std::string &before = "") const {
        return test::run_program("cd '" + here_.string() + "' && " + before + " " + program + " " +
                                 arguments);
    }

    nlohmann::json history(const std::string &name) const {
        std::ifstream file(here_ / name);
        return nlohmann::json::parse(file);
    }

    const std::filesystem::path here_ = test::own_folder();
};

bool has(const test::Outcome &outcome, const std::string &part) {
    return outcome.output.find(part) != std::string::npos;
}

TEST_F(Train, WritesItsHistoryAndDrawsIt) {
    const auto outcome = run(HK_TRAIN, "--epochs 2 --batch 64 --output curves.png");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(has(outcome, "1442 digits to train on, 355 to test on")) << outcome.output;
    EXPECT_TRUE(has(outcome, "groups 4")) << outcome.output;
    EXPECT_FALSE(has(outcome, "\r")) << "a progress bar where there is no terminal";
    const auto run = history("curves.png.json");
    EXPECT_EQ(run["epochs"].size(), 2u);
    EXPECT_EQ(run["steps"].size(), 46u);
    EXPECT_TRUE(has(outcome, run["fingerprint"])) << outcome.output;
    for (const auto &epoch : run["epochs"]) {
        EXPECT_GE(epoch["test"]["top3"], epoch["test"]["top1"]);
        EXPECT_GE(epoch["memory"]["reserved"], epoch["memory"]["live"]);
        EXPECT_GT(epoch["memory"]["peak"], epoch["memory"]["live"]);
        EXPECT_GT(epoch["memory"]["resident"], 0);
    }
    const auto picture = pictures::read_image((here_ / "curves.png").string());
    EXPECT_GT(picture.width, 800);
}

TEST_F(Train, HasTheSameHistoryAgain) {
    for (const char *name : {"a.json", "b.json"}) {
        const auto outcome = run(HK_TRAIN, std::string("--steps 20 --seed 7 --history ") + name,
                                 std::string("HL_NUM_THREADS=") + (name[0] == 'a' ? "1" : "2"));
        ASSERT_EQ(outcome.status, 0) << outcome.output;
    }
    const auto a = history("a.json"), b = history("b.json");
    EXPECT_EQ(a["fingerprint"], b["fingerprint"]);
    for (size_t i = 0; i < 20; i++) EXPECT_EQ(a["steps"][i]["loss"], b["steps"][i]["loss"]);
    EXPECT_EQ(a["epochs"][0]["test"], b["epochs"][0]["test"]);
}

TEST_F(Train, TellsWhatIsWrong) {
    auto outcome = run(HK_TRAIN, "--data nowhere.csv");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(has(outcome, "train: nowhere.csv: No such file")) << outcome.output;
    outcome = run(HK_TRAIN, "--data .");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(has(outcome, "train: .: Is a directory")) << outcome.output;
    outcome = run(HK_TRAIN, "--device gpu");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_TRUE(has(outcome, "train: ")) << outcome.output;
    outcome = run(HK_TRAIN, "--steps 1 --history nowhere/run.json");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(has(outcome, "nowhere/run.json: No such file")) << outcome.output;
    EXPECT_NE(run(HK_TRAIN, "--batch 0").status, 0);
}

// How much is for a quiet machine: train --pool-gain 5 --epochs 6.
TEST_F(Train, TellsWhatThePoolGains) {
    const auto outcome = run(HK_TRAIN, "--pool-gain 1 --epochs 2");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(has(outcome, "times as fast")) << outcome.output;
}

TEST_F(Train, SoaksFlat) {
    const auto outcome =
        run(HK_SOAK, "--steps 300 --batch 16",
            "ASAN_OPTIONS=quarantine_size_mb=1:thread_local_quarantine_size_kb=64");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(has(outcome, "grown at most by 0 bytes in use, 0 blocks, 0 bytes reserved"))
        << outcome.output;
}

// Open MPI wants to be asked before it runs as root.
const char *const kMpi =
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
    "ASAN_OPTIONS=detect_leaks=0 " HK_MPIEXEC " --oversubscribe";

TEST_F(Train, TogetherIsTrainingAlone) {
    for (const char *ranks : {"-n 2 ", "-n 3 "}) {
        const auto outcome = run(HK_RANKS_CHECK, "", std::string(kMpi) + " " + ranks);
        EXPECT_EQ(outcome.status, 0) << outcome.output;
    }
}

TEST_F(Train, OfRanksOneTells) {
    const std::string mpi = std::string(kMpi) + " -n 2";
    const auto first = run(HK_TRAIN, "--steps 8 --history a.json", mpi);
    ASSERT_EQ(first.status, 0) << first.output;
    EXPECT_TRUE(has(first, "2 ranks")) << first.output;
    EXPECT_EQ(first.output.find("8 steps"), first.output.rfind("8 steps")) << first.output;
    const auto again = run(HK_TRAIN, "--steps 8 --history b.json", mpi);
    ASSERT_EQ(again.status, 0) << again.output;
    EXPECT_EQ(history("a.json")["fingerprint"], history("b.json")["fingerprint"]);
    const auto wrong = run(HK_TRAIN, "--data nowhere.csv", mpi);
    EXPECT_NE(wrong.status, 0);
    EXPECT_TRUE(has(wrong, "nowhere.csv: No such file")) << wrong.output;
}

}  // namespace
}  // namespace hk::train
