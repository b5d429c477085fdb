// Threads of the host that run blocks.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace software_cuda {

class Pool {
public:
    // The process's. Its threads sleep between launches and are never joined: programs end without
    // asking it.
    static Pool &get();

    // Calls task(0) on the calling thread and task(1) to task(count - 1) on others, all at once;
    // returns when all did. Another caller meanwhile gets its tasks done one after another.
    void run(unsigned count, const std::function<void(unsigned)> &task);

private:
    void work(unsigned number);

    std::mutex callers_;
    std::mutex mutex_;
    std::condition_variable started_, finished_;
    std::vector<std::thread> threads_;
    const std::function<void(unsigned)> *task_ = nullptr;
    unsigned count_ = 0, running_ = 0;
    uint64_t round_ = 0;
};

}  // namespace software_cuda
