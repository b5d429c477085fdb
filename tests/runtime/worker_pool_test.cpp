#include "runtime/src/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "HalideRuntime.h"

namespace hk::detail {
namespace {

// A loop over a function of the number of a task, which returns a status.
template<typename Function>
int loop(int first, int count, Function function) {
    const auto task = [](void *, int i, uint8_t *closure) -> int {
        return (*reinterpret_cast<Function *>(closure))(i);
    };
    return run_loop(nullptr, task, first, count, reinterpret_cast<uint8_t *>(&function));
}

class WorkerPool : public testing::TestWithParam<int> {
protected:
    WorkerPool() : before_(halide_set_num_threads(GetParam())) {}
    ~WorkerPool() override { halide_set_num_threads(before_); }

private:
    int before_;
};

TEST_P(WorkerPool, RunsEachTaskOnce) {
    for (const int count : {0, 1, 2, 3, 7, 1000}) {
        std::vector<std::atomic<int>> done(count);
        EXPECT_EQ(loop(-5, count,
                       [&](int i) {
                           ++done.at(i + 5);
                           return 0;
                       }),
                  0);
        for (const std::atomic<int> &times : done) EXPECT_EQ(times, 1);
    }
}

// Workers sleep in the pauses.
TEST_P(WorkerPool, WakesWorkers) {
    std::atomic<int> done = 0;
    for (int round = 0; round < 20; round++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        loop(0, 10, [&](int) {
            ++done;
            return 0;
        });
    }
    EXPECT_EQ(done, 200);
}

TEST_P(WorkerPool, RunsLoopsInsideOfTasks) {
    std::atomic<int> done = 0;
    const auto innermost = [&](int) {
        ++done;
        return 0;
    };
    const auto inner = [&](int) { return loop(0, 5, innermost); };
    for (int round = 0; round < 50; round++)
        EXPECT_EQ(loop(0, 4, [&](int) { return loop(0, 3, inner); }), 0);
    EXPECT_EQ(done, 50 * 4 * 3 * 5);
}

TEST_P(WorkerPool, ServesSeveralCallers) {
    std::atomic<int> done = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; caller++)
        callers.emplace_back([&] {
            for (int round = 0; round < 200; round++)
                loop(0, 8, [&](int) {
                    ++done;
                    return 0;
                });
        });
    for (std::thread &caller : callers) caller.join();
    EXPECT_EQ(done, 4 * 200 * 8);
}

TEST_P(WorkerPool, ReturnsTheStatusOfATaskThatFails) {
    std::atomic<int> done = 0;
    const auto inner = [&](int i) {
        ++done;
        return i == 3 ? -7 : 0;
    };
    EXPECT_EQ(loop(0, 100000, inner), -7);
    EXPECT_LT(done, 100000);
    EXPECT_EQ(loop(0, 2, [&](int) { return loop(0, 5, inner); }), -7);
}

TEST_P(WorkerPool, StartsAgainAfterAStop) {
    for (int round = 0; round < 10; round++) {
        std::atomic<int> done = 0;
        loop(0, 20, [&](int) {
            ++done;
            return 0;
        });
        EXPECT_EQ(done, 20);
        stop_workers();
    }
    stop_workers();
}

INSTANTIATE_TEST_SUITE_P(Threads, WorkerPool, testing::Values(1, 2, 5));

TEST(WorkerPoolThreads, AreAsManyAsAreSet) {
    for (const int threads : {3, 2, 4}) {
        const int before = halide_set_num_threads(threads);
        std::atomic<int> arrived = 0;
        std::vector<std::thread::id> ids(threads);
        // Each waits for all others: none has two tasks.
        loop(0, threads, [&](int i) {
            ids[i] = std::this_thread::get_id();
            for (++arrived; arrived < threads;) std::this_thread::yield();
            return 0;
        });
        EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), static_cast<size_t>(threads));
        halide_set_num_threads(before);
    }
}

}  // namespace
}  // namespace hk::detail
