// In place of Halide's own pool, which soon lets a thread sleep that waits, be it a worker between
// two kernels or a caller whose last task is another thread's: to wake it takes as long as many
// kernels (docs/runtime/call.md). Workers here wait for kSpin before they sleep, as those of OpenMP
// do, and loops take no lock for a task.

#include "worker_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "immortal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hk::detail {

namespace {

constexpr std::chrono::microseconds kSpin(200);

// On the stack of its owner, the thread that runs it.
struct Loop {
    void *user_context;
    halide_task_t task;
    uint8_t *closure;
    int64_t end;
    std::atomic<int64_t> next;
    int helpers_at_most;
    Loop *outer;                   // one of whose tasks runs this one
    Loop *older = nullptr;         // in the list
    std::atomic<int> helpers = 0;  // rises under the pool's lock, while the loop is in its list
    std::atomic<int> status = 0;

    bool has_tasks() const { return next.load(std::memory_order_relaxed) < end; }

    bool is_inside(const Loop *other) const {
        for (const Loop *loop = this; loop; loop = loop->outer)
            if (loop == other) return true;
        return false;
    }
};

thread_local Loop *current = nullptr;  // whose task this thread runs

void run_tasks(Loop &loop) {
    Loop *const before = std::exchange(current, &loop);
    for (;;) {
        const int64_t i = loop.next.fetch_add(1, std::memory_order_relaxed);
        if (i >= loop.end) break;
        const int status =
            halide_do_task(loop.user_context, loop.task, static_cast<int>(i), loop.closure);
        if (status == 0) continue;
        loop.status = status;
        loop.next = loop.end;
    }
    current = before;
}

void pause_a_little() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

constexpr int kAll = std::numeric_limits<int>::max();

// A number that grows, and threads that wait for it to grow.
class Signal {
public:
    uint32_t now() const { return number_; }

    // Wakes so many of those that sleep.
    void raise(int count) {
        ++number_;
        const int sleepers = sleepers_;
        if (count >= sleepers && sleepers > 0) number_.notify_all();
        for (int i = 0; i < count && count < sleepers; i++) number_.notify_one();
    }

    // Returns when the number is no longer `seen`. Sleeps after kSpin, or at once.
    void wait(uint32_t seen, bool spins) {
        using Clock = std::chrono::steady_clock;
        for (const auto end = Clock::now() + kSpin; spins && Clock::now() < end;) {
            for (int i = 0; i < 32; i++) {
                if (number_ != seen) return;
                pause_a_little();
            }
        }
        ++sleepers_;
        number_.wait(seen);
        --sleepers_;
    }

private:
    std::atomic<uint32_t> number_ = 0;
    std::atomic<int> sleepers_ = 0;
};

class Pool {
public:
    Pool() { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

    void run(Loop &loop) {
        {
            const std::lock_guard lock(mutex_);
            start(loop.helpers_at_most);
            loop.older = std::exchange(newest_, &loop);
        }
        loops_.raise(loop.helpers_at_most);
        if (loop.outer) owners_.raise(kAll);
        run_tasks(loop);
        {
            const std::lock_guard lock(mutex_);
            for (Loop **link = &newest_; *link; link = &(*link)->older) {
                if (*link != &loop) continue;
                *link = loop.older;
                break;
            }
        }
        for (;;) {
            const uint32_t seen = owners_.now();
            if (loop.helpers == 0) return;
            if (Loop *inner = join(&loop))
                help(*inner);
            else
                owners_.wait(seen, spins_);
        }
    }

    void stop() {
        std::vector<std::thread> workers;
        {
            const std::lock_guard lock(mutex_);
            workers.swap(workers_);
            ++generation_;
        }
        loops_.raise(kAll);
        for (std::thread &worker : workers) {
            if (worker.get_id() == std::this_thread::get_id())
                worker.detach();
            else
                worker.join();
        }
    }

private:
    // Under the lock. Fewer where the system has no more: the others do their tasks.
    void start(int count) try {
        if (static_cast<int>(workers_.size()) >= count) return;
        spins_ = count < static_cast<int>(std::thread::hardware_concurrency());
        while (static_cast<int>(workers_.size()) < count)
            workers_.emplace_back([this, generation = generation_.load()] { work(generation); });
    } catch (const std::system_error &) {
    }

    void work(uint32_t generation) {
        pthread_setname_np(pthread_self(), "hk-worker");
        for (;;) {
            const uint32_t seen = loops_.now();
            if (generation_ != generation) return;
            if (Loop *loop = join(nullptr))
                help(*loop);
            else
                loops_.wait(seen, spins_);
        }
    }

    // The newest loop with tasks left, of those inside of one where it is given. It stays until
    // help() has left it.
    Loop *join(const Loop *within) {
        const std::lock_guard lock(mutex_);
        for (Loop *loop = newest_; loop; loop = loop->older) {
            if (!loop->has_tasks() || loop->helpers >= loop->helpers_at_most) continue;
            if (within && !loop->is_inside(within)) continue;
            ++loop->helpers;
            return loop;
        }
        return nullptr;
    }

    // When the last helper has left, the loop may be gone.
    void help(Loop &loop) {
        run_tasks(loop);
        --loop.helpers;
        owners_.raise(kAll);
    }

    static void before_fork();
    static void after_fork_in_parent();
    static void after_fork_in_child();

    std::mutex mutex_;
    Loop *newest_ = nullptr;  // in the list
    std::vector<std::thread> workers_;
    std::atomic<uint32_t> generation_ = 0;  // of workers; older ones end
    std::atomic<bool> spins_ = true;        // a core for each thread
    Signal loops_;                          // for workers: there is another loop
    Signal owners_;                         // for owners: a helper has left, or there is another loop
};

Pool &pool() {
    static Immortal<Pool> instance;
    return *instance;
}

void Pool::before_fork() { pool().mutex_.lock(); }

void Pool::after_fork_in_parent() { pool().mutex_.unlock(); }

// Only the thread that forked is there.
void Pool::after_fork_in_child() {
    new std::vector(std::move(pool().workers_));  // of threads that can be neither joined nor left
    pool().newest_ = nullptr;
    pool().mutex_.unlock();
}

}  // namespace

int run_loop(void *user_context, halide_task_t task, int first, int count, uint8_t *closure) {
    const int threads = halide_get_num_threads();
    Loop loop{user_context, task, closure, int64_t{first} + count, first,
              std::min(threads, count) - 1, current};
    if (loop.helpers_at_most > 0)
        pool().run(loop);
    else
        run_tasks(loop);
    return loop.status;
}

void stop_workers() { pool().stop(); }

}  // namespace hk::detail
