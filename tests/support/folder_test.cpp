#include "tests/support/folder.h"

#include <fstream>

namespace hk::test {
namespace {

namespace fs = std::filesystem;

// What the first leaves, the second does not find.
class FolderOfTwo : public testing::TestWithParam<int> {};

TEST_P(FolderOfTwo, IsOfOneTestAndEmpty) {
    static fs::path before;
    const fs::path folder = own_folder();
    EXPECT_TRUE(fs::is_directory(folder));
    EXPECT_TRUE(fs::is_empty(folder));
    EXPECT_EQ(own_folder(), folder);
    EXPECT_NE(folder, before);
    EXPECT_TRUE(before.empty() || !fs::exists(before)) << "it passed";
    before = folder;
    std::ofstream(own_file("left")) << "by this test";
    EXPECT_TRUE(fs::exists(folder / "left"));
}

INSTANTIATE_TEST_SUITE_P(All, FolderOfTwo, testing::Values(1, 2));

TEST(OwnFolderPath, IsInTheBuildTree) {
    const fs::path program = fs::read_symlink("/proc/self/exe");
    EXPECT_EQ(own_folder(), program.parent_path() / "folders" / program.filename() /
                                "OwnFolderPath.IsInTheBuildTree");
}

// What a run that was killed left is gone.
TEST(OwnFolderPath, IsEmptiedFirst) {
    const fs::path program = fs::read_symlink("/proc/self/exe");
    const fs::path folder =
        program.parent_path() / "folders" / program.filename() / "OwnFolderPath.IsEmptiedFirst";
    fs::create_directories(folder / "left");
    EXPECT_EQ(own_folder(), folder);
    EXPECT_TRUE(fs::is_empty(folder));
}

}  // namespace
}  // namespace hk::test
