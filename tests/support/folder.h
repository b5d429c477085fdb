#pragma once
// A folder for the files of the running test.

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace hk::test {

class OwnFolder : public testing::EmptyTestEventListener {
public:
    static const std::filesystem::path &of_running_test() {
        static OwnFolder *const only = [] {
            auto *folder = new OwnFolder;
            testing::UnitTest::GetInstance()->listeners().Append(folder);
            return folder;
        }();
        return only->path();
    }

private:
    const std::filesystem::path &path() {
        if (!path_.empty()) return path_;
        const testing::TestInfo *test = testing::UnitTest::GetInstance()->current_test_info();
        if (!test) throw std::logic_error("own_folder: no test is running");
        const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
        const std::string name = std::string(test->test_suite_name()) + "." + test->name();
        path_ = program.parent_path() / "folders" / program.filename() / name;
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
        return path_;
    }

    void OnTestEnd(const testing::TestInfo &test) override {
        if (!path_.empty() && !test.result()->Failed()) std::filesystem::remove_all(path_);
        path_.clear();
    }

    std::filesystem::path path_;
};

// Beside the test program, in the build tree: folders/PROGRAM/SUITE.TEST. Empty when the test first
// asks for it, removed after it where it passed; what a failed test left stays to be looked at. For
// one thread, inside of a test; a child made by fork() has its parent's.
inline const std::filesystem::path &own_folder() { return OwnFolder::of_running_test(); }

// A file in it.
inline std::string own_file(const std::string &name) { return (own_folder() / name).string(); }

}  // namespace hk::test
