#include "compiler/wide_vectors.h"

#include <gtest/gtest.h>

#include "tests/compiler/product.h"

namespace {

using namespace Halide;
using hk::test::count;

// A copy of rows, eight elements a thread.
std::string ptx_of_copy(Type type, int host_alignment, int multiple,
                        const char *device = "cuda-cuda_capability_80") {
    const Target target(std::string("x86-64-linux-no_runtime-") + device);
    ImageParam in(type, 2, "in");
    Func out("out");
    const Var x("x"), y("y"), thread("thread"), lane("lane"), block("block");
    out(x, y) = select(y < 5, in(x, y), cast(type, 0));
    for (OutputImageParam buffer : {OutputImageParam(in), out.output_buffer()}) {
        buffer.set_host_alignment(host_alignment);
        buffer.dim(0).set_bounds(0, 256);
        buffer.dim(1).set_min(0).set_stride(buffer.dim(1).stride() / multiple * multiple);
    }
    out.split(x, thread, lane, 8)
        .vectorize(lane)
        .reorder(lane, thread, y)
        .gpu_blocks(y)
        .gpu_threads(thread);
    Pipeline pipeline(out);
    hk::compiler::add_lowering_passes(pipeline, target);
    const Module module = pipeline.compile_to_module({in}, "copy", target);
    return static_cast<const char *>(module.get_device_code_buffer().data());
}

TEST(WideVectors, EightElementsAreFourWords) {
    for (const Type type : {Float(16), BFloat(16), UInt(16)}) {
        const std::string ptx = ptx_of_copy(type, 16, 8);
        EXPECT_EQ(count(ptx, "ld.global.nc.v4.b32"), 1) << ptx;
        EXPECT_EQ(count(ptx, "st.global.v4.b32"), 1) << ptx;
        EXPECT_EQ(count(ptx, ".b16"), 0) << "words pass elements";
    }
}

TEST(WideVectors, WhatMayBeginAnywhereStays) {
    EXPECT_EQ(count(ptx_of_copy(Float(16), 2, 8), "global.v4.b32"), 0) << "the buffer";
    EXPECT_EQ(count(ptx_of_copy(Float(16), 16, 1), "global.v4.b32"), 0) << "a row";
}

}  // namespace
