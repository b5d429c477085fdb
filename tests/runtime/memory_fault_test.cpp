// No memory for the bookkeeping of pools, traces and reports, at each allocation in turn.

#include <gtest/gtest.h>

#include "HalideRuntimeOpenCL.h"
#include "hk/error.h"
#include "hk/memory_trace.h"
#include "hk/tensor.h"
#include "kernel_call.h"
#include "memory/pool.h"
#include "rethrow.h"
#include "tests/support/failing_new.h"

namespace hk::detail {
namespace {

using tests::FailingNew;

// f() with the first allocation failing, then with the second, until it makes no more; then the
// same with all that follow failing too. Only OutOfMemory leaves it.
template<typename F, typename After>
void with_failing_new(F &&f, After &&after) {
    for (const bool forever : {false, true}) {
        bool failed = true;
        for (int n = 0; failed; n++) {
            ASSERT_LT(n, 10000);
            {
                const FailingNew failing(n, forever);
                try {
                    f();
                } catch (const OutOfMemory &) {
                } catch (const std::exception &error) {
                    ADD_FAILURE() << n << ": another exception";
                }
                failed = failing.failed();
            }
            after();
            if (testing::Test::HasFailure()) return;
        }
    }
}

const Shape kShape = {100};

TEST(MemoryFaults, OfATraceLeaveNothingBehind) {
    const Tensor in_use(kShape, DataType::f32);
    with_failing_new(
        [] {
            const MemoryTrace trace;
            memory_mark("a mark that is longer than what lies in a string itself");
            (void)trace.json();
        },
        [] {
            EXPECT_EQ(memory_observer(), nullptr);
            Tensor(kShape, DataType::f32);
        });
}

TEST(MemoryFaults, OfASnapshot) {
    const MemoryLabel label("a label that is longer than what lies in a string itself");
    const Tensor in_use(kShape, DataType::f32);
    with_failing_new([] { (void)memory_snapshot(); }, [] {});
}

TEST(MemoryFaults, OfSettings) {
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    with_failing_new([&] { pool.set_caching(false); }, [&] { pool.set_caching(true); });
}

// Where there is no memory to describe the parts of a free block it stays whole. How much there is
// depends on the blocks before.
TEST(MemoryFaults, OfTrimsDivideNothing) {
    bool stayed = false;
    for (int before = 0; before < 8; before++) {
        MemoryPool::Impl pool(Device::cpu(), "pool", [](bool) { return host_upstream(); });
        std::vector<Block *> blocks;
        for (int i = 0; i < before; i++) blocks.push_back(pool.allocate(100, ""));
        blocks.push_back(pool.allocate(10000, ""));
        Block *large = pool.allocate(300000, "");
        blocks.push_back(pool.allocate(10000, ""));
        {
            const FailingNew failing(0, true);
            pool.free(large);
            pool.trim(0);
        }
        for (Block *block : blocks) pool.free(block);
        const MemoryStatistics now = pool.statistics();
        EXPECT_EQ(now.cached, now.reserved);
        if (now.upstream_releases == 0) {
            EXPECT_EQ(now.largest_free, now.cached) << before;
            stayed = true;
        }
        pool.trim(0);
        EXPECT_EQ(pool.statistics().reserved, 0) << before;
    }
    EXPECT_TRUE(stayed);
}

// What a kernel allocates for itself on a device.
TEST(MemoryFaults, OfOpenClMemoryAreExhaustedMemory) {
    const Device device = Device::opencl();
    if (!device.available()) GTEST_SKIP();
    { const Tensor first(kShape, DataType::f32, device); }
    KernelInfo kernel{};
    kernel.name = "some_kernel";
    with_failing_new(
        [&] {
            CallContext call(device, backend(device.type())->own_stream(0));
            halide_dimension_t dim{0, 5000, 1, 0};
            halide_buffer_t x{};
            x.type = {halide_type_float, 32};
            x.dimensions = 1;
            x.dim = &dim;
            const int status = halide_device_malloc(&call, &x, halide_opencl_device_interface());
            try {
                if (status) throw_failure("test", kernel, device, status, call.message());
            } catch (...) {
                rethrow_as_error("test");
            }
            halide_device_free(&call, &x);
        },
        [&] { EXPECT_EQ(MemoryPool::of(device).statistics().in_use, 0); });
}

}  // namespace
}  // namespace hk::detail
