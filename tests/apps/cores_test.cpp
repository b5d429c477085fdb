#include "apps/bench/cores.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace hk::bench {
namespace {

cpu_set_t cores_of(int thread) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    EXPECT_EQ(sched_getaffinity(thread, sizeof cores, &cores), 0);
    return cores;
}

// A thread that does nothing.
class Sleeper {
public:
    Sleeper() {
        while (id_ == 0) std::this_thread::yield();
    }
    ~Sleeper() {
        ends_ = true;
        ends_.notify_all();
        thread_.join();
    }
    int id() const { return id_; }

private:
    std::atomic<int> id_ = 0;
    std::atomic<bool> ends_ = false;
    std::thread thread_{[this] {
        id_ = gettid();
        ends_.wait(false);
    }};
};

TEST(OneThreadPerCore, PlacesThreadsWhileItLives) {
    const cpu_set_t before = cores_of(0);
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one core";
    const Sleeper worker;
    {
        const OneThreadPerCore placed(2);
        const cpu_set_t caller = cores_of(0), other = cores_of(worker.id());
        EXPECT_EQ(CPU_COUNT(&caller), 1);
        EXPECT_EQ(CPU_COUNT(&other), 1);
        EXPECT_FALSE(CPU_EQUAL(&caller, &other));
    }
    const cpu_set_t after = cores_of(0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(OneThreadPerCore, LeavesOneThreadAndTooManyAlone) {
    const cpu_set_t before = cores_of(0);
    const Sleeper worker;
    for (const int threads : {1, CPU_COUNT(&before) + 1}) {
        const OneThreadPerCore placed(threads);
        const cpu_set_t caller = cores_of(0), other = cores_of(worker.id());
        EXPECT_TRUE(CPU_EQUAL(&before, &caller)) << threads;
        EXPECT_TRUE(CPU_EQUAL(&before, &other)) << threads;
    }
}

TEST(Cores, TheLastOne) {
    std::thread([] {
        const cpu_set_t before = cores_of(0);
        ASSERT_TRUE(stay_on_last_core());
        const cpu_set_t after = cores_of(0);
        int last = 0;
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &before)) last = i;
        EXPECT_EQ(CPU_COUNT(&after), 1);
        EXPECT_TRUE(CPU_ISSET(last, &after));
    }).join();
}

}  // namespace
}  // namespace hk::bench
