// Memory and copies of the software device.

#include <cstring>
#include <numeric>

#include "tests/software_cuda/driver.h"

namespace software_cuda::tests {
namespace {

using Memory = DriverTest;
using Words = std::vector<uint32_t>;

Words counted(size_t count) {
    Words values(count);
    std::iota(values.begin(), values.end(), 1u);
    return values;
}

TEST_F(Memory, ComesAndGoes) {
    size_t before, after, total;
    ASSERT_EQ(cuMemGetInfo_v2(&before, &total), CUDA_SUCCESS);
    const CUdeviceptr address = allocate(1000);
    ASSERT_EQ(cuMemGetInfo_v2(&after, &total), CUDA_SUCCESS);
    EXPECT_LE(after + 1000, before);
    CUdeviceptr base;
    size_t bytes;
    EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, address + 999), CUDA_SUCCESS);
    EXPECT_EQ(base, address);
    EXPECT_EQ(bytes, 1000u);
    EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, address + 1000), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
    EXPECT_EQ(cuMemGetInfo_v2(&after, &total), CUDA_SUCCESS);
    EXPECT_EQ(after, before);
}

TEST_F(Memory, BadAllocationsAndFrees) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemAlloc_v2(nullptr, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemAlloc_v2(&address, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemAlloc_v2(&address, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    address = allocate(100);
    EXPECT_EQ(cuMemFree_v2(address + 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree_v2(0), CUDA_SUCCESS);
    size_t pitch;
    EXPECT_EQ(cuMemAllocPitch_v2(&address, &pitch, SIZE_MAX, 2, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemAllocPitch_v2(&address, &pitch, 100, 2, 3), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMemAllocPitch_v2(&address, &pitch, 100, 2, 4), CUDA_SUCCESS);
    EXPECT_EQ(pitch, 512u);
    EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
}

TEST_F(Memory, CopiesOfBytes) {
    const Words in = counted(64);
    const CUdeviceptr a = allocate(256), b = allocate(256);
    EXPECT_EQ(cuMemcpyHtoD_v2(a, in.data(), 256), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoD_v2(b, a, 128), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpy(b + 128, a + 128, 128), CUDA_SUCCESS);
    EXPECT_EQ(words(b, 64), in);
    EXPECT_EQ(cuMemcpyHtoD_v2(a, nullptr, 0), CUDA_SUCCESS);
    Words out(64);
    EXPECT_EQ(cuMemcpy(reinterpret_cast<CUdeviceptr>(out.data()), b, 256), CUDA_SUCCESS);
    EXPECT_EQ(out, in);
    cuMemFree_v2(a);
    cuMemFree_v2(b);
}

// To the byte, and before anything is copied.
TEST_F(Memory, CopiesOutsideOfAnAllocationAreRefused) {
    Words host(64, 7);
    const CUdeviceptr a = allocate(100);
    EXPECT_EQ(cuMemcpyHtoD_v2(a, host.data(), 101), CUDA_ERROR_INVALID_VALUE);
    EXPECT_NE(last_line().find("cuMemcpyHtoD: CUDA_ERROR_INVALID_VALUE: destination: 101 bytes"),
              std::string::npos)
        << last_line();
    EXPECT_EQ(cuMemcpyHtoD_v2(a + 99, host.data(), 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyHtoD_v2(a - 1, host.data(), 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoH_v2(host.data(), a + 1, 100), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoH_v2(host.data(), a, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyHtoD_v2(reinterpret_cast<CUdeviceptr>(host.data()), host.data(), 4),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemsetD32_v2(a + 96, 0, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemsetD32_v2(a + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemsetD32_v2(a, 0, SIZE_MAX / 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree_v2(a), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH_v2(host.data(), a, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyHtoD_v2(a, reinterpret_cast<void *>(a), 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(host, Words(64, 7));
}

TEST_F(Memory, AFreedAddressIsNotTakenForTheHosts) {
    const CUdeviceptr a = allocate(100), b = allocate(100);
    cuMemFree_v2(a);
    EXPECT_EQ(cuMemcpyHtoD_v2(b, reinterpret_cast<void *>(a), 100), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoH_v2(reinterpret_cast<void *>(a), b, 100), CUDA_ERROR_INVALID_VALUE);
    cuMemFree_v2(b);
}

CUDA_MEMCPY2D rows_in(CUdeviceptr to, const Words &from) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = kHost;
    copy.srcHost = from.data();
    copy.srcPitch = 16;
    copy.dstMemoryType = kDevice;
    copy.dstDevice = to;
    copy.dstPitch = 20;
    copy.WidthInBytes = 8;
    copy.Height = 3;
    return copy;
}

TEST_F(Memory, CopiesOfRows) {
    const Words in = counted(12);
    const CUdeviceptr to = allocate(60);
    EXPECT_EQ(cuMemsetD8_v2(to, 0, 60), CUDA_SUCCESS);
    CUDA_MEMCPY2D copy = rows_in(to, in);
    copy.srcXInBytes = 4;
    copy.dstXInBytes = 8;
    EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_SUCCESS) << last_line();
    EXPECT_EQ(words(to, 15), (Words{0, 0, 2, 3, 0, 0, 0, 6, 7, 0, 0, 0, 10, 11, 0}));
    // Whose last row ends with the allocation.
    copy.dstY = 1;
    copy.Height = 2;
    EXPECT_EQ(cuMemcpy2DUnaligned_v2(&copy), CUDA_SUCCESS) << last_line();
    EXPECT_EQ(words(to, 15), (Words{0, 0, 2, 3, 0, 0, 0, 2, 3, 0, 0, 0, 6, 7, 0}));
    cuMemFree_v2(to);
}

TEST_F(Memory, BadCopiesOfRows) {
    const Words in = counted(12);
    const CUdeviceptr to = allocate(48);
    const auto status = [&](auto change) {
        CUDA_MEMCPY2D copy = rows_in(to, in);
        change(copy);
        return cuMemcpy2D_v2(&copy);
    };
    EXPECT_EQ(status([](auto &) {}), CUDA_SUCCESS);
    EXPECT_EQ(status([](auto &c) { c.dstXInBytes = 1; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(status([](auto &c) { c.dstPitch = 7; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(status([](auto &c) { c.srcPitch = 7; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(status([](auto &c) { c.dstPitch = SIZE_MAX / 2 + 5; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(status([](auto &c) { c.dstY = SIZE_MAX / 4; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(status([](auto &c) { c.dstMemoryType = static_cast<CUmemorytype>(9); }),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(status([](auto &c) { c.srcMemoryType = kArray; }), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(status([](auto &c) { c.srcHost = nullptr; }), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(status([](auto &c) { c.Height = 0; }), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpy2D_v2(nullptr), CUDA_ERROR_INVALID_VALUE);
    cuMemFree_v2(to);
}

TEST_F(Memory, CopiesOfPlanes) {
    const Words in = counted(24);  // 2 planes of 3 rows of 4
    const CUdeviceptr to = allocate(32);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = kHost;
    copy.srcHost = in.data();
    copy.srcPitch = 16;
    copy.srcHeight = 3;
    copy.srcXInBytes = 8;
    copy.srcY = 1;
    copy.dstMemoryType = kDevice;
    copy.dstDevice = to;
    copy.dstPitch = 8;
    copy.dstHeight = 2;
    copy.WidthInBytes = 8;
    copy.Height = 2;
    copy.Depth = 2;
    EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_SUCCESS) << last_line();
    EXPECT_EQ(words(to, 8), (Words{7, 8, 11, 12, 19, 20, 23, 24}));
    copy.dstZ = 1;
    EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
    copy.dstZ = 0;
    copy.dstHeight = 1;
    EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
    cuMemFree_v2(to);
}

TEST_F(Memory, Fills) {
    const CUdeviceptr to = allocate(32);
    EXPECT_EQ(cuMemsetD32_v2(to, 5, 8), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD16_v2(to, 0x0102, 2), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD2D8_v2(to + 8, 8, 0xff, 4, 2), CUDA_SUCCESS);
    EXPECT_EQ(words(to, 8), (Words{0x01020102, 5, 0xffffffff, 5, 0xffffffff, 5, 5, 5}));
    cuMemFree_v2(to);
}

TEST_F(Memory, BetweenDevices) {
    CUcontext second;
    ASSERT_EQ(cuCtxCreate_v2(&second, 0, 1), CUDA_SUCCESS);
    const CUdeviceptr there = allocate(64);
    int ordinal;
    EXPECT_EQ(cuPointerGetAttribute(&ordinal, 9, there), CUDA_SUCCESS);
    EXPECT_EQ(ordinal, 1);
    CUcontext owner;
    EXPECT_EQ(cuPointerGetAttribute(&owner, 1, there + 5), CUDA_SUCCESS);
    EXPECT_EQ(owner, second);
    EXPECT_EQ(cuPointerGetAttribute(&owner, 1, there + 64), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_SUCCESS);
    const CUdeviceptr here = allocate(64);
    const Words in = counted(16);
    EXPECT_EQ(cuMemcpyHtoD_v2(here, in.data(), 64), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyPeer(there, second, here, context_, 64), CUDA_SUCCESS);
    EXPECT_EQ(words(there, 16), in);
    cuMemFree_v2(here);
    EXPECT_EQ(cuCtxDestroy_v2(second), CUDA_SUCCESS);
    EXPECT_NE(last_line().find("leak: 64 bytes at 0x"), std::string::npos) << last_line();
}

// An asynchronous copy from memory that may be paged out takes what is there when it is called;
// from other memory, what is there when it is done.
TEST_F(Memory, HostMemoryOfAsynchronousCopies) {
    void *pinned;
    ASSERT_EQ(cuMemAllocHost_v2(&pinned, 4), CUDA_SUCCESS);
    const CUdeviceptr to = allocate(8);
    control().hold(0, 1);
    uint32_t paged = 1;
    std::memcpy(pinned, &paged, 4);
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(to, &paged, 4, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(to + 4, pinned, 4, nullptr), CUDA_SUCCESS);
    paged = 2;
    std::memcpy(pinned, &paged, 4);
    control().hold(0, 0);
    EXPECT_EQ(words(to, 2), (Words{1, 2}));
    cuMemFree_v2(to);
    EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace software_cuda::tests
