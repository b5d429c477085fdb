#include "compiler/in_place.h"

#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "tests/compiler/product.h"

namespace {

using namespace Halide;
using hk::compiler::parameters_in_place;
using hk::compiler::without_read_only_loads;
using hk::test::count;

// A kernel that doubles b, which has no output, and one that adds that to a and b.
Module sums() {
    const ImageParam a(Float(32), 1, "a"), b(Float(32), 1, "b");
    Func doubled("doubled"), out("out");
    const Var x("x"), xi("xi");
    doubled(x) = b(x) * 2;
    out(x) = doubled(x) + a(x) + b(x);
    for (Func f : {doubled, out}) f.compute_root().gpu_tile(x, xi, 64, TailStrategy::RoundUp);
    return out.compile_to_module({a, b}, "sums",
                                 Target("x86-64-linux-no_runtime-cuda-cuda_capability_80"));
}

std::string ptx_of(const Module &module, const std::set<std::string> &in_place) {
    const std::string ptx = static_cast<const char *>(module.get_device_code_buffer().data());
    return without_read_only_loads(ptx, parameters_in_place(module, in_place));
}

TEST(InPlace, NothingChangesOfOtherInputs) {
    const Module module = sums();
    EXPECT_TRUE(parameters_in_place(module, {}).empty());
    EXPECT_EQ(count(ptx_of(module, {}), "ld.global.nc"), 4);
    EXPECT_EQ(count(ptx_of(module, {}), "ld.global.b32"), 0);
}

TEST(InPlace, LoadsAreOrdinaryWhereTheKernelHasAnOutput) {
    const Module module = sums();
    EXPECT_EQ(parameters_in_place(module, {"b"}).size(), 1u);
    const std::string one = ptx_of(module, {"b"}), both = ptx_of(module, {"a", "b"});
    EXPECT_EQ(count(one, "ld.global.nc"), 3);
    EXPECT_EQ(count(one, "ld.global.b32"), 1);
    EXPECT_EQ(count(both, "ld.global.nc"), 2);
    EXPECT_EQ(count(both, "ld.global.b32"), 2);
}

// Addresses that a loop adds to, of which the line that loads comes first; values are none.
TEST(InPlace, FollowsAddressesIntoLoops) {
    const std::string ptx =
        ".visible .entry k(\n)\n{\n"
        "\tld.param.b64 \t%rd1, [k_param_1];\n"
        "\tld.param.b64 \t%rd2, [k_param_10];\n"
        "\tcvta.to.global.u64 \t%rd3, %rd1;\n"
        "$L__BB0_1:\n"
        "\tld.global.nc.b32 \t%r1, [%rd5];\n"
        "\tld.global.nc.b64 \t%rd6, [%rd4+16];\n"
        "\tld.global.nc.b32 \t%r2, [%rd2];\n"
        "\tld.global.nc.b32 \t%r3, [%rd6];\n"
        "\tmov.b64 \t%rd5, %rd4;\n"
        "\tadd.s64 \t%rd4, %rd3, 4;\n"
        "}\n";
    const std::string made = without_read_only_loads(ptx, {{"k", {1}}});
    for (const char *line : {"\tld.global.b32 \t%r1,", "\tld.global.b64 \t%rd6,",
                             "\tld.global.nc.b32 \t%r2,", "\tld.global.nc.b32 \t%r3,"})
        hk::test::expect_part(made, line);
    EXPECT_EQ(without_read_only_loads(ptx, {{"another", {1}}}), ptx);
}

class Sum : public Generator<Sum>, public hk::compiler::InPlace {
public:
    GeneratorParam<bool> in_place{"in_place", true};
    Input<Buffer<float, 1>> a{"a"}, b{"b"};
    Output<Buffer<float, 1>> sum{"sum"};

    std::vector<std::string> inputs_in_place() const override {
        return in_place.value() ? std::vector<std::string>{"b"} : std::vector<std::string>();
    }

    void generate() {
        const Var x("x"), xi("xi");
        sum(x) = a(x) + b(x);
        Func(sum).gpu_tile(x, xi, 64, TailStrategy::GuardWithIf);
    }
};

// What a generator says comes to its kernels, and decides their key in the cache.
TEST(InPlace, IsSaidByGenerators) {
    const Target target("x86-64-linux-no_runtime-cuda-cuda_capability_80");
    const hk::compiler::Built in_place("sum_of_two", {}, target),
        apart("sum_of_two", {{"in_place", "false"}}, target);
    const auto read_only_loads = [&](const hk::compiler::Built &built) {
        const Module module = built.module("sum", target);
        return count(static_cast<const char *>(module.get_device_code_buffer().data()),
                     "ld.global.nc");
    };
    EXPECT_EQ(read_only_loads(in_place), 1);
    EXPECT_EQ(read_only_loads(apart), 2);
    hk::test::expect_part(in_place.serialized(), "b in place\n");
    EXPECT_EQ(apart.serialized().find("in place\n"), std::string::npos);
}

}  // namespace

HALIDE_REGISTER_GENERATOR(Sum, sum_of_two)
