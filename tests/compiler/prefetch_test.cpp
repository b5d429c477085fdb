#include "compiler/prefetch.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "compiler/lowering.h"
#include "tests/support/folder.h"

namespace {

using namespace Halide;

// The assembly for a CPU of x86-64 of a loop that prefetches the next row of its input, `floats` of
// it.
std::string assembly(bool ours, int floats = 16) {
    ImageParam in(Float(32), 2, "in");
    Func out("out");
    Var x("x"), y("y"), outer("outer"), inner("inner");
    out(x, y) = in(x, y) * 2.f;
    out.split(x, outer, inner, floats)
        .vectorize(inner)
        .prefetch(in, outer, y, 1, PrefetchBoundStrategy::NonFaulting);
    const Target target("x86-64-linux-avx512_skylake-avx512-avx2-avx-sse41-no_runtime");
    Pipeline pipeline(out);
    if (ours) hk::compiler::add_lowering_passes(pipeline, target);
    const std::string file = hk::test::own_folder() / "out.s";
    pipeline.compile_to_assembly(file, {in}, "out", target);
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

TEST(Prefetch, GoesToTheSecondCache) {
    EXPECT_NE(assembly(true).find("prefetcht1"), std::string::npos);
    EXPECT_EQ(assembly(true).find("prefetchnta"), std::string::npos);
    EXPECT_NE(assembly(false).find("prefetchnta"), std::string::npos)
        << "Halide does it itself: the pass may go";
}

// All lines of three vectors, each once: 64 bytes apart, by their addresses or in them.
TEST(Prefetch, TakesEachLine) {
    const std::string text = assembly(true, 48);
    size_t lines = 0;
    for (size_t at = text.find("prefetcht1"); at != std::string::npos;
         at = text.find("prefetcht1", at + 1))
        lines++;
    EXPECT_EQ(lines % 3, 0u) << text;
    EXPECT_GT(lines, 0u);
    EXPECT_EQ(text.find("$256,"), std::string::npos) << "64 floats, not bytes\n" << text;
}

}  // namespace
