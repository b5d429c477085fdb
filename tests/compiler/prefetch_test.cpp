#include "compiler/prefetch.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "compiler/lowering.h"
#include "tests/support/folder.h"

namespace {

using namespace Halide;

// The assembly for a CPU of x86-64 of a loop that prefetches the next row of its input.
std::string assembly(bool ours) {
    ImageParam in(Float(32), 2, "in");
    Func out("out");
    Var x("x"), y("y"), outer("outer"), inner("inner");
    out(x, y) = in(x, y) * 2.f;
    out.split(x, outer, inner, 16)
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

// The loop over lines that Halide 21 makes of `lines` lines of floats, whose steps are too far.
Internal::Stmt lines_of_halide(int lines) {
    using namespace Internal;
    const Expr line = Variable::make(Int(32), "prefetch_split_in.0");
    const Expr first = Variable::make(Int(32), "first");
    const Stmt body = Evaluate::make(
        Call::make(Float(32), Call::prefetch,
                   {Variable::make(Handle(), "in"), first + line * 64, 1, 16}, Call::Intrinsic));
    return For::make("prefetch_split_in.0", 0, lines, ForType::Serial, Partition::Auto,
                     DeviceAPI::None, body);
}

struct Addresses : Internal::IRVisitor {
    using IRVisitor::visit;
    void visit(const Internal::Call *op) override {
        if (op->name == "llvm.prefetch.p0") all.push_back(op->args[0]);
        IRVisitor::visit(op);
    }
    std::vector<Expr> all;
};

// An address, where the buffer and the first element are at zero.
int64_t place(const Expr &address) {
    const std::map<std::string, Expr> zeros = {{"in", make_zero(Handle())}, {"first", 0}};
    const Expr pointer = address.as<Internal::Reinterpret>()->value;
    const Expr at = Internal::simplify(Internal::substitute(zeros, pointer));
    const auto number = Internal::as_const_uint(at);
    return number ? static_cast<int64_t>(*number) : -1;
}

TEST(Prefetch, TakesEachLine) {
    Addresses addresses;
    hk::compiler::prefetch_to_second_cache(lines_of_halide(3)).accept(&addresses);
    ASSERT_EQ(addresses.all.size(), 3u);
    for (int line = 0; line < 3; line++) EXPECT_EQ(place(addresses.all[line]), 64 * line);
}

}  // namespace
