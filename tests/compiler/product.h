#pragma once
// A product of matrices in a CUDA kernel, for tests of the passes that make it one of tensor cores.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "Halide.h"
#include "compiler/instruction_calls.h"
#include "compiler/lowering.h"

namespace hk::test {

using namespace Halide;

// A warp's product of 32 columns by 16 rows, slices of 64 bytes of terms in shared memory: along
// it, a column's terms next to each other, or across it, a term's columns next to each other.
struct Product {
    Type type = Float(16);
    int terms = 64 / type.bytes();  // of the loop `product`
    int lanes_x = 4, lanes_y = 8;   // threads
    bool across = false;
    int apart =
        across ? 32 : terms;  // elements from a column, or term, in shared memory to the next
    int of_lane = across ? 2 : std::min(16 / type.bytes(), 8);  // neighbouring columns of a thread
    int of_row = across && type.bits() == 32 ? 2 : 1;           // neighbouring rows of a thread
    const char *loop = "product";
    int vector = 16 / type.bytes();  // elements that are copied at once
    Type result = Float(32);
    bool squared = false;  // sums of what is no product of two factors
    int stages = 1;        // of the copies
    Type of_rows = type;   // as many bits
    bool filled = false;   // rows past the image are an argument's

    std::string ptx() const {
        const Target target("x86-64-linux-no_runtime-cuda-cuda_capability_80");
        ImageParam in(of_rows, 2, "in"), filter(type, 2, "filter_in");
        Param<uint8_t> outside("outside");
        const Type wide = type.is_float() ? Float(32) : Int(32);
        Func columns("columns"), rows("rows"), sum("sum"), out("out");
        Var k("k"), x("x"), c("c"), kt("kt"), ki("ki"), kj("kj"), xi("xi"), x2("x2"), px("px"),
            block("block"), t0("t0"), t1("t1"), lane("lane");
        const auto divide = [&](Stage stage) {
            stage.split(k, kj, k, of_lane * lanes_x).split(k, kt, ki, of_lane);
            if (of_row > 1)
                stage.split(x, x, x2, of_row).split(x, xi, px, lanes_y);
            else
                stage.split(x, xi, px, lanes_y);
        };
        const int slice = std::max(64 / type.bytes(), terms),
                  whole = across ? 8 : 16 / type.bytes();
        RDom r(0, slice, 0, in.dim(across ? 1 : 0).extent() / slice, "r");
        columns(c, k) = across ? filter(k, c) : filter(c, k);
        const Expr last = in.dim(1).extent() - 1;
        const Expr pixel = filled ? clamp(x, 0, last) : Expr(x);
        const Expr row = across ? in(pixel, c) : in(c, pixel);
        rows(c, x) = filled ? select(x <= last, row, cast(of_rows, outside)) : row;
        const Expr channel = r.y * slice + r.x;
        const Expr a = cast(wide, columns(channel, k)), b = cast(wide, rows(channel, x));
        sum(k, x) += squared ? a * a : a * b;
        out(k, x) = cast(result, sum(k, x));

        for (OutputImageParam buffer : {OutputImageParam(in), OutputImageParam(filter)}) {
            buffer.set_host_alignment(16);
            buffer.dim(0).set_min(0);
            const int vectors = 16;
            buffer.dim(1).set_min(0).set_stride(buffer.dim(1).stride() / vectors * vectors);
        }
        out.output_buffer().dim(0).set_bounds(0, 32);
        auto pixels = out.output_buffer().dim(1);  // whole tiles
        pixels.set_bounds(0, pixels.extent() / 16 * 16);
        out.split(x, block, x, 16);
        divide(out);
        if (of_row > 1)
            out.reorder(ki, kj, x2, xi, kt, px, block);
        else
            out.reorder(ki, kj, xi, kt, px, block);
        out.gpu_blocks(block).gpu_threads(kt, px);
        sum.compute_at(out, block).store_in(MemoryType::Register).bound_extent(x, 16);
        RVar part("part"), product(loop);
        for (const bool updates : {false, true}) {
            Stage stage = updates ? sum.update() : Stage(sum);
            divide(stage);
            std::vector<VarOrRVar> loops = {ki, kj};
            if (of_row > 1) loops.emplace_back(x2);
            loops.emplace_back(xi);
            if (updates) {
                stage.split(r.x, part, product, terms);
                loops.insert(loops.end(), {product, part});
            }
            loops.insert(loops.end(), {kt, px});
            if (updates) loops.emplace_back(r.y);
            stage.reorder(loops).gpu_threads(kt, px).unroll(ki).unroll(kj).unroll(xi);
            if (of_row > 1) stage.unroll(x2);
            if (updates && stages > 1) stage.rename(r.y, RVar("stages_" + std::to_string(stages)));
        }
        for (Func tile : {columns, rows}) {
            Var inner = c, other = tile.args()[1];
            const int extent = other.name() == "k" ? 32 : 16;
            if (across) std::swap(inner, other);
            tile.compute_at(sum, stages > 1 ? RVar("stages_" + std::to_string(stages)) : r.y)
                .store_in(MemoryType::GPUShared)
                .bound_extent(c, slice)
                .bound_extent(tile.args()[1], extent)
                .reorder_storage(inner, other)
                .align_storage(inner, apart)
                .split(inner, t0, inner, whole)
                .split(inner, inner, lane, vector)
                .split(other, other, t1, 8)
                .reorder(lane, inner, other, t0, t1)
                .vectorize(lane)
                .gpu_threads(t0, t1);
        }
        Pipeline pipeline(out);
        hk::compiler::add_lowering_passes(pipeline, target);
        std::vector<Argument> arguments = {in, filter};
        if (filled) arguments.push_back(outside);
        const Module module = pipeline.compile_to_module(arguments, "product", target);
        const Buffer<> code = module.get_device_code_buffer();
        return hk::compiler::make_instructions(static_cast<const char *>(code.data()));
    }
};

inline int count(const std::string &text, const std::string &part) {
    int found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at++) found++;
    return found;
}

inline void expect_part(const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

}  // namespace hk::test
