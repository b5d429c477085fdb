#include "peers/python.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "data.h"

namespace hk::bench {

namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error("Python: " + what); }

const char *python() {
    const char *path = std::getenv("HK_PYTHON");
    return path ? path : HK_PYTHON;
}

std::string path_of(const std::string &script) { return HK_PEER_SCRIPTS "/" + script; }

std::string dtype_of(DataType type) {
    const std::string name(name_of(type));
    const char *kind = name[0] == 'f' ? "float" : name[0] == 'u' ? "uint" : "int";
    if (type == DataType::bf16) fail("NumPy has no bf16");
    return kind + name.substr(1);
}

std::string new_folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "hk_bench_XXXXXX";
    if (!mkdtemp(pattern.data())) fail("no folder for its arrays");
    return pattern;
}

// This process's environment with BLAS and OpenMP on so many threads, several each on its core.
std::vector<std::string> environment(int threads) {
    const char *names[] = {"OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS=", "MKL_NUM_THREADS="};
    const std::string_view bind = "OMP_PROC_BIND=";
    std::vector<std::string> result;
    for (char **entry = environ; *entry; ++entry) {
        const std::string_view text = *entry;
        bool ours = text.starts_with(bind);
        for (const char *name : names) ours |= text.starts_with(name);
        if (!ours) result.emplace_back(text);
    }
    for (const char *name : names) result.push_back(name + std::to_string(threads));
    result.push_back(std::string(bind) + (threads > 1 ? "true" : "false"));
    return result;
}

}  // namespace

std::string python_version(const std::string &script) {
    const std::string command =
        std::string("'") + python() + "' '" + path_of(script) + "' --version 2>/dev/null";
    std::string text;
    FILE *pipe = popen(command.c_str(), "r");
    if (!pipe) return text;
    for (int c; (c = std::fgetc(pipe)) != EOF && c != '\n';) text += static_cast<char>(c);
    return pclose(pipe) == 0 ? text : std::string();
}

const std::string &numpy_version() {
    static const std::string version = python_version("numpy_tasks.py");
    return version;
}

PythonPeer::PythonPeer(std::string name, std::string variant, const PythonTask &task)
    : name_(std::move(name)), variant_(std::move(variant)), tolerance_(task.tolerance) {
    const std::string &folder = process_.folder;
    json arrays = json::array();
    for (const auto &[array, tensor] : task.arrays) {
        arrays.push_back(
            {{"name", array}, {"type", dtype_of(tensor.type())}, {"shape", tensor.shape()}});
        std::ofstream file(folder + "/" + array, std::ios::binary);
        file.write(reinterpret_cast<const char *>(bytes_of(tensor)),
                   tensor.elements() * size_of(tensor.type()));
        if (!file.flush()) fail("cannot write " + folder + "/" + array);
    }
    process_.start(path_of(task.script), task.threads);
    process_.ask(json{{"task", task.name},
                      {"folder", folder},
                      {"arrays", arrays},
                      {"options", task.options.is_null() ? json::object() : task.options}}
                     .dump());
}

PythonPeer::Process::Process() : folder(new_folder()) {}

PythonPeer::Process::~Process() {
    if (socket >= 0) close(socket);
    if (id > 0) {
        kill(id, SIGKILL);
        waitpid(id, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
}

void PythonPeer::Process::start(std::string script, int threads) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("no socket");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int to : {STDIN_FILENO, STDOUT_FILENO})
        posix_spawn_file_actions_adddup2(&actions, ends[1], to);
    std::vector<std::string> variables = environment(threads);
    std::vector<char *> pointers;
    for (std::string &variable : variables) pointers.push_back(variable.data());
    pointers.push_back(nullptr);
    std::string program = python();
    char *arguments[] = {program.data(), script.data(), nullptr};
    const int error =
        posix_spawnp(&id, program.c_str(), &actions, nullptr, arguments, pointers.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    socket = ends[0];
    if (error != 0) {
        id = -1;
        fail("cannot start " + program);
    }
}

std::string PythonPeer::Process::ask(const std::string &line) const {
    const std::string text = line + "\n";
    for (size_t sent = 0; sent < text.size();) {
        const ssize_t size = send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (size <= 0) fail("its process has ended");
        sent += static_cast<size_t>(size);
    }
    std::string answer;
    for (char c;;) {
        if (recv(socket, &c, 1, 0) != 1) fail("its process has ended");
        if (c == '\n') return answer;
        answer += c;
    }
}

double PythonPeer::repeat(int count) {
    return json::parse(process_.ask("run " + std::to_string(count)));
}

Outputs PythonPeer::outputs() {
    Outputs result;
    for (const std::string name : json::parse(process_.ask("outputs"))) {
        std::ifstream file(process_.folder + "/" + name, std::ios::binary | std::ios::ate);
        result.emplace_back(static_cast<size_t>(std::max<int64_t>(file.tellg(), 0)));
        file.seekg(0);
        file.read(reinterpret_cast<char *>(result.back().data()),
                  static_cast<std::streamsize>(result.back().size()));
        if (!file) fail("cannot read " + process_.folder + "/" + name);
    }
    return result;
}

}  // namespace hk::bench
