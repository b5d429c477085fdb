// Figures of counts, and kernels on the device in software whose counts are known.

#include "counts.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "hk/conv2d.h"
#include "hk/error.h"
#include "list_model.h"
#include "row_case.h"
#include "software_device.h"

namespace hk::counts {

namespace {

using nlohmann::json;

json traffic(uint64_t moved, uint64_t least, uint64_t distinct = 0) {
    return {{"requests", 1},  {"bytes", 2},           {"moved", moved},
            {"least", least}, {"distinct", distinct}, {"second_cache", 3}};
}

json instructions(uint64_t multiply_adds, uint64_t others, uint64_t line = 0, uint64_t own = 0) {
    return {{"thread_instructions", {{"multiply-add", multiply_adds}, {"integer", others}}},
            {"warp_instructions", {{"multiply-add", multiply_adds / 32}, {"integer", 1}}},
            {"line", line},
            {"own_thread_instructions", own}};
}

json kernel(const json &loops) {
    json one = instructions(300, 700);
    one.update({{"kernel", "one"},
                {"launches", 2},
                {"blocks", 4},
                {"threads", 64},
                {"barriers", 8},
                {"branches", 10},
                {"divergent_branches", 5},
                {"shared_bytes", 128},
                {"loops", loops},
                {"global_loads", traffic(20, 10, 6)},
                {"global_stores", traffic(10, 10, 10)},
                {"shared_loads", traffic(3, 2)},
                {"shared_stores", traffic(4, 2)}});
    return one;
}

CallCounts call(const json &kernels) { return {kernels_of(kernels), 256, 40}; }

TEST(Counts, AreReadAndSummedUp) {
    const CallCounts counts = call({kernel(json::array()), kernel(json::array())});
    ASSERT_EQ(counts.kernels.size(), 2u);
    EXPECT_EQ(counts.kernels[0].threads_of_block(), 16);
    EXPECT_EQ(counts.kernels[0].global_stores.second_cache, 3u);
    EXPECT_DOUBLE_EQ(counts.conflicts(), 7. / 4);
    EXPECT_DOUBLE_EQ(counts.sectors(), 30. / 20);
    EXPECT_DOUBLE_EQ(counts.bytes_moved(), 60 * 32);
    EXPECT_DOUBLE_EQ(counts.of_least_bytes(), 32 * 32 / 256.);
    EXPECT_EQ(counts.main_loop(), nullptr);
    EXPECT_DOUBLE_EQ(counts.share_of_multiply_adds(), 0.3) << "altogether";
}

TEST(Counts, TheMainLoopIsThatWithMostInstructionsOfItsOwn) {
    const json small = {instructions(9, 1, 5, 10), instructions(0, 0, 6)};
    const json large = {instructions(90, 110, 7, 70), instructions(80, 20, 8, 100),
                        instructions(30, 0, 9, 30)};
    const CallCounts counts = call({kernel(small), kernel(large), kernel(json::array())});
    ASSERT_NE(counts.main_loop(), nullptr);
    EXPECT_EQ(counts.main_loop()->line, 8u);
    EXPECT_DOUBLE_EQ(counts.share_of_multiply_adds(), 0.8);
    EXPECT_EQ(counts.kernels[0].main_loop->line, 5u);
    EXPECT_FALSE(counts.kernels[2].main_loop) << "a loop that did not run is none";
}

TEST(Counts, WithoutTrafficNothingIsOverTheLeast) {
    const CallCounts nothing;
    EXPECT_EQ(nothing.conflicts(), 1);
    EXPECT_EQ(nothing.sectors(), 1);
    EXPECT_EQ(nothing.share_of_multiply_adds(), 0);
}

TEST(Counts, AreToldWithTheModelNamed) {
    const CallCounts counts =
        call(json::array({kernel(json::array({instructions(80, 20, 8, 100)}))}));
    const json told = to_json(counts);
    EXPECT_EQ(told.at("kernels").at(0).at("main_loop").at("line"), 8);
    EXPECT_EQ(told.at("kernels").at(0).at("models").size(), 3u);
    const std::string text = text_of(counts, "> ");
    for (const char *part : {"> counted    one, 2 launches", "from line 8 of the PTX: 10 % of all",
                             "80 % of its own are multiply-adds", "1.75 times the least wavefronts",
                             "1.50 times the least sectors", "2.0 a block; 50.00 % of 10 branches",
                             "H100 SXM: at least", "nothing was measured"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

bool built_with_cuda() {
    return std::ranges::any_of(
        conv2d_kernels(), [](const KernelInfo &row) { return row.device == DeviceType::cuda; });
}

// The only one of this process, whose limits are set before it is opened.
const SoftwareDevice &software_device() {
    static const SoftwareDevice device;
    return device;
}

bench::CaseInfo convolution() {
    bench::Settings settings;
    settings.device = Device::cuda();
    return bench::family_named("conv2d")
        .cases("input=1x16x16x16,weight=64x3x3x16,padding=1", settings)
        .front();
}

// On the device itself: a convolution's multiply-adds, and bytes, can be counted by hand.
TEST(SoftwareDevice, CountsACall) {
    if (!built_with_cuda()) GTEST_SKIP();
    const SoftwareDevice &device = software_device();
    const bench::CaseInfo info = convolution();
    const std::unique_ptr<bench::Problem> problem = info.problem();
    const KernelInfo *row = info.select();
    ASSERT_NE(row, nullptr);
    const CallCounts counts = device.count(*problem, row);
    ASSERT_EQ(counts.kernels.size(), 1u);
    const KernelCounts &one = counts.kernels.front();
    const double products = 16. * 16 * 16 * 64 * 9;
    EXPECT_GE(one.instructions.multiply_adds(), products);
    EXPECT_LE(one.instructions.multiply_adds(), 1.25 * products) << "addresses take some";
    EXPECT_DOUBLE_EQ(counts.least_bytes, 4. * (16 * 16 * (16 + 64) + 64 * 16 * 9));
    EXPECT_DOUBLE_EQ(counts.of_least_bytes(), 1);
    EXPECT_GE(counts.conflicts(), 1);
    EXPECT_GE(counts.sectors(), 1);
    ASSERT_TRUE(one.main_loop);
    EXPECT_GE(one.main_loop->instructions.multiply_adds(), products);
    EXPECT_EQ(one.shared_bytes, row->resources.shared_bytes());
    EXPECT_EQ(one.threads_of_block(), row->resources.threads);
    // The same again.
    EXPECT_EQ(to_json(device.count(*problem, row)), to_json(counts));
}

// Of the driver that is loaded.
const SoftwareCudaControl &control_of_driver() {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    using Find = const SoftwareCudaControl *(*)(uint32_t);
    const auto find = reinterpret_cast<Find>(dlsym(library, "software_cuda_control"));
    return *find(SOFTWARE_CUDA_CONTROL_VERSION);
}

std::vector<RowCounts> rows_of(const char *family_name, const std::string &sizes) {
    const bench::Family family = bench::family_named(family_name);
    bench::Settings settings;
    settings.device = Device::cuda();
    const auto infos = family.cases(sizes, settings);
    const std::unique_ptr<bench::Problem> problem = infos.front().problem();
    return software_device().count_rows(*problem, *infos.front().select()).rows;
}

std::set<std::string> names_of(const std::vector<RowCounts> &rows) {
    std::set<std::string> names;
    for (const RowCounts &one : rows)
        names.insert(std::string(one.row->family) + "/" + one.row->row);
    return names;
}

// A call's rows, each with its own launches and no other's.
TEST(SoftwareDevice, CountsTheRowsOfACall) {
    if (!built_with_cuda()) GTEST_SKIP();
    // Two tiles whose lists are merged.
    const std::vector<RowCounts> rows = rows_of("topk", "input=2x2000,k=600,outputs=values");
    EXPECT_EQ(names_of(rows), (std::set<std::string>{"topk_tiles/tile_1024_keys", "topk_merge/keys",
                                                     "topk_unpack/values"}));
    for (const RowCounts &one : rows) {
        EXPECT_GT(one.counts.least_bytes, 0) << one.row->name;
        ASSERT_EQ(one.counts.kernels.size(), 1u) << one.row->name;
        EXPECT_EQ(one.counts.kernels.front().launches, 1u) << one.row->name;
        const std::string_view family = one.row->family;
        const char *stage = family == "topk_tiles"   ? "items"
                            : family == "topk_merge" ? "merged"
                                                     : "output";
        const std::string &entry = one.counts.kernels.front().entry;
        EXPECT_NE(entry.find(stage), std::string::npos) << entry;
    }
    const auto unpack = std::ranges::find(rows, std::string("topk_unpack"),
                                          [](const RowCounts &one) { return one.row->family; });
    // 600 keys of 4 bytes of 2 rows come in, and as many values go out.
    EXPECT_EQ(unpack->counts.kernels.front().global_loads.bytes, 4u * 2 * 600);
    EXPECT_EQ(unpack->counts.kernels.front().global_stores.bytes, 4u * 2 * 600);
}

TEST(SoftwareDevice, CountsWhatRunsBesideAProblem) {
    if (!built_with_cuda()) GTEST_SKIP();
    const std::vector<RowCounts> rows =
        rows_of("conv2d_backward_weight", "input=1x8x8x16,weight=16x3x3x16,padding=1");
    const auto bias = std::ranges::find(rows, std::string("conv2d_backward_bias"),
                                        [](const RowCounts &one) { return one.row->family; });
    ASSERT_NE(bias, rows.end());
    EXPECT_EQ(bias->counts.least_bytes, 4. * (8 * 8 * 16 + 16));
    EXPECT_GE(bias->counts.kernels.front().global_loads.bytes, 4u * 8 * 8 * 16);
    EXPECT_GT(rows.size(), 1u);
}

// A row of CUDA on a problem of its own, counted and timed.
class Rated {
public:
    json counts() const { return to_json(device_.count(*problem_, &row_)); }
    double rate(const char *check, bool counts) const {
        return device_.rate(*problem_, row_, check, counts);
    }

private:
    const SoftwareDevice &device_ = software_device();
    const bench::CaseInfo info_ = convolution();
    const std::unique_ptr<bench::Problem> problem_ = info_.problem();
    const KernelInfo &row_ = *info_.select();
};

// Counts are the same again behind it: its settings are its own.
TEST(SoftwareDevice, MeasuresRates) {
    if (!built_with_cuda()) GTEST_SKIP();
    const Rated rated;
    const json before = rated.counts();
    EXPECT_GT(rated.rate("none", false), 0);
    EXPECT_GT(rated.rate("memory", true), 0);
    EXPECT_EQ(rated.counts(), before);
}

TEST(SoftwareDevice, HasNoRateWhereNothingIsLaunched) {
    if (!built_with_cuda()) GTEST_SKIP();
    const Rated rated;
    const json before = rated.counts();
    const SoftwareCudaControl &driver = control_of_driver();
    ASSERT_EQ(driver.set("RUN", "off"), 0);
    EXPECT_THROW(rated.rate("none", false), Error);
    ASSERT_EQ(driver.set("RUN", "on"), 0);
    EXPECT_EQ(rated.counts(), before);
}

// Of a product of matrices what its operations alone take can be worked out by hand.
TEST(ListModel, IsOfWhatSelectionTakes) {
    if (!built_with_cuda()) GTEST_SKIP();
    const SoftwareDevice &device = software_device();
    ListChoice choice{{.family = "conv2d", .type = "bf16"}, "input=1x32x32x64,weight=64x1x1x64"};
    const auto cases = model_of(device, choice);
    ASSERT_EQ(cases.size(), 1u);
    const ModelledCase &one = cases.front();
    EXPECT_EQ(one.row, "matrices_1x1");
    const double products = 0.629 * 989.4e12 / 2;  // a second, of an H100
    EXPECT_NEAR(one.operations, 32. * 32 * 64 * 64 / products, 1e-9 * one.operations);
    EXPECT_DOUBLE_EQ(one.memory, 2. * (2 * 32 * 32 * 64 + 64 * 64) / 3.35e12);
    EXPECT_DOUBLE_EQ(one.least, std::max(one.operations, one.memory));
    EXPECT_GT(one.share(), 0);
    EXPECT_LE(one.share(), 1);
    EXPECT_FALSE(one.bound_by.empty());
    choice.batch = 2;
    EXPECT_NEAR(model_of(device, choice).front().operations, 2 * one.operations, 1e-12);
    choice.gpu = "H100";
    EXPECT_THROW(model_of(device, choice), InvalidArgument);
    choice = {{.family = "conv2d"}, "no such list"};
    EXPECT_THROW(model_of(device, choice), InvalidArgument);
}

// Of each kernel one problem that it takes, which selection gives to it where there is one.
TEST(RowCases, AreOfEachKernelOnce) {
    if (!built_with_cuda()) GTEST_SKIP();
    std::set<std::string> seen;
    int selected = 0;
    const std::vector<RowCase> all = row_cases(Device::cuda(), "conv2d_");
    for (const RowCase &one : all) {
        EXPECT_TRUE(seen.insert(one.row->name).second) << one.row->name;
        EXPECT_EQ(one.row->device, DeviceType::cuda);
        const KernelInfo *taken = one.info.select();
        selected += taken && std::string_view(taken->name) == one.row->name;
    }
    EXPECT_GT(selected, static_cast<int>(all.size()) / 2);
    EXPECT_TRUE(row_cases(Device::cuda(), "no such kernel").empty());
    for (const KernelInfo &row : conv2d_kernels()) {
        EXPECT_EQ(seen.contains(row.name), row.device == DeviceType::cuda) << row.name;
    }
}

// Only the family whose calls run them; none where no call does, and nothing is run to find out.
TEST(RowCases, OfRowsThatRunBeside) {
    if (!built_with_cuda()) GTEST_SKIP();
    const std::string bias = "conv2d_backward_bias";
    EXPECT_TRUE(row_cases(Device::cuda(), bias).empty());
    const std::vector<RowCase> beside = row_cases_beside(Device::cuda(), bias);
    EXPECT_FALSE(beside.empty());
    for (const RowCase &one : beside) EXPECT_EQ(one.family, "conv2d_backward_weight");
    EXPECT_TRUE(row_cases_beside(Device::cuda(), "no such kernel").empty());
}

// What selection never gives to a row is no measure of it where each group wastes most of a tile.
TEST(RowCases, FallbacksHaveManyChannelsAGroup) {
    if (!built_with_cuda()) GTEST_SKIP();
    const std::vector<RowCase> found =
        row_cases(Device::cuda(), "conv2d_backward_data_1x3_bf16_nhwc_cuda");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].info.kind.starts_with("dense")) << found[0].name;
    EXPECT_TRUE(std::ranges::any_of(found[0].others, [](const bench::CaseInfo &other) {
        return other.kind.starts_with("depthwise");
    }));
}

// Others, such as the patches of a large image, take the device in software long.
TEST(RowCases, FallbacksAreShort) {
    if (!built_with_cuda()) GTEST_SKIP();
    const std::vector<RowCase> found =
        row_cases(Device::cuda(), "conv2d_backward_weight_staged_f32_nhwc_cuda");
    ASSERT_EQ(found.size(), 1u);
    const auto is_long = [](const bench::CaseInfo &info) { return info.problem()->work() > 1e8; };
    EXPECT_FALSE(is_long(found[0].info)) << found[0].name;
    EXPECT_TRUE(std::ranges::any_of(found[0].others, is_long));
}

TEST(RowCases, TheFirstThatRunsIsTaken) {
    KernelInfo row{};
    row.name = "row";
    const auto named = [](const char *name) {
        bench::CaseInfo info;
        info.name = name;
        return info;
    };
    const RowCase one{&row, "family", "a", named("a"), {named("b"), named("c")}};
    for (const char *name : {"a", "b", "c"}) {
        std::string tried;
        const bench::CaseInfo &first = first_that_runs(one, [&](const bench::CaseInfo &info) {
            tried += info.name;
            return info.name == name;
        });
        EXPECT_EQ(first.name, name);
        EXPECT_EQ(tried, std::string("abc").substr(0, tried.size()));
        EXPECT_EQ(tried.back(), *name);
    }
    EXPECT_THROW(first_that_runs(one, [](const bench::CaseInfo &) { return false; }), Error);
}

TEST(RowCases, AFilterWithNothingIsNamed) {
    const auto complaint = [](const char *filter) {
        try {
            refuse_filter(filter);
        } catch (const InvalidArgument &error) {
            return std::string(error.what());
        }
    };
    EXPECT_EQ(complaint("one"), "there is no problem of a CUDA kernel with \"one\" in its name");
    EXPECT_EQ(complaint(""), "there is no problem of a CUDA kernel");
}

}  // namespace

}  // namespace hk::counts
