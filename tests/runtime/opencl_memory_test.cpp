// The pool of an OpenCL device, with real queues.

#include <gtest/gtest.h>

#include <thread>

#include "hk/error.h"
#include "hk/memory.h"
#include "kernel_call.h"
#include "memory/pool.h"
#include "opencl_driver.h"
#include "storage.h"

namespace hk {
namespace {

const Device kDevice = Device::opencl(0);

class OpenClMemory : public ::testing::Test {
protected:
    void SetUp() override {
        if (!kDevice.available()) GTEST_SKIP() << "no OpenCL device";
        own_ = detail::backend(DeviceType::opencl)->own_stream(0);
        MemoryPool::of(kDevice).trim();
    }

    template<typename F>
    static F function(const char *name) {
        return reinterpret_cast<F>(detail::opencl_symbol(name));
    }

    Stream own_;
};

#define CL(name) function<decltype(&name)>(#name)

TEST_F(OpenClMemory, BuffersComeBack) {
    { const Tensor x({1000}, DataType::f32, kDevice); }
    const int64_t before = MemoryPool::of(kDevice).statistics().upstream_allocations;
    for (int i = 0; i < 20; i++) {
        const Tensor x({990 + i % 10}, DataType::f32, kDevice);
        x.fill_zero();
    }
    EXPECT_EQ(MemoryPool::of(kDevice).statistics().upstream_allocations, before);
    MemoryPool::of(kDevice).trim();
    EXPECT_EQ(MemoryPool::of(kDevice).statistics().reserved, 0);
}

// A queue of the caller's is held up; its command writes a tensor that has gone since. The next
// owner of the memory writes it on the library's queue: that must come last.
TEST_F(OpenClMemory, TheNextOwnerComesAfterAQueueThatIsHeldUp) {
    cl_int status;
    const auto context = static_cast<cl_context>(own_.context);
    cl_device_id id = nullptr;
    ASSERT_EQ(CL(clGetContextInfo)(context, CL_CONTEXT_DEVICES, sizeof id, &id, nullptr),
              CL_SUCCESS);
    cl_command_queue queue = CL(clCreateCommandQueue)(context, id, 0, &status);
    ASSERT_EQ(status, CL_SUCCESS);
    cl_event gate = CL(clCreateUserEvent)(context, &status);
    ASSERT_EQ(status, CL_SUCCESS);

    const void *memory = nullptr;
    {
        const Tensor x({1000}, DataType::u8, kDevice);
        memory = Tensor::Access::storage(x).memory;
        const detail::Operand operand[] = {{"x", x}};
        detail::OperationCall call("test", kDevice, operand, {own_.context, queue});
        const char pattern = 77;
        ASSERT_EQ(
            CL(clEnqueueFillBuffer)(queue, static_cast<cl_mem>(Tensor::Access::storage(x).memory),
                                    &pattern, 1, 0, 1000, 1, &gate, nullptr),
            CL_SUCCESS);
    }
    const Tensor y({1000}, DataType::u8, kDevice);
    ASSERT_EQ(Tensor::Access::storage(y).memory, memory);
    std::thread opener([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        CL(clSetUserEventStatus)(gate, CL_COMPLETE);
    });
    y.fill_zero();
    const Tensor host = y.to(Device::cpu());
    opener.join();
    ASSERT_EQ(CL(clFinish)(queue), CL_SUCCESS);
    const Tensor again = y.to(Device::cpu());
    for (int i = 0; i < 1000; i++) {
        ASSERT_EQ(host.data<uint8_t>()[i], 0) << i;
        ASSERT_EQ(again.data<uint8_t>()[i], 0) << i << ", the earlier owner's work came later";
    }
    CL(clReleaseEvent)(gate);
    CL(clReleaseCommandQueue)(queue);
}

TEST_F(OpenClMemory, LimitsAreToldWithTheirFigures) {
    const MemoryPool pool = MemoryPool::of(kDevice);
    pool.set_limit(1 << 20);
    try {
        const Tensor x({2 << 20}, DataType::u8, kDevice);
        ADD_FAILURE() << "beyond the limit";
    } catch (const OutOfMemory &error) {
        EXPECT_NE(std::string(error.what()).find("asked for 2097152 bytes"), std::string::npos);
    }
    pool.set_limit(INT64_MAX);
}

}  // namespace
}  // namespace hk
