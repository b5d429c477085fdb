#include "software_cuda/machine/pool.h"

#include <unistd.h>

namespace software_cuda {

Pool &Pool::get() {
    static std::mutex mutex;
    static Pool *pool = nullptr;
    static pid_t process = 0;
    const std::lock_guard lock(mutex);
    // A fork's child has none of its parent's threads.
    if (process != getpid()) pool = new Pool;
    process = getpid();
    return *pool;
}

void Pool::run(unsigned count, const std::function<void(unsigned)> &task) {
    const std::unique_lock caller(callers_, std::try_to_lock);
    if (count == 1 || !caller) {
        for (unsigned n = 0; n < count; n++) task(n);
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        while (threads_.size() + 1 < count) {
            const auto number = static_cast<unsigned>(threads_.size() + 1);
            threads_.emplace_back([this, number] { work(number); });
        }
        task_ = &task;
        count_ = count;
        running_ = count - 1;
        round_++;
    }
    started_.notify_all();
    task(0);
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return running_ == 0; });
}

void Pool::work(unsigned number) {
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
        started_.wait(lock, [&] { return round_ != seen; });
        seen = round_;
        if (number >= count_) continue;
        const auto *const task = task_;
        lock.unlock();
        (*task)(number);
        lock.lock();
        if (--running_ == 0) finished_.notify_one();
    }
}

}  // namespace software_cuda
