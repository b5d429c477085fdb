// What holds for all programs: their exit status, where messages go, and what flags take.

#include "tests/apps/program/programs.h"

namespace hk::test {
namespace {

class EachProgram : public testing::TestWithParam<Program> {};

TEST_P(EachProgram, EndsWith2ForFlagsThatItDoesNotHave) {
    const std::string command = GetParam().command + " --no-such-flag";
    const Outcome outcome = run_here(command);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    // CLI11 asks for a missing verb first.
    const bool verbs = GetParam().name == "explain" || GetParam().name == "explorer";
    const char *told = verbs ? "A subcommand is required" : "--no-such-flag";
    EXPECT_NE(outcome.output.find(told), std::string::npos) << outcome.output;
    EXPECT_EQ(run_here(command, false).output, "") << "it belongs on standard error";
}

TEST_P(EachProgram, DoesItsWork) {
    const Outcome outcome = run_here(GetParam().command + " " + GetParam().work);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST_P(EachProgram, FailsWhereWhatItPrintsIsNotWritten) {
    for (const std::string &flags : {std::string("--help"), GetParam().work}) {
        const Outcome outcome =
            run_here("{ " + GetParam().command + " " + flags + " >/dev/full; }");
        EXPECT_EQ(outcome.status, 1) << flags;
        // bench prints much: the stream's error is older than its end.
        const std::string why = GetParam().name == "bench" ? "" : "No space left";
        EXPECT_NE(outcome.output.find(GetParam().name + ": standard output: " + why),
                  std::string::npos)
            << outcome.output;
    }
}

INSTANTIATE_TEST_SUITE_P(All, EachProgram, testing::ValuesIn(programs),
                         [](const auto &info) { return info.param.name; });

struct Mistake {
    std::string name, command, told;
};

const std::string digits(309, '9');

const Mistake mistakes[] = {
    {"Voxel", "'" HK_POINTCLOUD "' --voxel nan", "\"nan\" is not a finite number above 0"},
    {"LongVoxel", "'" HK_POINTCLOUD "' --voxel " + digits, "(309 characters)"},
    {"Turn", "'" HK_POINTCLOUD "' --turn nan", "--turn: \"nan\" is not a finite number"},
    {"Tilt", "'" HK_POINTCLOUD "' --tilt inf", "--tilt: \"inf\" is not a finite number"},
    {"LearningRate", "'" HK_TRAIN "' --learning-rate nan", "--learning-rate"},
    {"Momentum", "'" HK_TRAIN "' --momentum nan", "--momentum"},
    {"WeightDecay", "'" HK_TRAIN "' --weight-decay nan", "--weight-decay"},
    {"NoFilesOfPoolGain", "'" HK_TRAIN "' --pool-gain 1 --trace out.json", "excludes"},
    {"Seconds", "'" HK_BENCH "' --seconds nan", "--seconds"},
    {"ShapeOfBench", "'" HK_BENCH "' --list input=1x8x8x" + digits, "is too large"},
    {"ColumnTwice", "'" HK_BENCH "' --list groups=8,groups=9", "column \"groups\" is there twice"},
    {"FolderAsList", "mkdir f.csv; '" HK_BENCH "' --list f.csv", "f.csv: Is a directory"},
    {"SecondsOfExplorer", "'" HK_EXPLORER "' run conv2d input=1x8x8x8,weight=4x1x1x8 --seconds nan", "--seconds"},
    {"Budget", "'" HK_EXPLORER "' sweep conv2d c=8,h=8,w=8 --budget nan", "--budget"},
    {"Knobs", "'" HK_EXPLORER "' show conv2d/3x3 --knobs tile_x:" + digits, "tile_x"},
    {"Explain", "'" HK_EXPLAIN "' topk --k 3 --input 4x" + digits, "is too large"},
    {"Device", "'" HK_FILTER "' --device toaster", "filter: device is \"toaster\""},
    {"DeviceOfTrain", "'" HK_TRAIN "' --device toaster", "train: device is \"toaster\""},
    {"Trace", "echo '{\"format\": 1" + digits + "}' > t; '" HK_REPLAY "' t", "replay: t: "}};

class Mistakes : public testing::TestWithParam<Mistake> {};

// In a line or two, which say what is wrong, and nothing of how the program is made.
TEST_P(Mistakes, AreBadInput) {
    const Outcome outcome = run_here(GetParam().command);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(GetParam().told), std::string::npos) << outcome.output;
    EXPECT_EQ(outcome.output.find("basic_"), std::string::npos) << outcome.output;
    EXPECT_LT(outcome.output.size(), 500u) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(Programs, Mistakes, testing::ValuesIn(mistakes),
                         [](const auto &info) { return info.param.name; });

TEST(BenchList, SizesNextToEachOtherAreOneCase) {
    const std::string run = "'" HK_BENCH "' --no-peers --seconds 0.01 ";
    const Outcome one = run_here(run + "--list input=1x8x8x8,weight=4x1x1x8");
    EXPECT_EQ(one.status, 0) << one.output;
    EXPECT_NE(one.output.find("8x8_8-4_1x1"), std::string::npos) << one.output;
    EXPECT_NE(one.output.find(": 1 cases"), std::string::npos) << one.output;
    const Outcome three =
        run_here(run + "--list smoke,input=1x8x8x8,weight=4x1x1x8 "
                       "--list input=1x5x1x4,weight=1x1x1x4 --filter 1x1");
    EXPECT_EQ(three.status, 0) << three.output;
    EXPECT_NE(three.output.find("all lists: 3 cases"), std::string::npos) << three.output;
}

// A kernel larger than its input, among others that are measured.
TEST(BenchList, ShapesThatCantBeGoToStandardError) {
    const std::string run = "'" HK_BENCH "' --no-peers --seconds 0.01 "
                            "--list input=1x8x8x8,weight=4x1x1x8";
    const std::string bad = " --list input=1x2x2x8,weight=1x5x5x8";
    const Outcome outcome = run_here(run + bad);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find("bench: 2x2_8-1_5x5_p0x0: conv2d: "), std::string::npos)
        << outcome.output;
    const std::string printed = run_here(run + bad, false).output;
    EXPECT_EQ(printed.find("5x5"), std::string::npos) << printed;
    EXPECT_NE(printed.find("8x8_8-4_1x1"), std::string::npos) << printed;
}

}  // namespace
}  // namespace hk::test
