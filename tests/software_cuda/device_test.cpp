// Devices, contexts, errors of the software device.

#include <thread>

#include "tests/software_cuda/driver.h"

namespace software_cuda::tests {
namespace {

using Devices = DriverTest;
using Contexts = DriverTest;

int attribute(int number, CUdevice device) {
    int value = -1;
    EXPECT_EQ(cuDeviceGetAttribute(&value, number, device), CUDA_SUCCESS) << number;
    return value;
}

TEST(BeforeInitDeathTest, NothingWorks) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto told = [] {
        control().set("REPORT", "off");
        int value = 0;
        CUdeviceptr address = 0;
        const char *name = nullptr;
        const bool right = cuDeviceGetCount(&value) == CUDA_ERROR_NOT_INITIALIZED &&
                           cuMemAlloc_v2(&address, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                           cuInit(1) == CUDA_ERROR_INVALID_VALUE &&
                           cuDriverGetVersion(&value) == CUDA_SUCCESS &&
                           cuGetErrorName(3, &name) == CUDA_SUCCESS && cuInit(0) == CUDA_SUCCESS;
        std::_Exit(right ? 0 : 1);
    };
    EXPECT_EXIT(told(), testing::ExitedWithCode(0), "");
}

TEST(BeforeInitDeathTest, ABadVariableIsNamed) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto told = [](const char *name, const char *value) {
        unsetenv("SOFTWARE_CUDA_REPORT");
        setenv(name, value, 1);
        std::_Exit(cuInit(0));
    };
    EXPECT_EXIT(told("SOFTWARE_CUDA_CHIP", "sm_80,sm_1"), testing::ExitedWithCode(1),
                "SOFTWARE_CUDA_CHIP=sm_80,sm_1 is not a list of these: .*sm_80");
    EXPECT_EXIT(told("SOFTWARE_CUDA_ORDER", "ascending:3"), testing::ExitedWithCode(1),
                "has a seed and is not random");
    EXPECT_EXIT(told("SOFTWARE_CUDA_LANES", "8"), testing::ExitedWithCode(1),
                "is not one of: 1, 16, 32");
    EXPECT_EXIT(told("SOFTWARE_CUDA_MEMORY", "12GB"), testing::ExitedWithCode(1),
                "is not a number from 1 to");
    EXPECT_EXIT(told("SOFTWARE_CUDA_DEVICES", "0"), testing::ExitedWithCode(100),
                "CUDA_ERROR_NO_DEVICE");
}

TEST_F(Devices, AreAsTheChipSays) {
    int count = 0;
    EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
    ASSERT_EQ(count, 2);
    char name[16];
    EXPECT_EQ(cuDeviceGetName(name, sizeof name, 1), CUDA_SUCCESS);
    EXPECT_STREQ(name, "software sm_90");
    EXPECT_EQ(cuDeviceGetName(name, 5, 1), CUDA_SUCCESS);
    EXPECT_STREQ(name, "soft");
    int major, minor;
    EXPECT_EQ(cuDeviceComputeCapability(&major, &minor, 1), CUDA_SUCCESS);
    EXPECT_EQ(10 * major + minor, 90);
    EXPECT_EQ(attribute(1, 0), 1024);
    EXPECT_EQ(attribute(8, 0), 49152);
    EXPECT_EQ(attribute(97, 0), 166912);
    EXPECT_EQ(attribute(97, 1), 232448);
    EXPECT_EQ(attribute(16, 1), 132);
    EXPECT_EQ(attribute(95, 0), 0) << "cooperative launches";
    size_t bytes;
    EXPECT_EQ(cuDeviceTotalMem_v2(&bytes, 1), CUDA_SUCCESS);
    EXPECT_EQ(bytes, size_t{80} << 30);
    unsigned bytes_of_old;
    EXPECT_EQ(cuDeviceTotalMem(&bytes_of_old, 1), CUDA_SUCCESS);
    EXPECT_EQ(bytes_of_old, UINT32_MAX);
}

TEST_F(Devices, BadQuestions) {
    int value;
    EXPECT_EQ(cuDeviceGet(&value, 2), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(cuDeviceGet(&value, -1), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuDeviceGetAttribute(&value, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuDeviceGetAttribute(&value, 100000, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuDeviceGetAttribute(&value, 1, 7), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(cuDeviceGetName(nullptr, 5, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuCtxCreate_v2(nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
    CUcontext context;
    EXPECT_EQ(cuCtxCreate_v2(&context, 0, 2), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(cuCtxCreate_v2(&context, 0x10000, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Devices, ErrorsHaveNames) {
    const char *text;
    EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    EXPECT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, "out of memory");
    EXPECT_EQ(cuGetErrorName(12345, &text), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(text, nullptr);
    EXPECT_EQ(cuGetErrorName(0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Devices, FunctionsAreFoundByName) {
    void *function = nullptr;
    EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &function, 12040, 0), CUDA_SUCCESS);
    EXPECT_EQ(function, reinterpret_cast<void *>(cuMemAlloc_v2));
    EXPECT_EQ(cuGetProcAddress("cuEventQuery", &function, 12040, 0), CUDA_SUCCESS);
    EXPECT_EQ(function, reinterpret_cast<void *>(cuEventQuery));
    int found = 0;
    EXPECT_EQ(cuGetProcAddress_v2("cuTexRefCreate", &function, 12040, 0, &found),
              CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(found, 1);
    EXPECT_EQ(cuGetProcAddress("malloc", &function, 12040, 0), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Contexts, AreAStackOfTheThread) {
    CUcontext second, current;
    ASSERT_EQ(cuCtxCreate_v2(&second, 0, 1), CUDA_SUCCESS);
    CUdevice device;
    EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
    EXPECT_EQ(device, 1);
    EXPECT_EQ(cuCtxPushCurrent_v2(context_), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
    EXPECT_EQ(device, 0);
    std::thread([] {
        CUcontext none = &none;
        EXPECT_EQ(cuCtxGetCurrent(&none), CUDA_SUCCESS);
        EXPECT_EQ(none, nullptr);
        CUdevice device;
        EXPECT_EQ(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
        CUdeviceptr address;
        EXPECT_EQ(cuMemAlloc_v2(&address, 4), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_EQ(cuCtxPopCurrent_v2(&none), CUDA_ERROR_INVALID_CONTEXT);
    }).join();
    EXPECT_EQ(cuCtxPopCurrent_v2(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, context_);
    EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxDestroy_v2(second), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, context_) << "in the place of the destroyed one";
    EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
}

TEST_F(Contexts, ADestroyedOneIsOfNoUse) {
    CUcontext second;
    ASSERT_EQ(cuCtxCreate_v2(&second, 0, 1), CUDA_SUCCESS);
    const CUstream left = stream();
    std::thread([&] { EXPECT_EQ(cuCtxDestroy_v2(second), CUDA_SUCCESS); }).join();
    CUdeviceptr address;
    EXPECT_EQ(cuMemAlloc_v2(&address, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_EQ(cuStreamSynchronize(left), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuCtxDestroy_v2(second), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_EQ(cuCtxPushCurrent_v2(second), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
}

TEST_F(Contexts, PrimaryOnesAreCounted) {
    CUcontext first, again;
    unsigned flags;
    int active = -1;
    EXPECT_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), CUDA_SUCCESS);
    EXPECT_EQ(active, 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&first, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&again, 1), CUDA_SUCCESS);
    EXPECT_EQ(first, again);
    EXPECT_EQ(cuCtxDestroy_v2(first), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxGetState(1, &flags, &active), CUDA_SUCCESS);
    EXPECT_EQ(active, 1);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPushCurrent_v2(first), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_F(Contexts, UnknownHandlesAreRefused) {
    int object = 0;
    EXPECT_EQ(cuCtxPushCurrent_v2(&object), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPushCurrent_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxDestroy_v2(&object), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuStreamSynchronize(&object), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuStreamDestroy_v2(&object), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuStreamDestroy_v2(nullptr), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuEventRecord(&object, nullptr), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuEventDestroy_v2(&object), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuModuleUnload(&object), CUDA_ERROR_INVALID_HANDLE);
    CUfunction function;
    EXPECT_EQ(cuModuleGetFunction(&function, &object, "fill"), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuLaunchKernel(&object, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace

}  // namespace software_cuda::tests
