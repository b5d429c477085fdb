// What a child process may do (hk/device.h).

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "HalideRuntime.h"
#include "hk/memory_trace.h"
#include "hk/tensor.h"

namespace hk {
namespace {

int count(void *, int, uint8_t *closure) {
    ++*reinterpret_cast<std::atomic<int> *>(closure);
    return 0;
}

// Whether a parallel loop runs each task once, on memory of the pool.
bool works() {
    const Tensor tensor = Tensor::zeros({1000}, DataType::f32);
    std::atomic<int> done{0};
    const int status =
        halide_do_par_for(nullptr, count, 0, 1000, reinterpret_cast<uint8_t *>(&done));
    return status == 0 && done == 1000 && tensor.data<float>()[999] == 0;
}

// Before the fork each round calls once, and shuts the pool down where it is asked to.
void fork_and_call(bool shuts_down) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer ends a child that starts a thread";
#endif
    const int before = halide_set_num_threads(4);
    const Tensor kept = Tensor::zeros({500}, DataType::f32);
    for (int round = 0; round < 20; round++) {
        ASSERT_TRUE(works());
        if (shuts_down) halide_shutdown_thread_pool();
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            alarm(20);  // a signal ends what hangs
            const bool well = works() && works() && !memory_snapshot().empty();
            halide_shutdown_thread_pool();  // as exit() does
            _exit(well ? 0 : 1);
        }
        ASSERT_TRUE(works());
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    halide_set_num_threads(before);
}

TEST(Fork, AChildMayCall) { fork_and_call(false); }

TEST(Fork, AChildMayCallAfterAShutdownOfThePool) { fork_and_call(true); }

}  // namespace
}  // namespace hk
