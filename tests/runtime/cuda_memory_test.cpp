// The pool of a CUDA device, on the software device's driver: who waits for whom.

#include <gtest/gtest.h>

#include <algorithm>

#include "HalideRuntimeCuda.h"
#include "expect_error.h"
#include "hk/memory.h"
#include "kernel_call.h"
#include "memory/pool.h"
#include "software_cuda/driver/functions.h"
#include "software_driver.h"
#include "storage.h"
#include "tests/support/environment.h"
#include "tests/support/failing_new.h"

namespace hk {
namespace {

using detail::CallContext;
using detail::OperationCall;
using tests::driver;
using tests::kCuda;
using tests::Operation;

const char kRecorded[] = "cuEventRecord", kWaited[] = "cuStreamWaitEvent";
constexpr int kNotReady = 600;

class CudaMemory : public ::testing::Test {
protected:
    void SetUp() override {
        MemoryPool::of(kCuda).set_caching(true);
        MemoryPool::of(kCuda).reset_peaks();
        primary_ = tests::primary_context();
        software_cuda::cuCtxPushCurrent_v2(primary_);
        for (void **stream : {&a_, &b_}) software_cuda::cuStreamCreate(stream, 0);
        software_cuda::cuCtxPopCurrent_v2(nullptr);
        tests::begin_driver_test();
        tests::fail("cuEventQuery", kNotReady);
    }

    void TearDown() override {
        driver().clear_faults();
        for (void *stream : {a_, b_}) software_cuda::cuStreamDestroy_v2(stream);
        MemoryPool::of(kCuda).set_caching(false);
        EXPECT_EQ(tests::allocated(), 0u);
        EXPECT_FALSE(tests::has_current_context());
        EXPECT_EQ(live_events(), 0u);
    }

    Stream a() { return {primary_, a_}; }
    Stream b() { return {primary_, b_}; }

    static void use(const Tensor &tensor, const Stream &stream) {
        const detail::Operand operand[] = {{"tensor", tensor}};
        OperationCall call("test", kCuda, operand, stream);
    }

    static void *memory_of(const Tensor &tensor) { return Tensor::Access::storage(tensor).memory; }

    static Tensor tensor() { return Tensor({1000}, DataType::f32, kCuda); }

    static size_t steps(const char *kind, void *stream) {
        return static_cast<size_t>(std::ranges::count(
            tests::operations(kind), stream, [](const Operation &step) { return step.stream; }));
    }

    // Events that were recorded, and waited for by what is queued afterwards, in order.
    static std::vector<Operation> event_steps() {
        std::vector<Operation> all(driver().operations(nullptr, 0));
        driver().operations(all.data(), all.size());
        std::erase_if(all, [](const Operation &o) { return o.event == nullptr; });
        return all;
    }

    static uint64_t live_events() { return driver().alive(SOFTWARE_CUDA_EVENTS); }

    void *primary_ = nullptr, *a_ = nullptr, *b_ = nullptr;
};

TEST_F(CudaMemory, BlocksShareAPieceAndComeBack) {
    {
        const Tensor x = tensor(), y = tensor();
        EXPECT_EQ(tests::allocated(), 1u);
        EXPECT_NE(memory_of(x), memory_of(y));
    }
    const MemoryStatistics now = MemoryPool::of(kCuda).statistics();
    EXPECT_EQ(now.reserved, 2 << 20);
    EXPECT_EQ(now.largest_free, 2 << 20);
    EXPECT_EQ(now.blocks, 0);
    for (int i = 0; i < 100; i++) tensor();
    EXPECT_EQ(driver().calls("cuMemAlloc"), 1u);
    EXPECT_EQ(driver().calls("cuMemFree"), 0u);
    MemoryPool::of(kCuda).trim();
    EXPECT_EQ(driver().calls("cuMemFree"), 1u);
}

// Memory of a tensor that goes while a caller's queue still uses it.
TEST_F(CudaMemory, AnotherQueueWaitsForTheEvent) {
    void *memory;
    {
        const Tensor x = tensor();
        memory = memory_of(x);
        use(x, a());
        ASSERT_EQ(event_steps().size(), 1u);
        EXPECT_STREQ(event_steps()[0].function, kRecorded);
        EXPECT_EQ(event_steps()[0].stream, a_);
    }
    const Tensor y = tensor();
    ASSERT_EQ(memory_of(y), memory);
    use(y, b());
    const std::vector<Operation> events = event_steps();
    EXPECT_STREQ(events[1].function, kRecorded) << "the library's own queue, marked only now";
    EXPECT_EQ(events[1].stream, nullptr);
    const auto waits_for_first = [&](const Operation &step) {
        return step.function == std::string_view(kWaited) && step.event == events[0].event &&
               step.stream == b_ && step.context == primary_;
    };
    EXPECT_TRUE(std::ranges::any_of(events, waits_for_first));
    EXPECT_EQ(steps(kWaited, b_), 2u);
}

TEST_F(CudaMemory, TheLibrarysQueueWaitsToo) {
    { use(tensor(), a()); }
    const Tensor y = tensor();
    use(y, {});
    EXPECT_EQ(steps(kWaited, nullptr), 1u);
    EXPECT_EQ(steps(kRecorded, nullptr), 0u);
    y.fill_zero();
    EXPECT_EQ(steps(kWaited, nullptr), 2u) << "copies and fills as well";
}

TEST_F(CudaMemory, TheSameQueueGoesOnAtOnce) {
    for (int i = 0; i < 5; i++) use(tensor(), {});
    EXPECT_TRUE(event_steps().empty()) << "nothing to mark on the library's own queue";
    for (int i = 0; i < 5; i++) use(tensor(), a());
    EXPECT_EQ(steps(kWaited, a_), 5u) << "for the library's own queue alone";
    EXPECT_EQ(steps(kRecorded, nullptr), 5u);
    EXPECT_EQ(driver().calls("cuMemAlloc"), 1u);
}

TEST_F(CudaMemory, EventsThatHavePassedAreForgotten) {
    { use(tensor(), a()); }
    const std::vector<Operation> marked = event_steps();
    driver().clear_faults();
    software_cuda::cuStreamSynchronize(a_);
    use(tensor(), b());
    for (const Operation &step : tests::operations(kWaited)) {
        for (const Operation &passed : marked)
            EXPECT_FALSE(step.stream == b_ && passed.stream == a_ && step.event == passed.event);
    }
    EXPECT_LE(live_events(), 3u) << "of a block at most one a queue";
}

TEST_F(CudaMemory, UsesOfSeveralQueuesAreAllWaitedFor) {
    {
        const Tensor x = tensor();
        for (int i = 0; i < 3; i++) {
            use(x, a());
            use(x.slice(0, 2, 5), b());
        }
    }
    use(tensor(), {});
    EXPECT_EQ(steps(kWaited, nullptr), 2u) << "the last event of each";
}

TEST_F(CudaMemory, AQueueThatCantBeMarkedIsWaitedFor) {
    tests::fail("cuEventRecord", 700);
    use(tensor(), a());
    EXPECT_EQ(driver().calls("cuStreamSynchronize"), 1u);
    EXPECT_EQ(steps("cuStreamSynchronize", a_), 1u);
}

// What kernels allocate for themselves is of the call's queue.
TEST_F(CudaMemory, OfHalidesOwnAllocations) {
    halide_dimension_t dim{0, 5000, 1, 0};
    const auto allocate = [&](CallContext &call, halide_buffer_t &buffer) {
        buffer = {};
        buffer.type = {halide_type_float, 32};
        buffer.dimensions = 1;
        buffer.dim = &dim;
        return halide_device_malloc(&call, &buffer, halide_cuda_device_interface());
    };
    CallContext on_a(kCuda, a()), on_b(kCuda, b());
    on_a.label = "a kernel";
    halide_buffer_t x, y;
    ASSERT_EQ(allocate(on_a, x), 0);
    const uint64_t memory = x.device;
    bool found = false;
    detail::memory_pool(kCuda).each_in_use([&](const detail::Block &block) {
        found |= reinterpret_cast<uint64_t>(block.memory) == memory && block.label == on_a.label;
    });
    EXPECT_TRUE(found);
    ASSERT_EQ(halide_device_free(&on_a, &x), 0);
    EXPECT_EQ(driver().calls("cuMemAlloc"), 1u);
    driver().clear();
    ASSERT_EQ(allocate(on_a, y), 0);
    EXPECT_EQ(y.device, memory);
    EXPECT_EQ(steps(kWaited, a_), 1u) << "for the library's own queue";
    ASSERT_EQ(halide_device_free(&on_a, &y), 0);
    ASSERT_EQ(allocate(on_b, x), 0);
    EXPECT_EQ(x.device, memory);
    EXPECT_GE(steps(kWaited, b_), 1u);
    ASSERT_EQ(halide_device_free(&on_b, &x), 0);
    EXPECT_EQ(driver().calls("cuMemAlloc"), 0u);
}

// In a context of the caller's own there is a pool of its own, which goes when it is forgotten.
TEST_F(CudaMemory, OfACallersContext) {
    const tests::Queue queue;
    CallContext call(kCuda, queue.stream());
    halide_dimension_t dim{0, 5000, 1, 0};
    halide_buffer_t x{};
    x.type = {halide_type_float, 32};
    x.dimensions = 1;
    x.dim = &dim;
    MemoryPool::Impl &pool = detail::memory_pool(kCuda, queue.context());
    EXPECT_NE(&pool, &detail::memory_pool(kCuda));
    pool.set_caching(true);
    ASSERT_EQ(halide_device_malloc(&call, &x, halide_cuda_device_interface()), 0);
    EXPECT_EQ(pool.statistics().blocks, 1);
    ASSERT_EQ(halide_device_free(&call, &x), 0);
    EXPECT_EQ(steps(kRecorded, nullptr), 0u);
    EXPECT_EQ(tests::allocated(), 1u);
    kCuda.forget(queue.context());
    EXPECT_EQ(tests::allocated(), 0u);
}

// Where there is no memory for a pool there is none, rather than one that the environment does not
// say.
TEST_F(CudaMemory, PoolsAreAsTheEnvironmentSays) {
    const test::Environment off("HK_MEMORY_POOL", "off");
    bool failed = true;
    for (int n = 0; failed; n++) {
        ASSERT_LT(n, 100);
        const tests::Queue queue;
        {
            const tests::FailingNew failing(n);
            try {
                detail::memory_pool(kCuda, queue.context());
            } catch (const std::bad_alloc &) {
            }
            failed = failing.failed();
        }
        CallContext call(kCuda, queue.stream());
        halide_dimension_t dim{0, 5000, 1, 0};
        halide_buffer_t x{};
        x.type = {halide_type_float, 32};
        x.dimensions = 1;
        x.dim = &dim;
        ASSERT_EQ(halide_device_malloc(&call, &x, halide_cuda_device_interface()), 0);
        ASSERT_EQ(halide_device_free(&call, &x), 0);
        EXPECT_EQ(tests::allocated(), 0u) << n;
    }
}

TEST_F(CudaMemory, TheCacheGoesBackBeforeOutOfMemory) {
    { const Tensor x({10 << 20}, DataType::u8, kCuda); }
    EXPECT_EQ(tests::allocated(), 1u);
    tests::fail("cuMemAlloc", 2);
    EXPECT_ERROR(OutOfMemory,
                 "cuda:1: no memory left: asked for 20971520 bytes; 0 in use, 0 cached",
                 Tensor({20 << 20}, DataType::u8, kCuda));
    EXPECT_EQ(driver().calls("cuMemAlloc"), 3u);
    EXPECT_EQ(tests::allocated(), 0u);
    tests::fail("cuMemAlloc", 700);
    EXPECT_ERROR(DeviceError, "cuMemAlloc failed: CUDA_ERROR_ILLEGAL_ADDRESS", tensor());
    driver().clear_faults();
    tensor();
}

TEST_F(CudaMemory, LimitsHold) {
    MemoryPool::of(kCuda).set_limit(4 << 20);
    const Tensor x = tensor();
    EXPECT_ERROR(OutOfMemory, "the limit is 4194304", Tensor({3 << 20}, DataType::u8, kCuda));
    const Tensor y({1 << 20}, DataType::u8, kCuda);
    MemoryPool::of(kCuda).set_limit(INT64_MAX);
    EXPECT_ERROR(InvalidArgument, "while 2 blocks are in use",
                 MemoryPool::of(kCuda).set_caching(false));
}

}  // namespace
}  // namespace hk
