// Files are read whole, and written whole or not at all.

#include "apps/program/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>
#include <iterator>

#include "tests/support/folder.h"

namespace hk::program {
namespace {

namespace fs = std::filesystem;
using test::own_file;
using test::own_folder;

// No file may grow beyond so many bytes: a disk that is full.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit now{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &now);
        std::signal(SIGXFSZ, SIG_IGN);
    }
    ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

private:
    rlimit before_{};
};

std::string error_of(const std::string &path, const std::string &content) {
    try {
        write_file(path, content);
    } catch (const FileError &error) {
        return error.what();
    }
    return "";
}

int64_t files() { return std::distance(fs::directory_iterator(own_folder()), {}); }

TEST(WriteFile, MakesAndReplaces) {
    const std::string path = own_file("text");
    write_file(path, "first");
    EXPECT_EQ(read_file(path), "first");
    fs::permissions(path, fs::perms(0640));
    const std::string second("\0of another length\n", 19);
    write_file(path, second);
    EXPECT_EQ(read_file(path), second);
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
    write_file(path, "");
    EXPECT_EQ(read_file(path), "");
    EXPECT_EQ(files(), 1);
}

TEST(WriteFile, OfANewFileHasTheUsualPermissions) {
    const mode_t before = umask(027);
    write_file(own_file("new"), "");
    umask(before);
    EXPECT_EQ(fs::status(own_file("new")).permissions(), fs::perms(0640));
}

TEST(WriteFile, LeavesALinkAndWritesWhereItLeads) {
    write_file(own_file("there"), "old");
    fs::create_symlink("there", own_file("link"));
    write_file(own_file("link"), "new");
    EXPECT_TRUE(fs::is_symlink(own_file("link")));
    EXPECT_EQ(read_file(own_file("there")), "new");
}

TEST(WriteFile, KeepsWhatWasThereWhereTheDiskIsFull) {
    const std::string old = own_file("old"), none = own_file("none");
    write_file(old, "old");
    {
        const FullDisk full(1000);
        const std::string large(5000, 'x');
        EXPECT_EQ(error_of(old, large), old + ": File too large");
        EXPECT_EQ(error_of(none, large), none + ": File too large");
    }
    EXPECT_EQ(read_file(old), "old");
    EXPECT_EQ(files(), 1);
}

TEST(WriteFile, TellsWhatIsWrong) {
    const std::string nowhere = own_file("no/folder.txt");
    EXPECT_EQ(error_of(nowhere, "x"), nowhere + ": No such file or directory");
    EXPECT_NE(error_of(own_folder(), "x"), "");
    EXPECT_EQ(error_of("/dev/full", "x"), "/dev/full: No space left on device");
    EXPECT_EQ(error_of("/dev/null", "x"), "");
}

TEST(WriteFile, LeavesAFileThatMayNotBeWritten) {
    const std::string locked = own_file("locked");
    write_file(locked, "old");
    fs::permissions(locked, fs::perms::owner_read);
    if (geteuid() == 0) GTEST_SKIP() << "root may write it";
    EXPECT_EQ(error_of(locked, "x"), locked + ": Permission denied");
}

TEST(WriteFile, GoesThroughAPipe) {
    const std::string pipe = own_file("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    auto read = std::async(std::launch::async, [&] { return read_file(pipe); });
    write_file(pipe, "text");
    EXPECT_EQ(read.get(), "text");
    EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(ReadFile, TellsWhatIsWrong) {
    for (const std::string &path : {own_folder().string(), own_file("none")}) {
        try {
            read_file(path);
            ADD_FAILURE() << path;
        } catch (const FileError &error) {
            const std::string reason =
                fs::exists(path) ? "Is a directory" : "No such file or directory";
            EXPECT_EQ(error.what(), path + ": " + reason);
        }
    }
}

}  // namespace
}  // namespace hk::program
