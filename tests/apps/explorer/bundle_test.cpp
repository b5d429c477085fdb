// A bundle: built, run where there is nothing but the system's C library, its parts collected.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "bundle.h"
#include "hk/error.h"
#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::explorer {

namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::run_program;

const std::string explorer = std::string("'") + HK_EXPLORER + "' ";

class BundleTest : public testing::Test {
protected:
    const fs::path folder_ = test::own_folder();
};

TEST_F(BundleTest, RunsElsewhereInPartsThatMerge) {
    const fs::path made = folder_ / "made", elsewhere = folder_ / "elsewhere";
    const Outcome built =
        run_program(explorer +
                    "sweep conv2d input=1x8x8x16,weight=16x3x3x16,padding=1 "
                    "--schedule packed/broadcast --candidates 3 --bundle '" +
                    made.string() + "'");
    ASSERT_EQ(built.status, 0) << built.output;
    const Outcome needs = run_program("ldd '" + (made / "measure").string() + "'");
    for (const char *library :
         {"libHalide", "libLLVM", "libstdc++", "libgcc_s", "dnnl", "not found"})
        EXPECT_EQ(needs.output.find(library), std::string::npos) << needs.output;

    fs::create_directories(elsewhere);
    fs::copy(made / "measure", elsewhere / "measure");
    for (const char *part : {"1/2", "2/2"}) {
        const Outcome ran = run_program("cd / && env -i '" + (elsewhere / "measure").string() +
                                        "' --seconds 0.05 --part " + part);
        ASSERT_EQ(ran.status, 0) << ran.output;
    }
    for (const auto &entry : fs::directory_iterator(elsewhere)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("results-")) fs::copy(entry.path(), made / name);
    }
    const Outcome collected = run_program(explorer + "sweep --collect '" + made.string() + "'");
    ASSERT_EQ(collected.status, 0) << collected.output;
    std::set<std::string> parts, names;
    for (const Record &record : read_records(made / "results.csv")) {
        EXPECT_TRUE(record.ok()) << record.candidate << ": " << record.status << record.reason;
        EXPECT_GT(record.ratio(), 0);
        EXPECT_TRUE(names.insert(record.candidate).second);
        parts.insert(record.part);
    }
    EXPECT_EQ(names.size(), 3u);
    EXPECT_EQ(parts, (std::set<std::string>{"1/2", "2/2"}));
    const auto state = read_json(made / "sweep.json");
    EXPECT_EQ(state["machines"].size(), 2u);
    EXPECT_GT(state["ceilings"]["peak"].get<double>(), 1);

    const Outcome bad = run_program("'" + (elsewhere / "measure").string() + "' --part 3/2");
    EXPECT_EQ(bad.status, 2);
    EXPECT_NE(bad.output.find("allowed: 1/N to N/N"), std::string::npos) << bad.output;
}

TEST_F(BundleTest, CollectNamesWhatIsMissing) {
    EXPECT_THROW(collect(folder_), InvalidArgument);
    write_json(folder_ / "sweep.json", {{"cases", nlohmann::json::array()}});
    try {
        collect(folder_);
        FAIL();
    } catch (const InvalidArgument &error) {
        EXPECT_NE(std::string(error.what()).find("run its program measure first"),
                  std::string::npos);
    }
}

}  // namespace

}  // namespace hk::explorer
