// The program as a person runs it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "apps/pictures/image.h"
#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::pointcloud {
namespace {

class Pointcloud : public testing::Test {
protected:
    Pointcloud() {
        std::ofstream file(here_ / "hill.xyz");
        for (int x = 0; x < 30; x++) {
            for (int y = 0; y < 20; y++) file << x << " " << y << " " << (x * y) / 60 << "\n";
        }
    }

    test::Outcome run(const std::string &arguments) const {
        return test::run_program("cd '" + here_.string() + "' && " + HK_POINTCLOUD + " " +
                                 arguments);
    }

    const std::filesystem::path here_ = test::own_folder();
};

bool has(const test::Outcome &outcome, const std::string &part) {
    return outcome.output.find(part) != std::string::npos;
}

TEST_F(Pointcloud, DrawsACloudAfterAllDevicesAgree) {
    for (const char *type : {"f32", "f16", "bf16"}) {
        const auto outcome =
            run(std::string("hill.xyz --voxel 1 --repeats 1 --channels 8 --type ") + type +
                " --output out.png");
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_TRUE(has(outcome, "hill.xyz: 600 points, 600 voxels of 1")) << outcome.output;
        EXPECT_TRUE(has(outcome, "map of down 2x2x2: ")) << outcome.output;
        EXPECT_TRUE(has(outcome, "cpu deterministic")) << outcome.output;
        EXPECT_TRUE(has(outcome, "up 2x2x2")) << outcome.output;
        EXPECT_FALSE(has(outcome, "DISAGREE")) << outcome.output;
        EXPECT_GT(pictures::read_image((here_ / "out.png").string()).width, 1000);
    }
}

TEST_F(Pointcloud, FindsASizeOfVoxels) {
    const auto outcome = run("hill.xyz --repeats 1 --device cpu");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(std::filesystem::exists(here_ / "cloud.png"));
}

TEST_F(Pointcloud, TellsWhatIsWrong) {
    const auto expect = [&](const std::string &arguments, const std::string &part) {
        const auto outcome = run(arguments);
        EXPECT_NE(outcome.status, 0) << arguments;
        EXPECT_TRUE(has(outcome, part)) << outcome.output;
    };
    expect("none.ply", "none.ply: No such file");
    expect("hill.xyz --device toaster", "toaster");
    expect("hill.xyz --type f64", "--type");
    expect("hill.xyz --voxel -1", "--voxel");
    expect("hill.xyz --voxel 1e-9 --device cpu", "at most 2147483647 is possible");
    expect("hill.xyz --voxel 1e-7 --device cpu", "at most 62 are possible");
    expect("hill.xyz --voxel 1 --device cpu --output no/folder.png", "folder.png: No such file");
    std::ofstream(here_ / "empty.xyz") << "# nothing\n";
    expect("empty.xyz", "empty.xyz: it has no points");
    const auto help = run("--help");
    EXPECT_EQ(help.status, 0);
    EXPECT_TRUE(has(help, "--voxel")) << help.output;
}

}  // namespace
}  // namespace hk::pointcloud
