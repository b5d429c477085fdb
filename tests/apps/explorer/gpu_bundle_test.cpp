// Bundles of GPUs' candidates, made without a device, and what becomes of candidates that no row
// may be.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "bundle.h"
#include "compiled.h"
#include "compiler/setup.h"
#include "hk/conv2d.h"
#include "hk/error.h"
#include "runtime/src/packed.h"
#include "tests/apps/program.h"
#include "tests/support/folder.h"
#include "timing.h"
#include "verdict.h"

namespace hk::explorer {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Outcome;
using test::run_program;

const std::string sweep = std::string("'") + HK_EXPLORER + "' sweep ";
const std::string small_3x3 = "input=1x8x8x16,weight=32x3x3x16,padding=1";

class GpuBundleTest : public testing::Test {
protected:
    GpuBundleTest() {
        compiler::set_up_halide();
        setenv("HK_PTXAS", HK_PTXAS, 0);
        setenv("HK_FATBINARY", HK_FATBINARY, 0);
    }

    // Of three candidates.
    void make(const std::string &device, const std::string &family = "conv2d",
              const std::string &schedule = "sliced/staged") {
        const Outcome built =
            run_program(sweep + family + " " + small_3x3 + " --target " + device + " --schedule " +
                        schedule + " --candidates 3 --bundle '" + folder_.string() + "'");
        ASSERT_EQ(built.status, 0) << built.output;
        EXPECT_NE(built.output.find("/measure has "), std::string::npos) << built.output;
    }

    std::string measure() const {
        return "cd / && '" + (folder_ / "measure").string() + "' --seconds 0.05";
    }

    // Its report, and its records.
    std::vector<Record> collected(size_t measured, size_t failed) {
        const Outcome collected = run_program(sweep + "--collect '" + folder_.string() + "'");
        EXPECT_EQ(collected.status, 0) << collected.output;
        EXPECT_NE(collected.output.find(std::to_string(measured) + " measured, " +
                                        std::to_string(failed) + " failed"),
                  std::string::npos)
            << collected.output;
        EXPECT_TRUE(fs::exists(folder_ / "report.html"));
        return read_records(folder_ / "results.csv");
    }

    std::string text_of(const std::string &file) const {
        std::ifstream in(folder_ / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    const fs::path folder_ = test::own_folder();
};

// Empty: it is not here. This process opens no driver, which its children could not use.
std::string description_of(Device device) {
    try {
        return find_device(device, Cores::of_process()).description;
    } catch (const DeviceMissing &) {
        return "";
    }
}

size_t count_of(const std::string &text, const std::string &what) {
    size_t count = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at++) count++;
    return count;
}

const KernelInfo &row_of(DeviceType device) {
    for (const KernelInfo &kernel : conv2d_kernels())
        if (kernel.device == device && kernel.row == std::string("any") &&
            kernel.type == DataType::f32 && kernel.layout == Layout::nhwc)
            return kernel;
    throw std::runtime_error("no row any");
}

// As the winner of a sweep of one case.
std::string line_of(const Candidate &candidate) {
    const json of = {{"name", "one"},
                     {"row", {{"name", "any"}, {"base", candidate.base()}}},
                     {"bases",
                      {{{"name", candidate.base()},
                        {"family", "conv2d"},
                        {"rows", "any"},
                        {"where", "kernel_w=3"}}}}};
    const json all = {{"settings",
                       {{"type", "f32"},
                        {"layout", "nhwc"},
                        {"device", std::string(name_of(candidate.device)) + ":0"}}}};
    const Record best{.of = "one",
                      .candidate = candidate.name(),
                      .algorithm = candidate.algorithm,
                      .schedule = candidate.schedule,
                      .fixed = candidate.fixed_text(),
                      .knobs = candidate.knobs,
                      .status = "ok",
                      .reason = "",
                      .ns = 1,
                      .table_ns = 2};
    return line_for_table(all, of, best);
}

TEST_F(GpuBundleTest, CudaIsMadeWithoutADeviceAndSaysWhereThereIsNone) {
    make("cuda:0");
    // Packed code for each candidate and for each row that takes the case: products,
    // products_windows, any and unstaged; and the mark that the runtime knows it by.
    const std::string code(detail::kPackedMark, sizeof detail::kPackedMark);
    if (*HK_PTXAS) {
        EXPECT_EQ(count_of(text_of("measure"), code), 3u + 4u + 1u);
    }
    const Outcome needs = run_program("ldd '" + (folder_ / "measure").string() + "'");
    for (const char *library : {"libHalide", "libLLVM", "libstdc++", "libcuda", "not found"})
        EXPECT_EQ(needs.output.find(library), std::string::npos) << needs.output;
    EXPECT_EQ(read_records(folder_ / "left-out.csv").size(), 0u);
    const json of = read_json(folder_ / "sweep.json")["cases"][0];
    EXPECT_EQ(of["row"]["name"], "products");

    const Outcome ran = run_program(measure());
    if (!description_of(Device::cuda()).empty()) {
        ASSERT_EQ(ran.status, 0) << ran.output;
        collected(3, 0);
        return;
    }
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.output.find("measure: there is no device cuda:0 here: "), 0u) << ran.output;
    EXPECT_EQ(count_of(ran.output, "\n"), 1u) << ran.output;
    const Outcome none = run_program(sweep + "--collect '" + folder_.string() + "'");
    EXPECT_EQ(none.status, 2);
    EXPECT_NE(none.output.find("run its program measure first"), std::string::npos);
    const Outcome other = run_program(measure() + " --device opencl:0");
    EXPECT_EQ(other.status, 2);
    EXPECT_NE(other.output.find("these kernels are for cuda"), std::string::npos) << other.output;
}

TEST_F(GpuBundleTest, OpenClRunsAndIsCollected) {
    make("opencl:0", "conv2d_backward_data", "flip_expand_sliced/staged");
    const std::string description = description_of(Device::opencl());
    if (description.empty()) {
        EXPECT_EQ(run_program(measure()).status, 2);
        GTEST_SKIP() << "no OpenCL device here";
    }
    const Outcome ran = run_program(measure());
    ASSERT_EQ(ran.status, 0) << ran.output;
    // What the largest row's knobs ask for is more than every device has.
    for (const Record &record : collected(2, 1)) {
        if (record.ok()) continue;
        EXPECT_EQ(record.status, "over budget");
        EXPECT_EQ(record.reason, "it needs 43776 bytes of shared memory, the device has 32768");
    }
    const json state = read_json(folder_ / "sweep.json");
    EXPECT_NE(state["machine"].get<std::string>().find(description), std::string::npos)
        << state["machine"];
}

TEST_F(GpuBundleTest, AnAbsentDeviceHasTheUsualLimits) {
    SubjectFlags flags;
    flags.choice.family = "conv2d";
    flags.choice.device = "cuda:99";
    flags.shapes = {small_3x3};
    EXPECT_THROW(Subject(flags, Place::here), InvalidArgument);
    const Subject subject(flags, Place::elsewhere);
    EXPECT_EQ(bench::limits_of(subject.settings).compute_capability, 90);
    EXPECT_EQ(subject.cases.size(), 1u);
    const Outcome here = run_program(sweep + "conv2d " + small_3x3 + " --target cuda:99");
    EXPECT_EQ(here.status, 2);
    EXPECT_NE(here.output.find("--bundle DIR makes a program for a machine that has it"),
              std::string::npos)
        << here.output;
}

// Which rows take a case, and what they are called with, is found without a device.
TEST_F(GpuBundleTest, CasesOfEveryFamilyAreLookedAtWithoutADevice) {
    const std::string voxels = "voxels=500,kernel=3,stride=1,c=24,m=70", elements = "input=4000",
                      groups = "input=1x9x9x20,groups=4",
                      image = "pooling=max,input=1x9x9x20,kernel=3,stride=2,padding=1";
    const std::map<std::string, std::string> sizes = {{"conv2d", small_3x3},
                                                      {"conv2d_backward_data", small_3x3},
                                                      {"conv2d_backward_weight", small_3x3},
                                                      {"quantized_conv2d", small_3x3},
                                                      {"topk", "input=3x2000,k=20"},
                                                      {"tensor_product", voxels},
                                                      {"tensor_product_backward_data", voxels},
                                                      {"tensor_product_backward_weight", voxels},
                                                      {"activate", elements},
                                                      {"activate_backward", elements},
                                                      {"sgd", elements},
                                                      {"pool2d", image},
                                                      {"pool2d_backward", image},
                                                      {"group_norm", groups},
                                                      {"group_norm_backward", groups},
                                                      {"softmax_cross_entropy", "input=40x301"}};
    for (const bench::Family &family : bench::families()) {
        if (!family.has_rows) continue;
        for (const char *device : {"cuda:0", "opencl:0"}) {
            SCOPED_TRACE(family.name + " " + device);
            SubjectFlags flags;
            flags.choice.family = family.name;
            flags.choice.device = device;
            flags.shapes = {sizes.at(family.name)};
            const Subject subject(flags, Place::elsewhere);
            const auto rows = family.rows(subject.settings);
            if (rows.empty()) continue;
            Prepared prepared(subject, subject.cases.at(0));
            try {
                const json seen = Workers::run(Cores::of_process(), Limits(),
                                               [&](Parent &) { return survey(prepared); });
                const std::string row = seen["row"].dump();
                EXPECT_FALSE(seen["refused"].contains(row)) << seen["refused"][row];
                EXPECT_FALSE(sizes_of(seen["sizes"]).arguments.empty());
                EXPECT_GT(seen["work"].get<double>(), 0);
            } catch (const Failure &failure) {
                ADD_FAILURE() << failure.status << ": " << failure.what();
            }
        }
    }
}

TEST_F(GpuBundleTest, NoRowSpillsOrHasAStack) {
    Candidate candidate = Candidate::of(row_of(DeviceType::cuda));
    const DeviceLimits limits{49152, 49152, 1024, 65536, 90};
    compiler::Resources fits;
    fits.name = "kernel";
    fits.registers = 64;
    fits.stack_bytes = fits.spill_bytes = fits.shared_dynamic = 0;
    fits.shared_static = 1024;
    fits.threads = 256;
    check_budget(candidate, {fits}, limits);
    const auto expect_left_out = [&](const compiler::Resources &kernel, const std::string &reason) {
        try {
            check_budget(candidate, {fits, kernel}, limits);
            ADD_FAILURE() << reason;
        } catch (const Failure &failure) {
            EXPECT_EQ(failure.status, "over budget");
            EXPECT_NE(std::string(failure.what()).find(reason), std::string::npos)
                << failure.what();
        }
    };
    compiler::Resources kernel = fits;
    kernel.stack_bytes = 16;
    expect_left_out(kernel, "stack frame of 16 bytes");
    kernel = fits;
    kernel.spill_bytes = 8;
    expect_left_out(kernel, "spills 8 bytes");
    candidate.schedule = "Anderson2021";  // no row
    check_budget(candidate, {kernel}, limits);
    kernel.shared_static = 65536;
    expect_left_out(kernel, "needs 65536 bytes of shared memory, the device has 49152");
    kernel = fits;
    kernel.registers = 255;
    kernel.threads = 512;
    expect_left_out(kernel, "needs 130560 registers a block, the device has 65536");
}

TEST_F(GpuBundleTest, WhatIsLeftOutIsCollected) {
    const Record skipped{.of = "one",
                         .candidate = "sliced/staged tile_k:128",
                         .algorithm = "sliced",
                         .schedule = "staged",
                         .fixed = "",
                         .knobs = "tile_k:128",
                         .status = "over budget",
                         .reason = "spills 8 bytes"};
    Record measured = skipped;
    measured.candidate = "sliced/staged";
    measured.status = "ok";
    write_records(folder_ / "left-out.csv", {skipped});
    write_records(folder_ / "results-there-1-1.csv", {measured});
    write_json(folder_ / "sweep.json", {{"cases", json::array()}, {"machine", nullptr}});
    const auto [state, records] = collect(folder_);
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].reason, "spills 8 bytes");
    EXPECT_EQ(collect(folder_).second.size(), 2u);
}

// As kernels.cmake has it: the figures of the table's own row where the knobs are its own, written
// out or not.
TEST_F(GpuBundleTest, TheLineHasItsBudget) {
    if (!*HK_PTXAS) GTEST_SKIP() << "no ptxas";
    const KernelResources used = row_of(DeviceType::cuda).loaded().resources;
    const std::string budget = " - shared:" + std::to_string(used.shared_bytes()) + ",registers:" +
                               std::to_string((used.registers + 7) / 8 * 8);
    for (const DeviceType device : {DeviceType::cuda, DeviceType::opencl}) {
        const Candidate row = Candidate::of(row_of(device));
        Candidate written_out = row;
        for (const auto &[knob, value] : knob_values(row))
            written_out.knobs +=
                (written_out.knobs.empty() ? "" : ",") + knob + ":" + std::to_string(value);
        EXPECT_NE(written_out.knobs, row.knobs);
        for (const Candidate &candidate : {row, written_out}) {
            EXPECT_EQ(line_of(candidate), "row(" + std::string(name_of(device)) +
                                              " any_one sliced staged f32 nhwc" + budget +
                                              " kernel_w=3)  # kernels/conv2d.cmake, before any");
        }
    }
}

}  // namespace

}  // namespace hk::explorer
