#include "cores.h"

#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace hk::bench {

namespace {

std::vector<int> usable_cores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    std::vector<int> cores;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &allowed)) cores.push_back(i);
    return cores;
}

// thread: 0 is the calling one.
bool pin(int thread, int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return sched_setaffinity(thread, sizeof one, &one) == 0;
}

// Ascending, as they were started.
std::set<int> threads_of_process() {
    std::set<int> threads;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/task"))
        threads.insert(std::stoi(entry.path().filename().string()));
    return threads;
}

}  // namespace

bool stay_on_last_core() {
    const std::vector<int> cores = usable_cores();
    return !cores.empty() && pin(0, cores.back());
}

OneThreadPerCore::OneThreadPerCore(int threads) {
    const std::vector<int> cores = usable_cores();
    if (threads == 1 || static_cast<int>(cores.size()) < threads) return;
    size_t next = 0;
    for (const int thread : threads_of_process())
        if (thread != getpid()) pin(thread, cores[1 + next++ % (threads - 1)]);
    changed_ = sched_getaffinity(0, sizeof before_, &before_) == 0 && pin(0, cores[0]);
}

OneThreadPerCore::~OneThreadPerCore() {
    if (changed_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace hk::bench
