#pragma once
// Files and programs, for the driver. Failures are std::runtime_error.

#include <filesystem>
#include <string>
#include <vector>

namespace hk::compiler {

// A new folder `parent`/.NAME.XXXXXX, removed with all that is in it.
class TemporaryFolder {
public:
    TemporaryFolder(const std::filesystem::path &parent, const std::string &name);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;

    const std::filesystem::path &path() const { return path_; }

private:
    std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path &path);
void write_file(const std::filesystem::path &path, const std::string &content);

// Runs a program, without a shell, and returns what it printed. Throws with that text where it
// fails.
std::string run_program(const std::vector<std::string> &command);

// The program that an environment variable names; where it is not set, the one of that name on
// PATH. Empty where there is none.
std::string find_program(const char *variable, const std::string &name);

}  // namespace hk::compiler
