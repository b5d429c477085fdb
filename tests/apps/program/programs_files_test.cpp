// A file that a program can't write is a failure, and leaves the one that was there.

#include <set>

#include "apps/program/file.h"
#include "tests/apps/program/programs.h"

namespace hk::test {
namespace {

namespace fs = std::filesystem;

const std::string smoke =
    "'" HK_BENCH "' --list smoke --filter 1x1 --no-peers --seconds 0.01 --json ";

struct Writer {
    std::string name, before, command;  // `before` makes its input; %s: the file that it writes
};

const Writer writers[] = {
    {"filter", "", "'" HK_FILTER "' --device cpu --max-size 64 --repeats 1 --output %s"},
    {"pointcloud", "",
     "'" HK_POINTCLOUD "' --device cpu --voxel 300 --repeats 1 --channels 4 --output %s"},
    {"train_history", "", "'" HK_TRAIN "' --steps 30 --history %s"},
    {"train_trace", "", "'" HK_TRAIN "' --steps 30 --trace %s"},
    {"train_output", "", "'" HK_TRAIN "' --steps 30 --history h.json --output %s"},
    {"bench", "", smoke + "%s"},
    {"explorer", "", "'" HK_EXPLORER "' show sgd_plain_f32_cpu --output %s"},
    {"draw_trace", "", python + "memory/draw_trace.py' '" HK_APPS "/memory/train.json.gz' %s"},
    {"report_page", smoke + "rows.json",
     python + "bench/report.py' rows.json --picture p.svg --output %s"}};

class Writers : public testing::TestWithParam<Writer> {
protected:
    std::string command_for(const std::string &file) const {
        std::string command = GetParam().command;
        return command.replace(command.find("%s"), 2, file);
    }

    void SetUp() override {
        if (GetParam().before.empty()) return;
        const Outcome outcome = run_here(GetParam().before);
        ASSERT_EQ(outcome.status, 0) << outcome.output;
    }

    static std::set<std::string> files() {
        std::set<std::string> names;
        for (const auto &entry : fs::directory_iterator(own_folder()))
            names.insert(entry.path().filename());
        return names;
    }
};

// No file may have more than one block.
TEST_P(Writers, KeepWhatWasThereWhereTheDiskIsFull) {
    program::write_file(own_file("out.png"), "old");
    const std::set<std::string> before = files();
    const Outcome outcome = run_here("trap '' XFSZ; ulimit -f 1; " + command_for("out.png"));
    EXPECT_EQ(outcome.status, 1) << outcome.output;
    EXPECT_EQ(program::read_file(own_file("out.png")), "old");
    EXPECT_EQ(files(), before);
    EXPECT_EQ(outcome.output.find("wrote out.png"), std::string::npos) << outcome.output;
}

TEST_P(Writers, FailWhereTheyCantWrite) {
    const Outcome outcome = run_here(command_for("/dev/full"));
    EXPECT_EQ(outcome.status, 1) << outcome.output;
    EXPECT_NE(outcome.output.find("No space left on device"), std::string::npos) << outcome.output;
    EXPECT_EQ(outcome.output.find("wrote /dev/full"), std::string::npos) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(All, Writers, testing::ValuesIn(writers),
                         [](const auto &info) { return info.param.name; });

}  // namespace
}  // namespace hk::test
