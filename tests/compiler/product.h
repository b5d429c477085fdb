#pragma once
// A product of matrices in a CUDA kernel, for tests of the passes that make it one of tensor cores.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
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
    bool squared = false;                // sums of what is no product of two factors
    int stages = 1;                      // of the copies
    Type of_rows = type;                 // as many bits
    bool filled = false;                 // rows past the image are an argument's
    bool cut = false;                    // rows' terms from an argument on are zeros
    bool unrolled = false;               // copies of a thread
    int taps = 1;  // of several, rows are gathered, of a halo of 32 that is copied for all of them
    std::function<Expr(Expr)> finished;  // what becomes of a sum

    std::string ptx() const {
        const Target target("x86-64-linux-no_runtime-cuda-cuda_capability_80");
        Parts p(*this);
        multiply(p);
        schedule_sum(p);
        for (const Func &tile : {p.columns, p.rows}) schedule_copy(p, tile);
        Pipeline pipeline(p.out);
        hk::compiler::add_lowering_passes(pipeline, target);
        std::vector<Argument> arguments = {p.in, p.filter};
        if (filled) arguments.push_back(p.outside);
        if (cut) arguments.push_back(p.first_cut);
        const Module module = pipeline.compile_to_module(arguments, "product", target);
        const Buffer<> code = module.get_device_code_buffer();
        return hk::compiler::make_instructions(static_cast<const char *>(code.data()));
    }

private:
    struct Parts {
        explicit Parts(const Product &of)
            : in(of.of_rows, 2, "in"),
              filter(of.type, 2, "filter_in"),
              slice(std::max(64 / of.type.bytes(), of.terms)),
              r(0, slice, 0, of.taps, 0, in.dim(of.across ? 1 : 0).extent() / slice, "r") {}

        ImageParam in, filter;
        Param<uint8_t> outside{"outside"};
        Param<int> first_cut{"first_cut"};
        Func columns{"columns"}, rows{"rows"}, sum{"sum"}, out{"out"};
        Var k{"k"}, x{"x"}, c{"c"}, kt{"kt"}, ki{"ki"}, kj{"kj"}, xi{"xi"}, x2{"x2"}, px{"px"};
        Var tile{"tile"};
        int slice;  // terms
        RDom r;
    };

    // Each third row is three places further.
    static Expr gathered(const Parts &p, const Expr &channel) {
        const Expr row = p.x % 16, place = row + row / 3 * 2 + p.r.y;
        return p.rows(channel, unsafe_promise_clamped(place, 0, 31), p.x / 16);
    }

    void multiply(Parts &p) const {
        p.columns(p.c, p.k) = across ? p.filter(p.k, p.c) : p.filter(p.c, p.k);
        const Expr last = p.in.dim(1).extent() - 1;
        const Expr pixel = filled ? clamp(p.x, 0, last) : Expr(p.x);
        const Expr row = across ? p.in(pixel, p.c) : p.in(p.c, pixel);
        if (taps > 1)
            p.rows(p.c, p.x, p.tile) = p.in(p.c, p.tile * 16 + p.x);
        else
            p.rows(p.c, p.x) = filled ? select(p.x <= last, row, cast(of_rows, p.outside))
                               : cut  ? select(p.c < p.first_cut, row, cast(of_rows, 0))
                                      : row;
        const Expr channel = p.r.z * p.slice + p.r.x;
        const Type wide = type.is_float() ? Float(32) : Int(32);
        const Expr a = cast(wide, p.columns(channel, p.k + p.r.y * 32)),
                   b = cast(wide, taps > 1 ? gathered(p, channel) : p.rows(channel, p.x));
        p.sum(p.k, p.x) += squared ? a * a : a * b;
        const Expr sum = p.sum(p.k, p.x);
        p.out(p.k, p.x) = cast(result, finished ? finished(sum) : sum);
        constexpr int bytes = 16;
        for (OutputImageParam buffer : {OutputImageParam(p.in), OutputImageParam(p.filter)}) {
            buffer.set_host_alignment(bytes);
            buffer.dim(0).set_min(0);
            buffer.dim(1).set_min(0).set_stride(buffer.dim(1).stride() / bytes * bytes);
        }
        p.out.output_buffer().dim(0).set_bounds(0, 32);
        auto pixels = p.out.output_buffer().dim(1);  // whole tiles
        pixels.set_bounds(0, pixels.extent() / 16 * 16);
    }

    // A warp's loops of its columns and rows; `inside`: loops of a thread's sums.
    void divide(const Parts &p, Stage stage, const std::vector<VarOrRVar> &inside,
                const std::vector<VarOrRVar> &outside) const {
        stage.split(p.k, p.kj, p.k, of_lane * lanes_x).split(p.k, p.kt, p.ki, of_lane);
        std::vector<VarOrRVar> loops = {p.ki, p.kj};
        if (of_row > 1) {
            stage.split(p.x, p.x, p.x2, of_row);
            loops.emplace_back(p.x2);
        }
        stage.split(p.x, p.xi, p.px, lanes_y);
        loops.emplace_back(p.xi);
        loops.insert(loops.end(), inside.begin(), inside.end());
        loops.insert(loops.end(), {p.kt, p.px});
        loops.insert(loops.end(), outside.begin(), outside.end());
        stage.reorder(loops).gpu_threads(p.kt, p.px);
    }

    RVar slices() const { return RVar("stages_" + std::to_string(stages)); }

    void schedule_sum(Parts &p) const {
        const Var block("block");
        p.out.split(p.x, block, p.x, 16);
        divide(p, p.out, {}, {block});
        p.out.gpu_blocks(block);
        p.sum.compute_at(p.out, block).store_in(MemoryType::Register).bound_extent(p.x, 16);
        const RVar part("part"), product(loop);
        p.sum.update().split(p.r.x, part, product, terms);
        divide(p, p.sum, {}, {});
        divide(p, p.sum.update(), {product, part}, {p.r.y, p.r.z});
        for (Stage stage : {Stage(p.sum), p.sum.update()}) {
            stage.unroll(p.ki).unroll(p.kj).unroll(p.xi);
            if (of_row > 1) stage.unroll(p.x2);
        }
        if (stages > 1) p.sum.update().rename(p.r.z, slices());
    }

    void schedule_copy(const Parts &p, Func tile) const {
        const Var t0("t0"), t1("t1"), lane("lane");
        Var inner = p.c, other = tile.args()[1];
        const bool columns = other.name() == "k";
        const int extent = columns || taps > 1 ? 32 : 16;
        if (tile.dimensions() > 2) tile.bound_extent(p.tile, 1);
        if (across) std::swap(inner, other);
        tile.compute_at(p.sum, columns && taps > 1 ? RVar(p.r.y)
                               : stages > 1        ? slices()
                                                   : RVar(p.r.z))
            .store_in(MemoryType::GPUShared)
            .bound_extent(p.c, p.slice)
            .bound_extent(tile.args()[1], extent)
            .reorder_storage(inner, other)
            .align_storage(inner, apart)
            .split(inner, t0, inner, across ? 8 : 16 / type.bytes())
            .split(inner, inner, lane, vector)
            .split(other, other, t1, 8)
            .reorder(lane, inner, other, t0, t1)
            .vectorize(lane)
            .gpu_threads(t0, t1);
        if (unrolled) tile.unroll(other);
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
