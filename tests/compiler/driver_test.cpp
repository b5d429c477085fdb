// The command line of a generator executable, and what it leaves on disk.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "compiler/tools.h"
#include "tests/support/folder.h"

namespace {

namespace fs = std::filesystem;

const std::string cuda_target = "target=host-cuda-cuda_capability_80-no_runtime";

struct Outcome {
    bool success = false;
    std::string text;
};

class Driver : public testing::Test {
protected:
    void SetUp() override {
        setenv("HK_CACHE", "off", 1);
        setenv("HK_PTXAS", HK_TEST_PTXAS, 1);
        setenv("HK_FATBINARY", HK_TEST_FATBINARY, 1);
    }

    Outcome run(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), HK_TEST_GENERATOR);
        try {
            return {true, hk::compiler::run_program(arguments)};
        } catch (const std::runtime_error &error) {
            return {false, error.what()};
        }
    }

    Outcome compile(std::vector<std::string> extra) const {
        std::vector<std::string> arguments = {"-g", "known", "-f", "product", "-o", out()};
        arguments.insert(arguments.end(), extra.begin(), extra.end());
        return run(arguments);
    }

    std::string out() const { return folder_.string(); }

    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto &entry : fs::directory_iterator(folder_))
            names.insert(entry.path().filename());
        return names;
    }

    std::string content(const std::string &name) const {
        return hk::compiler::read_file(folder_ / name);
    }

    static std::string after(const std::string &text, const std::string &part) {
        const size_t at = text.find(part);
        return at == std::string::npos ? "" : text.substr(at + part.size());
    }

    // Fails with `message` and the status of bad usage or of a kernel that can't be, and leaves
    // nothing behind.
    void expect_refusal(const std::vector<std::string> &extra, const std::string &message,
                        int status = 2) const {
        const Outcome outcome = compile(extra);
        EXPECT_FALSE(outcome.success);
        EXPECT_NE(outcome.text.find("failed with " + std::to_string(status)), std::string::npos)
            << outcome.text;
        EXPECT_NE(outcome.text.find(message), std::string::npos) << outcome.text;
        EXPECT_EQ(files(), std::set<std::string>{});
    }

    static bool has_tools() { return fs::exists(HK_TEST_PTXAS) && fs::exists(HK_TEST_FATBINARY); }

private:
    const fs::path folder_ = hk::test::own_folder();
};

TEST_F(Driver, WritesWhatWasAskedForAndNothingElse) {
    const Outcome outcome =
        compile({"-e", "static_library,c_header,stmt,conceptual_stmt,resources", "target=host"});
    EXPECT_TRUE(outcome.success) << outcome.text;
    EXPECT_EQ(files(), (std::set<std::string>{"product.a", "product.h", "product.stmt",
                                              "product.conceptual.stmt", "product.json"}));
}

TEST_F(Driver, WritesTheSameHeaderEachTime) {
    ASSERT_TRUE(compile({"-e", "c_header", "target=host"}).success);
    const std::string first = content("product.h");
    ASSERT_TRUE(compile({"-e", "c_header", "target=host"}).success);
    EXPECT_EQ(content("product.h"), first);
    EXPECT_NE(first.find("#ifndef HALIDE_product_h"), std::string::npos);
}

TEST_F(Driver, NamesFilesByTheBase) {
    EXPECT_TRUE(
        compile({"-n", "base", "-e", "object,llvm_assembly,assembly", "target=host"}).success);
    EXPECT_EQ(files(), (std::set<std::string>{"base.o", "base.ll", "base.s"}));
}

TEST_F(Driver, CompilesForSeveralTargets) {
    const Outcome outcome = compile({"-e", "static_library,c_header,resources",
                                     "target=x86-64-linux-avx-avx2-fma-sse41,x86-64-linux"});
    EXPECT_TRUE(outcome.success) << outcome.text;
    EXPECT_EQ(files(), (std::set<std::string>{"product.a", "product.h", "product.json"}));
}

TEST_F(Driver, CompilesTheRuntime) {
    const Outcome outcome =
        run({"-r", "runtime", "-o", out(), "-e", "object", "target=host-opencl"});
    EXPECT_TRUE(outcome.success) << outcome.text;
    EXPECT_EQ(files(), std::set<std::string>{"runtime.o"});
}

TEST_F(Driver, HelpListsGeneratorsAndOutputs) {
    for (const char *flag : {"-h", "--help"}) {
        const Outcome outcome = run({flag});
        EXPECT_TRUE(outcome.success);
        EXPECT_NE(outcome.text.find("generators: known"), std::string::npos) << outcome.text;
        EXPECT_NE(outcome.text.find("resources"), std::string::npos);
    }
}

TEST_F(Driver, RefusesWhatItDoesNotKnow) {
    expect_refusal({"-e", "object,objct", "target=host"}, "unknown output objct");
    expect_refusal({"target=hots"}, "hots is not a Halide target");
    expect_refusal({"target=host", "flaw=none"}, "has no GeneratorParam named: flaw");
    expect_refusal({"target=host", "-q"}, "unknown argument -q");
    expect_refusal({"target=host", "--allow=everything"}, "unknown fault everything");
    for (const char *text :
         {"", "shared", "shared:", "shared:-1", "shared:1k", "stack:0", "registers:99999999999"})
        expect_refusal({"target=host", std::string("--budget=") + text},
                       std::string("--budget: \"") + text + "\" is not shared:BYTES");
    expect_refusal({}, "target=… is missing");
    expect_refusal({"target=host", "-e"}, "-e needs a value");
    EXPECT_NE(run({"-g", "unknown", "-o", out(), "target=host"})
                  .text.find("unknown generator unknown; known: known"),
              std::string::npos);
}

TEST_F(Driver, RefusesRegisterCrosstalk) {
    expect_refusal({cuda_target, "fault=crosstalk"}, "register crosstalk in sum", 1);
}

TEST_F(Driver, ReportsTheResourcesOfAKernel) {
    ASSERT_TRUE(compile({"-e", "resources,device_code", cuda_target}).success);
    const std::string report = content("product.json");
    EXPECT_NE(report.find("\"shared_dynamic\": 4096, \"threads\": 256"), std::string::npos)
        << report;
    EXPECT_NE(content("product.device_code").find(".visible .entry"), std::string::npos)
        << "PTX, for readers";
    if (has_tools()) {
        EXPECT_NE(report.find("\"stack_bytes\": 0, \"spill_bytes\": 0, \"shared_static\": 0"),
                  std::string::npos)
            << report;
    }
}

TEST_F(Driver, ReportsOpenClKernelsToo) {
    ASSERT_TRUE(compile({"-e", "resources", "target=host-opencl-no_runtime"}).success);
    const std::string report = content("product.json");
    EXPECT_NE(report.find("\"registers\": -1"), std::string::npos) << report;
    EXPECT_NE(report.find("\"shared_dynamic\": 4096, \"threads\": 256"), std::string::npos)
        << report;
}

// The arguments have the names that the generator declares, in the order of the compiled function.
TEST_F(Driver, ReportsArgumentsAndTimeOfCpuFunctions) {
    ASSERT_TRUE(compile({"-e", "resources", "target=host-user_context"}).success);
    const std::string report = content("product.json");
    const std::string expected =
        "{\"name\": \"product\", \"registers\": -1, \"stack_bytes\": -1, \"spill_bytes\": -1, "
        "\"shared_static\": -1, \"shared_dynamic\": -1, \"threads\": -1, \"functions\": [], "
        "\"arguments\": [{\"name\": \"__user_context\", \"bytes\": 8, \"extents\": []}, "
        "{\"name\": \"a\", \"bytes\": 0, \"extents\": [0, 0]}, "
        "{\"name\": \"b\", \"bytes\": 0, \"extents\": [0, 0]}, "
        "{\"name\": \"c\", \"bytes\": 0, \"extents\": [256, 96]}], \"content\": \"";
    ASSERT_EQ(report.substr(0, expected.size()), expected);
    EXPECT_GT(std::stod(after(report, "\"seconds\": ")), 0);
}

// By which rows of a table share a function.
TEST_F(Driver, ReportsTheSameContentOfFunctionsThatDifferInTheirNames) {
    const auto content_of = [&](const std::string &name, const std::string &target) {
        const std::vector<std::string> arguments = {
            "-g", "known", "-f", name, "-o", out(), "-e", "resources", "target=" + target};
        EXPECT_TRUE(run(arguments).success);
        const std::string value = after(content(name + ".json"), "\"content\": \"");
        return value.substr(0, value.find('"'));
    };
    const std::string first = content_of("first", "host-user_context");
    EXPECT_EQ(first.size(), 32) << first;
    EXPECT_EQ(content_of("second", "host-user_context"), first);
    EXPECT_NE(content_of("second", "host-user_context-no_bounds_query"), first);
}

TEST_F(Driver, RefusesAStackFrame) {
    if (!has_tools()) GTEST_SKIP() << "no ptxas";
    expect_refusal({cuda_target, "fault=stack"},
                   "product: kernel _kernel_c_s0_j_jo_block_id_y has a stack frame of", 1);
    EXPECT_TRUE(compile({cuda_target, "fault=stack", "--allow=stack"}).success);
}

TEST_F(Driver, RefusesASharedSizeThatIsNotConstant) {
    expect_refusal({"target=host-opencl-no_runtime", "fault=dynamic_shared"}, "is not a constant",
                   1);
    EXPECT_TRUE(
        compile({"target=host-opencl-no_runtime", "fault=dynamic_shared", "--allow=dynamic_shared"})
            .success);
}

// 4096 shared bytes, and a register for each of 16 sums at least.
TEST_F(Driver, RefusesWhatIsOverTheBudget) {
    for (const std::string &target : {cuda_target, std::string("target=host-opencl-no_runtime")}) {
        expect_refusal({target, "-e", "resources", "--budget=shared:4095,registers:255"},
                       "uses 4096 bytes of shared memory a block; its budget is 4095", 1);
        EXPECT_TRUE(
            compile({target, "-e", "resources", "--budget=shared:4096,registers:255"}).success);
        fs::remove(fs::path(out()) / "product.json");
    }
    expect_refusal(
        {"target=host-opencl-no_runtime", "fault=dynamic_shared", "--budget=shared:1000000"},
        "is not a constant", 1);
    if (!has_tools()) GTEST_SKIP() << "no ptxas";
    expect_refusal({cuda_target, "--budget=shared:4096,registers:16"},
                   "bytes a thread; its budget is 0", 1);
}

TEST_F(Driver, FallsBackToPtx) {
    setenv("HK_PTXAS", "", 1);
    const Outcome outcome = compile({"-e", "object,resources", cuda_target});
    EXPECT_TRUE(outcome.success);
    EXPECT_NE(outcome.text.find("CUDA code stays PTX"), std::string::npos) << outcome.text;
    EXPECT_NE(content("product.o").find(".visible .entry"), std::string::npos);
    EXPECT_NE(content("product.json").find("\"registers\": -1"), std::string::npos);
}

}  // namespace
