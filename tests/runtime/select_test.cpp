// Selection over tables written by hand.

#include <map>
#include <stdexcept>

#include "expect_error.h"
#include "hk/kernel_info.h"
#include "log.h"

namespace hk {
namespace {

using Relation = Constraint::Relation;

KernelInfo row(const char *name, DeviceType device, std::span<const Constraint> where,
               KernelResources resources = {}) {
    KernelInfo kernel{};
    kernel.name = kernel.row = name;
    kernel.family = "test";
    kernel.type = DataType::f32;
    kernel.layout = Layout::nhwc;
    kernel.device = device;
    kernel.where = where;
    kernel.resources = resources;
    return kernel;
}

const Constraint kThreeByThree[] = {{"kernel_w", Relation::equal, 3},
                                    {"kernel_h", Relation::equal, 3}};
const Constraint kAligned[] = {{"channels", Relation::multiple_of, 16},
                               {"out_w", Relation::at_least, 8},
                               {"groups", Relation::at_most, 1}};

class Select : public ::testing::Test {
protected:
    Selection select_on(DeviceType device, const DeviceLimits &limits = {},
                        bool explain = true) const {
        return select(
            kernels, DataType::f32, Layout::nhwc, device, limits,
            [this](std::string_view name) { return fields.at(std::string(name)); }, explain);
    }

    std::map<std::string, int64_t> fields{
        {"kernel_w", 3}, {"kernel_h", 3}, {"channels", 32}, {"out_w", 8}, {"groups", 1}};
    KernelResources heavy{
        .registers = 100, .shared_static = 0, .shared_dynamic = 49152, .threads = 256};
    KernelResources light{
        .registers = 32, .shared_static = 16, .shared_dynamic = 1024, .threads = 64};
    std::vector<KernelInfo> kernels{
        row("3x3", DeviceType::cpu, kThreeByThree), row("aligned", DeviceType::cpu, kAligned),
        row("any", DeviceType::cpu, {}), row("heavy", DeviceType::cuda, {}, heavy),
        row("light", DeviceType::cuda, {}, light)};
};

TEST_F(Select, TakesTheFirstThatFits) {
    EXPECT_STREQ(select_on(DeviceType::cpu).kernel->row, "3x3");
    fields["kernel_w"] = 5;
    EXPECT_STREQ(select_on(DeviceType::cpu).kernel->row, "aligned");
    fields["groups"] = 2;
    EXPECT_STREQ(select_on(DeviceType::cpu).kernel->row, "any");
}

TEST_F(Select, SaysWhyNot) {
    fields = {{"kernel_w", 5}, {"kernel_h", 3}, {"channels", 24}, {"out_w", 8}, {"groups", 1}};
    Selection selection = select_on(DeviceType::cpu);
    ASSERT_EQ(selection.rejected.size(), 2u);
    EXPECT_EQ(selection.rejected[0].reason, "kernel_w is 5, the row needs 3");
    EXPECT_EQ(selection.rejected[1].reason, "channels is 24, the row needs a multiple of 16");
    fields["channels"] = 16;
    fields["out_w"] = 7;
    EXPECT_EQ(select_on(DeviceType::cpu).rejected[1].reason,
              "out_w is 7, the row needs at least 8");
    fields["out_w"] = 8;
    fields["groups"] = 2;
    EXPECT_EQ(select_on(DeviceType::cpu).rejected[1].reason,
              "groups is 2, the row needs at most 1");
    fields["groups"] = 1;
    selection = select_on(DeviceType::cpu);
    EXPECT_EQ(selection.rejected[1].kernel->row, std::string("any"));
    EXPECT_EQ(selection.rejected[1].reason, "the row aligned comes first");
    EXPECT_TRUE(select_on(DeviceType::cpu, {}, false).rejected.empty());
}

TEST_F(Select, MindsTheDevice) {
    DeviceLimits limits{
        .shared_bytes = 49152, .shared_bytes_opt_in = 49152, .threads = 1024, .registers = 65536};
    EXPECT_STREQ(select_on(DeviceType::cuda, limits).kernel->row, "heavy");
    limits.shared_bytes = limits.shared_bytes_opt_in = 32768;
    Selection selection = select_on(DeviceType::cuda, limits);
    EXPECT_STREQ(selection.kernel->row, "light");
    EXPECT_EQ(selection.rejected[0].reason,
              "it needs 49152 bytes of shared memory, the device has 32768");
    limits.shared_bytes_opt_in = 65536;
    EXPECT_STREQ(select_on(DeviceType::cuda, limits).kernel->row, "heavy");
    limits.threads = 128;
    EXPECT_EQ(select_on(DeviceType::cuda, limits).rejected[0].reason,
              "it needs 256 threads a block, the device has 128");
    limits.threads = 1024;
    limits.registers = 16384;
    EXPECT_EQ(select_on(DeviceType::cuda, limits).rejected[0].reason,
              "it needs 25600 registers a block, the device has 16384");
    limits.shared_bytes = limits.shared_bytes_opt_in = 1039;
    selection = select_on(DeviceType::cuda, limits);
    EXPECT_EQ(selection.kernel, nullptr);
    EXPECT_EQ(selection.rejected[1].reason,
              "it needs 1040 bytes of shared memory, the device has 1039");
}

// Linux keeps them from a process until it asks.
TEST_F(Select, MindsTheRegistersOfACpu) {
    kernels.insert(kernels.begin(), row("tiles", DeviceType::cpu, kAligned));
    kernels.front().algorithm = "slices_of_line";
    kernels.front().schedule = "tiles";
    EXPECT_STREQ(select_on(DeviceType::cpu, {.tile_registers = true}).kernel->row, "tiles");
    const Selection selection = select_on(DeviceType::cpu);
    EXPECT_STREQ(selection.kernel->row, "3x3");
    EXPECT_TRUE(selection.fell_back());
    EXPECT_EQ(selection.rejected[0].reason,
              "it needs tile registers (AMX), which the system does not grant");
    kernels.front().schedule = "register_tiles";
    EXPECT_STREQ(select_on(DeviceType::cpu).kernel->row, "tiles") << "no schedule of theirs";
}

std::vector<std::string> rungs(const Selection &selection) {
    std::vector<std::string> result;
    for (const Rung &rung : selection.ladder) {
        result.push_back(rung.kernel->row + (rung.shortage.empty() ? "" : " " + rung.shortage));
    }
    return result;
}

TEST_F(Select, LadderIsOfRowsWhoseConditionsHold) {
    DeviceLimits limits{.shared_bytes = 49152, .shared_bytes_opt_in = 49152, .threads = 1024};
    kernels.insert(kernels.begin() + 3, row("wide", DeviceType::cuda, kAligned, heavy));
    using Rungs = std::vector<std::string>;
    Selection selection = select_on(DeviceType::cuda, limits);
    EXPECT_EQ(rungs(selection), (Rungs{"wide", "heavy", "light"}));
    EXPECT_FALSE(selection.fell_back());
    EXPECT_EQ(rungs(select_on(DeviceType::cuda, limits, false)), Rungs{"wide"});
    fields["groups"] = 2;
    limits.shared_bytes = limits.shared_bytes_opt_in = 32768;
    const std::string lack = "heavy needs 49152 bytes of shared memory, the device has 32768";
    for (const bool explain : {false, true}) {
        selection = select_on(DeviceType::cuda, limits, explain);
        EXPECT_EQ(rungs(selection), (Rungs{lack, "light"}));
        EXPECT_TRUE(selection.fell_back());
    }
    limits.shared_bytes = limits.shared_bytes_opt_in = 0;
    EXPECT_FALSE(select_on(DeviceType::cuda, limits).fell_back());
    EXPECT_EQ(select_on(DeviceType::cuda, limits).ladder.size(), 2u);
}

TEST_F(Select, NoRowOfThatKind) {
    const Selection selection = select_on(DeviceType::opencl);
    EXPECT_EQ(selection.kernel, nullptr);
    EXPECT_TRUE(selection.rejected.empty());
    kernels.clear();
    EXPECT_EQ(select_on(DeviceType::cpu).kernel, nullptr);
}

TEST_F(Select, UnknownFieldsAreTheTablesFault) {
    const Constraint unknown[] = {{"colour", Relation::equal, 1}};
    kernels = {row("odd", DeviceType::cpu, unknown)};
    EXPECT_THROW(select_on(DeviceType::cpu), std::out_of_range);
}

TEST_F(Select, Describes) {
    fields["kernel_h"] = 1;
    EXPECT_EQ(detail::describe(select_on(DeviceType::cpu), "test"),
              "hk select: test: aligned\n"
              "hk select:   not 3x3: kernel_h is 1, the row needs 3\n"
              "hk select:   not any: the row aligned comes first\n");
    EXPECT_EQ(detail::describe({}, "test"), "hk select: test: no kernel\n");
}

TEST(Resources, SharedBytesAddUp) {
    EXPECT_EQ(KernelResources{}.shared_bytes(), -1);
    EXPECT_EQ((KernelResources{.shared_static = 16, .shared_dynamic = 32}.shared_bytes()), 48);
    EXPECT_EQ((KernelResources{.shared_dynamic = 32}.shared_bytes()), 32);
}

TEST(Names, OfLayouts) {
    EXPECT_EQ(layout_of(name_of(Layout::nchw)), Layout::nchw);
    EXPECT_EQ(layout_of("nhwc"), Layout::nhwc);
    EXPECT_INVALID("\"hwcn\", not nhwc or nchw", layout_of("hwcn"));
    EXPECT_EQ(name_of(static_cast<Layout>(200)), "unknown");
    EXPECT_EQ(name_of(static_cast<DeviceType>(200)), "unknown");
}

TEST(Log, TopicsOfTheVariable) {
    setenv("HK_LOG", "other,select", 1);
    EXPECT_TRUE(detail::log_enabled("select"));
    EXPECT_FALSE(detail::log_enabled("sel"));
    setenv("HK_LOG", "selective", 1);
    EXPECT_FALSE(detail::log_enabled("select"));
    unsetenv("HK_LOG");
    EXPECT_FALSE(detail::log_enabled("select"));
}

}  // namespace
}  // namespace hk
