#include "compiler/tensor_cores.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/instruction_calls.h"
#include "compiler/lowering.h"

namespace {

using namespace Halide;

// A warp's product of 32 columns by 16 rows, slices of 32 terms in shared memory.
struct Product {
    Type type = Float(16);
    int terms = 32;                  // of the loop `product`
    int lanes_x = 4, lanes_y = 8;    // threads
    int apart = 32;                  // elements from a column in shared memory to the next
    const char *loop = "product";
    bool squared = false;            // sums of what is no product of two factors

    std::string ptx() const {
        const Target target("x86-64-linux-no_runtime-cuda-cuda_capability_80");
        ImageParam in(type, 2, "in"), filter(type, 2, "filter_in");
        Func columns("columns"), rows("rows"), sum("sum"), out("out");
        Var k("k"), x("x"), c("c"), kt("kt"), ki("ki"), xi("xi"), px("px"), block("block"),
            t0("t0"), t1("t1");
        RDom r(0, 32, 0, in.dim(0).extent() / 32, "r");
        columns(c, k) = filter(c, k);
        rows(c, x) = in(c, x);
        const Expr channel = r.y * 32 + r.x;
        const Expr a = cast<float>(columns(channel, k)), b = cast<float>(rows(channel, x));
        sum(k, x) += squared ? a * a : a * b;
        out(k, x) = sum(k, x);

        for (OutputImageParam buffer : {OutputImageParam(in), OutputImageParam(filter)}) {
            buffer.set_host_alignment(16);
            buffer.dim(0).set_min(0);
            buffer.dim(1).set_min(0).set_stride(buffer.dim(1).stride() / 8 * 8);
        }
        out.output_buffer().dim(0).set_bounds(0, 32);
        const int each = 32 / lanes_x;
        out.split(x, block, x, 16)
            .split(k, kt, ki, each)
            .split(x, xi, px, lanes_y)
            .reorder(ki, xi, kt, px, block)
            .gpu_blocks(block)
            .gpu_threads(kt, px);
        sum.compute_at(out, block).store_in(MemoryType::Register).bound_extent(x, 16);
        RVar slice("slice"), product(loop);
        for (const bool updates : {false, true}) {
            Stage stage = updates ? sum.update() : Stage(sum);
            stage.split(k, kt, ki, each).split(x, xi, px, lanes_y);
            if (updates)
                stage.split(r.x, slice, product, terms)
                    .reorder(ki, xi, product, slice, kt, px, r.y);
            else
                stage.reorder(ki, xi, kt, px);
            stage.gpu_threads(kt, px).unroll(ki).unroll(xi);
        }
        for (Func tile : {columns, rows}) {
            const Var other = tile.args()[1];
            tile.compute_at(sum, r.y)
                .store_in(MemoryType::GPUShared)
                .bound_extent(c, 32)
                .align_storage(c, apart)
                .split(c, t0, c, 8)
                .split(other, other, t1, 8)
                .reorder(c, other, t0, t1)
                .vectorize(c)
                .gpu_threads(t0, t1);
        }
        Pipeline pipeline(out);
        hk::compiler::add_lowering_passes(pipeline, target);
        const Module module = pipeline.compile_to_module({in, filter}, "product", target);
        const Buffer<> code = module.get_device_code_buffer();
        return hk::compiler::make_instructions(static_cast<const char *>(code.data()));
    }
};

int count(const std::string &text, const std::string &part) {
    int found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at++) found++;
    return found;
}

std::string refusal(const Product &product) {
    try {
        product.ptx();
    } catch (const CompileError &error) {
        return error.what();
    }
    return "nothing";
}

void expect_part(const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

TEST(TensorCores, AWarpHasTheProductsAndLoadsOfItsTile) {
    for (const Type type : {Float(16), BFloat(16)}) {
        const std::string ptx = Product{.type = type}.ptx();
        // 16 rows by 8 columns by 16 terms each; of rows two matrices of 16, of columns four of 8.
        EXPECT_EQ(count(ptx, "mma.sync.aligned.m16n8k16.row.col.f32"), 8);
        EXPECT_EQ(count(ptx, type == Float(16) ? ".f32.f16.f16.f32" : ".f32.bf16.bf16.f32"), 8);
        EXPECT_EQ(count(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 6);
        EXPECT_EQ(count(ptx, "hk_"), 0) << "calls are left";
        EXPECT_EQ(count(ptx, "fma.rn"), 0);
    }
}

TEST(TensorCores, CopiesAreOfSixteenBytes) {
    const std::string ptx = Product{}.ptx();
    EXPECT_GT(count(ptx, "st.shared.v4"), 0);
    EXPECT_EQ(count(ptx, "st.shared.b16"), 0);
    EXPECT_GT(count(ptx, "ld.global.nc.v4"), 0);
    EXPECT_EQ(count(ptx, "ld.global.nc.b16"), 0);
}

TEST(TensorCores, OtherLoopsStayWhatTheyAre) {
    const std::string ptx = Product{.loop = "terms"}.ptx();
    EXPECT_EQ(count(ptx, "mma.sync"), 0);
    EXPECT_GT(count(ptx, "fma.rn"), 0);
}

TEST(TensorCores, RefusesWhatIsNoProductOfMatrices) {
    expect_part(refusal({.type = UInt(16)}), "no sum in a register of products");
    expect_part(refusal({.terms = 16}), "it has other than 32 terms");
    expect_part(refusal({.lanes_x = 8, .lanes_y = 4}), "threads are other than 4 in x");
    expect_part(refusal({.apart = 64}), "is not next to another");
    expect_part(refusal({.squared = true}), "it is no outer product");
}

// Four calls, as LLVM writes them, with these arguments in place of the first.
std::string calls(const std::vector<std::string> &of, const std::string &between = "") {
    std::string text = ".extern .func  (.param .b32 func_retval0) hk_ldmatrix_0\n(\n\t.param .b32 "
                       "hk_ldmatrix_0_param_0\n)\n;\n\tmov.b32 %r1, 0;\n";
    for (size_t i = 0; i < of.size(); i++) {
        const std::string number = std::to_string(i);
        text += "\t{ // callseq " + number + ", 0\n\t.param .b32 \tparam0;\n\tst.param.b32 \t[param0], " +
                of[i] + ";\n\t.param .b32 \tretval0;\n\tcall.uni (retval0), hk_ldmatrix_" + number +
                ", (param0);\n\tld.param.b32 \t%r" + std::to_string(10 + i) +
                ", [retval0];\n\t} // callseq " + number + "\n" + between;
    }
    return text + "\tret;\n";
}

TEST(TensorCores, FourCallsAreOneInstruction) {
    EXPECT_EQ(hk::compiler::make_instructions(calls({"%r7", "%r7", "%r7", "%r7"})),
              "\tmov.b32 %r1, 0;\n"
              "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 \t{%r10, %r11, %r12, %r13}, [%r7];\n"
              "\tret;\n");
}

TEST(TensorCores, NumbersGetRegisters) {
    const std::string ptx = hk::compiler::make_instructions(calls({"128", "128", "128", "128"}));
    expect_part(ptx, "mov.b32 \t%number0, 128;\n");
    expect_part(ptx, "{%r10, %r11, %r12, %r13}, [%number0];\n");
}

TEST(TensorCores, CallsThatAreNotOneInstructionAreRefused) {
    using hk::compiler::make_instructions;
    EXPECT_THROW(make_instructions(calls({"%r7", "%r8", "%r7", "%r7"})), CompileError);
    EXPECT_THROW(make_instructions(calls({"%r7", "%r7", "%r7"})), CompileError);
    EXPECT_THROW(make_instructions(calls({"%r7", "%r7", "%r7", "%r7"}, "\tadd.s32 %r7, %r7, 1;\n")),
                 CompileError);
}

TEST(TensorCores, OtherTextStays) {
    const std::string ptx = "\t{ // callseq 0, 0\n\tcall.uni (retval0), other, ();\n\t} // callseq 0\n";
    EXPECT_EQ(hk::compiler::make_instructions(ptx), ptx);
}

}  // namespace
