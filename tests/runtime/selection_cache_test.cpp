// What is kept of selection, and what is told about it, on the first OpenCL device.

#include "selection_cache.h"

#include "expect_error.h"
#include "tests/support/environment.h"

namespace hk {
namespace {

using detail::SelectionCache;
using test::Environment;

KernelInfo row(const char *name, int shared_bytes, std::span<const Constraint> where = {}) {
    KernelInfo kernel{};
    kernel.name = kernel.row = name;
    kernel.type = DataType::f32;
    kernel.layout = Layout::nhwc;
    kernel.device = DeviceType::opencl;
    kernel.where = where;
    kernel.resources = {.shared_dynamic = shared_bytes, .threads = 1};
    return kernel;
}

class Cache : public ::testing::Test {
protected:
    // The row of a problem with one field, "size"; what was printed meanwhile is in `printed`.
    const char *row_of(int64_t size, Device device = Device::opencl()) {
        ::testing::internal::CaptureStderr();
        const KernelInfo &kernel = cache.find(
            {size}, device,
            [&](const DeviceLimits &limits, bool explain) {
                selections++;
                return select(
                    kernels, DataType::f32, Layout::nhwc, device.type(), limits,
                    [&](std::string_view) { return size; }, explain);
            },
            [&] { return "size " + std::to_string(size); });
        printed = ::testing::internal::GetCapturedStderr();
        return kernel.row;
    }

    const Constraint even[1] = {{"size", Constraint::Relation::multiple_of, 2}};
    std::vector<KernelInfo> kernels{row("large", 12000, even), row("small", 2000, even),
                                    row("none", 0, even)};
    SelectionCache cache{"test", kernels};
    int selections = 0;
    std::string printed;
};

TEST_F(Cache, SelectsOnceAProblem) {
    EXPECT_STREQ(row_of(2), "large");
    EXPECT_STREQ(row_of(2), "large");
    EXPECT_EQ(selections, 1);
    EXPECT_STREQ(row_of(4), "large");
    EXPECT_EQ(selections, 2);
    EXPECT_EQ(printed, "");
}

TEST_F(Cache, TellsOfAFallbackOnceAProblem) {
    const Environment limit("HK_SHARED_LIMIT", "2000");
    const std::string warning =
        "hk warn: test on opencl:0: row large needs 12000 bytes of shared memory, the device has "
        "2000; taking small: size ";
    EXPECT_STREQ(row_of(2), "small");
    EXPECT_EQ(printed, warning + "2\n");
    EXPECT_STREQ(row_of(2), "small");
    EXPECT_EQ(printed, "");
    EXPECT_STREQ(row_of(4), "small");
    EXPECT_EQ(printed, warning + "4\n");
}

TEST_F(Cache, SelectsAgainUnderAnotherLimit) {
    EXPECT_STREQ(row_of(2), "large");
    {
        const Environment limit("HK_SHARED_LIMIT", "1999");
        EXPECT_STREQ(row_of(2), "none");
        EXPECT_TRUE(tests::has(printed, "the device has 1999; taking none"));
    }
    EXPECT_STREQ(row_of(2), "large");
    EXPECT_EQ(selections, 2);
    const Environment bad("HK_SHARED_LIMIT", "48K");
    EXPECT_INVALID("HK_SHARED_LIMIT is \"48K\"", row_of(2));
    ::testing::internal::GetCapturedStderr();
}

TEST_F(Cache, WarnsUnlessLogIsOff) {
    const Environment limit("HK_SHARED_LIMIT", "0");
    {
        const Environment log("HK_LOG", "off");
        row_of(2);
        EXPECT_EQ(printed, "");
    }
    const Environment log("HK_LOG", "select");
    row_of(4);
    EXPECT_TRUE(tests::has(printed, "hk select: opencl:0 size 4: none\n"));
    EXPECT_TRUE(tests::has(printed, "hk select:   not small: it needs 2000 bytes"));
    EXPECT_TRUE(tests::has(printed, "hk warn: test on opencl:0: row large needs 12000"));
}

TEST_F(Cache, NoRow) {
    EXPECT_INVALID("test: no row takes the problem on opencl:0", row_of(3));
    ::testing::internal::GetCapturedStderr();
    EXPECT_INVALID("not small: size is 3, the row needs a multiple of 2", row_of(3));
    ::testing::internal::GetCapturedStderr();
    EXPECT_ERROR(DeviceError, "test: this library was built without kernels for cpu",
                 row_of(2, Device::cpu()));
    ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace hk
