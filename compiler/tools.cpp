#include "compiler/tools.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char **environ;

namespace fs = std::filesystem;

namespace hk::compiler {

TemporaryFolder::TemporaryFolder(const fs::path &parent, const std::string &name) {
    std::string pattern = (parent / ("." + name + ".XXXXXX")).string();
    if (!mkdtemp(pattern.data()))
        throw std::runtime_error("cannot make a folder in " + parent.string() + ": " +
                                 std::strerror(errno));
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string read_file(const fs::path &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream content;
    content << in.rdbuf();
    if (!in) throw std::runtime_error("cannot read " + path.string());
    return content.str();
}

void write_file(const fs::path &path, const std::string &content) {
    std::ofstream out(path, std::ios::binary);
    out << content;
    out.close();
    if (!out) throw std::runtime_error("cannot write " + path.string());
}

std::string run_program(const std::vector<std::string> &command) {
    std::vector<char *> arguments;
    for (const std::string &argument : command)
        arguments.push_back(const_cast<char *>(argument.c_str()));
    arguments.push_back(nullptr);

    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    pid_t child = 0;
    const int failure =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);

    std::string output;
    char block[4096];
    for (ssize_t size; failure == 0 && (size = read(ends[0], block, sizeof block)) > 0;)
        output.append(block, size);
    close(ends[0]);
    if (failure != 0)
        throw std::runtime_error("cannot run " + command[0] + ": " + std::strerror(failure));

    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status))
        throw std::runtime_error(command[0] + " ended by signal " +
                                 std::to_string(WTERMSIG(status)) + ":\n" + output);
    if (WEXITSTATUS(status) != 0)
        throw std::runtime_error(command[0] + " failed with " +
                                 std::to_string(WEXITSTATUS(status)) + ":\n" + output);
    return output;
}

std::string find_program(const char *variable, const std::string &name) {
    const auto executable = [](const std::string &path) { return access(path.c_str(), X_OK) == 0; };
    if (const char *given = std::getenv(variable)) return executable(given) ? given : "";
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const std::string program = folder + "/" + name; executable(program)) return program;
    return "";
}

}  // namespace hk::compiler
