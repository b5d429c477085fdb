// Readers on their inputs of cases.h, each reader in a process of its own, which may crash, hang or
// fill the memory. Inputs that fail are kept in the folder in which this runs.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <thread>

#include "cases.h"
#include "program/program.h"

// Without AddressSanitizer nothing calls this.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() { return "max_allocation_size_mb=1024"; }

namespace hk::fuzz {
namespace {

constexpr double kLongest = 10;                    // seconds of one input, on the processor
constexpr int64_t kMostMemory = int64_t{3} << 29;  // 1.5 GB, resident
constexpr int kMostFailures = 10;                  // of one reader

struct Arguments {
    std::filesystem::path corpus;
    std::string only;
    uint64_t seed = 1;
    size_t mutations = 2000, from = 0;
    bool alone = false;  // the first input alone
};

// The number of the input that is being read.
using Progress = std::atomic<size_t>;

Progress &shared_progress() {
    void *memory =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    return *new (memory) Progress(0);
}

// Exit status of the process that reads.
int read_all(const Reader &reader, const Cases &cases, size_t end, Progress &progress) {
    for (; progress < end; progress++) {
        const Input input = cases[progress];
        try {
            const bool taken = reader.takes(input.bytes);
            if (input.verdict == Verdict::either) continue;
            if (taken == (input.verdict == Verdict::taken)) continue;
            std::fprintf(stderr, "it is %s\n", taken ? "taken" : "refused");
        } catch (const std::exception &error) {
            std::fprintf(stderr, "an exception leaves: %s\n", error.what());
        }
        return 1;
    }
    return 0;
}

int64_t resident(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/statm");
    int64_t pages = 0, present = 0;
    file >> pages >> present;
    return present * sysconf(_SC_PAGESIZE);
}

// That it has had; not those of a clock, which run on a busy machine too.
double processor_seconds(pid_t process) {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What ended the process; empty where it is done with all inputs.
std::string watch(pid_t process, const Progress &progress) {
    size_t last = progress;
    double since = 0;
    std::string killed;
    int status = 0;
    while (waitpid(process, &status, WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const double now = processor_seconds(process);
        if (last != progress) {
            last = progress;
            since = now;
        }
        if (resident(process) > kMostMemory) killed = "it takes more than 1.5 GB";
        if (now - since > kLongest) killed = "it takes more than 10 s";
        if (!killed.empty()) kill(process, SIGKILL);
    }
    if (!killed.empty()) return killed;
    if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : "status " + std::to_string(WEXITSTATUS(status));
}

// How many inputs fail.
int run(const Reader &reader, const Arguments &arguments, Progress &progress) {
    const Cases cases(reader, arguments.corpus, arguments.seed, arguments.mutations);
    const size_t end = arguments.alone ? arguments.from + 1 : cases.size();
    int failures = 0;
    for (progress = arguments.from; progress < end && failures < kMostFailures; progress++) {
        const pid_t process = fork();
        if (process < 0) throw std::runtime_error("no process");
        if (process == 0) std::exit(read_all(reader, cases, end, progress));
        const std::string what = watch(process, progress);
        if (what.empty()) break;
        failures++;
        const size_t number = progress;
        const Input input = cases[std::min(number, cases.size() - 1)];
        const std::string file =
            "failed_" + std::string(reader.name) + "_" + std::to_string(number);
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char *>(input.bytes.data()),
                   static_cast<std::streamsize>(input.bytes.size()));
        std::fprintf(stderr,
                     "%s: %s: %s, kept as %s; again: fuzz_replay --corpus %s --seed %llu "
                     "--only %s --from %zu --alone\n",
                     reader.name.data(), input.of.c_str(), what.c_str(), file.c_str(),
                     arguments.corpus.c_str(), static_cast<unsigned long long>(arguments.seed),
                     reader.name.data(), number);
    }
    std::printf("%s: %zu inputs, %d fail\n", reader.name.data(), end - arguments.from, failures);
    std::fflush(stdout);
    return failures;
}

}  // namespace
}  // namespace hk::fuzz

int main(int count, char **values) {
    using namespace hk::fuzz;
    Arguments arguments;
    hk::program::Flags flags("Readers on files of their corpus, cut and changed");
    flags.add("--corpus", arguments.corpus).required();
    flags.add("--only", arguments.only, "a reader");
    flags.add("--seed", arguments.seed);
    flags.add("--mutations", arguments.mutations, "of each reader");
    flags.add("--from", arguments.from, "the number of the first input");
    flags.add("--alone", arguments.alone, "the first input alone");
    return hk::program::run("fuzz_replay", flags, count, values, [&] {
        int failures = 0;
        Progress &progress = shared_progress();
        for (const Reader &reader : readers()) {
            if (!arguments.only.empty() && &reader != &reader_of(arguments.only)) continue;
            failures += run(reader, arguments, progress);
        }
        return failures == 0 ? 0 : 1;
    });
}
