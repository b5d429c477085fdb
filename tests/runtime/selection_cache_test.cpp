// What is kept of selection, and what is told about it, on the first OpenCL device.

#include "selection_cache.h"

#include <limits>
#include <optional>
#include <stdexcept>

#include "expect_error.h"
#include "tests/support/environment.h"

namespace hk {
namespace {

using detail::Fields;
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
        Fields problem(DataType::f32, Layout::nhwc);
        problem.add("size", size);
        return row_of(problem, device);
    }

    const char *row_of(const Fields &problem, Device device = Device::opencl()) {
        ::testing::internal::CaptureStderr();
        const KernelInfo &kernel = cache_->find(
            problem, device, [&] { return "size " + std::to_string(problem["size"]); });
        printed = ::testing::internal::GetCapturedStderr();
        selections += printed.starts_with("hk select");
        return kernel.row;
    }

    const Constraint even[1] = {{"size", Constraint::Relation::multiple_of, 2}};
    std::vector<KernelInfo> kernels{row("large", 12000, even), row("small", 2000, even),
                                    row("none", 0, even)};
    std::optional<SelectionCache> cache_{std::in_place, "test", kernels};
    int selections = 0;
    std::string printed;
};

TEST_F(Cache, SelectsOnceAProblem) {
    const Environment log("HK_LOG", "select");
    EXPECT_STREQ(row_of(2), "large");
    EXPECT_STREQ(row_of(2), "large");
    EXPECT_EQ(selections, 1);
    EXPECT_STREQ(row_of(4), "large");
    EXPECT_EQ(selections, 2);
}

// Whatever a row may ask for is a problem's own.
TEST_F(Cache, KeepsApartWhatDiffersInAField) {
    const Constraint wide[] = {{"width", Constraint::Relation::at_least, 8}};
    kernels.insert(kernels.begin(), row("wide", 0, wide));
    kernels.push_back(row("f16", 0));
    kernels.back().type = DataType::f16;
    kernels.push_back(row("nchw", 0));
    kernels.back().layout = Layout::nchw;
    cache_.emplace("test", kernels);
    const auto row_of = [&](DataType type, Layout layout, int64_t width) {
        Fields problem(type, layout);
        problem.add("size", 2);
        problem.add("width", width);
        return Cache::row_of(problem);
    };
    EXPECT_STREQ(row_of(DataType::f32, Layout::nhwc, 7), "large");
    EXPECT_STREQ(row_of(DataType::f32, Layout::nhwc, 8), "wide");
    EXPECT_STREQ(row_of(DataType::f16, Layout::nhwc, 7), "f16");
    EXPECT_STREQ(row_of(DataType::f32, Layout::nchw, 7), "nchw");
    EXPECT_STREQ(row_of(DataType::f32, Layout::nhwc, 7), "large");
}

TEST(Fields, HaveTheirNames) {
    Fields problem(DataType::f32, Layout::any);
    problem.add("height", 3);
    problem.add("elements", __int128{1} << 80);
    EXPECT_EQ(problem["height"], 3);
    EXPECT_EQ(problem["elements"], std::numeric_limits<int64_t>::max());
    EXPECT_THROW(problem["width"], std::out_of_range);
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
    const Environment log("HK_LOG", "select");
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
