#include "tests/fuzz/driver.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/fuzz/crash.h"

namespace hk::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// A child ends after so many cases: what the library keeps of each problem goes with it.
constexpr uint64_t kCasesOfChild = 10000;

// What children tell.
struct Progress {
    std::atomic<uint64_t> seed;  // that runs
    std::atomic<uint64_t> right, unchecked, refused;
    std::atomic<int> findings;
};

Progress &shared_progress() {
    void *const memory =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    return *new (memory) Progress();
}

const Family &family_of(const Job &job, uint64_t seed) {
    const auto all = families();
    return job.family ? *job.family : all[seed % all.size()];
}

std::string title(const Job &job, uint64_t seed) {
    const std::string kind = job.kind == Kind::valid ? "valid" : "hostile";
    const std::string family = family_of(job, seed).name;
    return "fuzz: " + family + ", " + kind + ", on " + job.device.name() +
           "\nrepeat: build/bin/fuzz --family " + family + " --kind " + kind + " --device " +
           job.device.name() + " --seed " + std::to_string(seed) + " --count 1";
}

void run_case(const Job &job, uint64_t seed, int lane, Progress &progress) {
    set_running(lane, title(job, seed));
    Case c(seed, job.kind, job.device, lane);
    const auto found = [&](const std::string &what) {
        progress.findings++;
        std::fprintf(stderr, "\n%s\n%s\n%s\n", title(job, seed).c_str(), what.c_str(),
                     c.text().c_str());
    };
    try {
        switch (family_of(job, seed).run(c)) {
            case Result::right:
                progress.right++;
                break;
            case Result::unchecked:
                progress.unchecked++;
                break;
            case Result::refused:
                progress.refused++;
                break;
        }
    } catch (const Finding &finding) {
        found(finding.what());
    } catch (const InvalidArgument &error) {
        // A tensor that can't be made.
        if (c.untouched()) return found(std::string("a valid tensor: ") + error.what());
        progress.refused++;
    } catch (const std::exception &error) {
        found(std::string("outside of the call: ") + error.what());
    }
}

void run_cases(const Job &job, uint64_t first, uint64_t end, Progress &progress) {
    watch_for_crashes();
    install_faults();
    for (uint64_t seed = first; seed < end && progress.findings < job.findings; seed++) {
        progress.seed = seed;
        run_case(job, seed, 0, progress);
    }
}

void run_threads(const Job &job, Progress &progress) {
    watch_for_crashes();
    use_small_windows();
    std::vector<std::thread> threads;
    for (int lane = 0; lane < job.threads; lane++) {
        threads.emplace_back([&job, &progress, lane] {
            const auto step = static_cast<uint64_t>(job.threads);
            for (auto i = static_cast<uint64_t>(lane); i < job.count; i += step) {
                run_case(job, job.seed + i, lane, progress);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
}

// Waits for a child, and ends it where one case takes too long.
int wait_for(pid_t child, const Job &job, Progress &progress) {
    uint64_t seed = 0;
    auto since = Clock::now();
    for (;;) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) return status;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (progress.seed != seed) {
            seed = progress.seed;
            since = Clock::now();
        } else if (Clock::now() - since > std::chrono::seconds(job.seconds)) {
            std::fprintf(stderr, "\nfuzz: more than %d s\n%s\n", job.seconds,
                         title(job, seed).c_str());
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return status;
        }
    }
}

void run_children(const Job &job, Progress &progress) {
    const uint64_t end = job.seed + job.count;
    for (uint64_t first = job.seed; first < end && progress.findings < job.findings;) {
        const uint64_t last = std::min(end, first + kCasesOfChild);
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (child == 0) {
            run_cases(job, first, last, progress);
            std::exit(0);
        }
        const int status = wait_for(child, job, progress);
        first = last;
        if (status != 0) {
            progress.findings++;
            first = progress.seed + 1;
        }
    }
}

}  // namespace

int run(const Job &job) {
    Progress &progress = shared_progress();
    if (job.threads > 0) {
        run_threads(job, progress);
    } else if (job.count == 1) {
        run_cases(job, job.seed, job.seed + 1, progress);
    } else {
        run_children(job, progress);
    }
    std::printf("%s %s on %s: %llu right, %llu unchecked, %llu refused, %d findings\n",
                job.family ? job.family->name : "all",
                job.kind == Kind::valid ? "valid" : "hostile", job.device.name().c_str(),
                static_cast<unsigned long long>(progress.right),
                static_cast<unsigned long long>(progress.unchecked),
                static_cast<unsigned long long>(progress.refused), progress.findings.load());
    return progress.findings;
}

}  // namespace hk::fuzz
