// A product of 64x64 tiles with its operands staged in shared memory: 256 threads with 16 sums
// each, and 2 * 8 * 64 * 4 = 4096 shared bytes. `fault` breaks what the kernel compiler has to
// notice.

#include "compiler/lowering.h"

using namespace Halide;

namespace {

class Known : public Generator<Known> {
public:
    GeneratorParam<std::string> fault{"fault", "none"};  // none, stack, dynamic_shared, crosstalk
    GeneratorParam<bool> negated{"negated", false};

    Input<Buffer<float, 2>> a{"a"}, b{"b"};
    Output<Buffer<float, 2>> c{"c"};

    void generate() {
        Var i("i"), j("j"), io("io"), ii("ii"), it("it"), jo("jo"), ji("ji"), jt("jt");
        Func row("row"), column("column"), sum("sum");
        RDom r(0, 8, 0, a.dim(1).extent() / 8);
        const Expr k = r.y * 8 + r.x;
        row(i, j) = negated ? -a(i, j) : Expr(a(i, j));
        column(i, j) = b(i, j);
        sum(i, j) += row(i, k) * column(k, j);
        const bool crosstalk = fault.value() == "crosstalk";
        // Of a thread's own the one that an argument says: an index.
        const Expr other = (j / 16 + clamp(a.dim(1).extent(), 0, 100)) % 4;
        c(i, j) = crosstalk                  ? sum((i / 64) * 64 + 63 - i % 64, j)
                  : fault.value() == "stack" ? sum(i, (j / 64) * 64 + other * 16 + j % 16)
                                             : sum(i, j);

        c.dim(0).set_bounds(0, 256);
        c.dim(1).set_bounds(0, 256);
        c.set_estimates({{0, 256}, {0, 96}});
        if (!get_target().has_gpu_feature()) return;
        Func out = c;
        out.tile(i, j, io, jo, i, j, 64, 64)
            .split(i, ii, it, 16)
            .split(j, ji, jt, 16)
            .reorder(ii, ji, it, jt, io, jo)
            .gpu_blocks(io, jo)
            .gpu_threads(it, jt)
            .unroll(ii)
            .unroll(ji);
        sum.compute_at(out, io)
            .store_in(MemoryType::Register)
            .bound_extent(i, 64)
            .bound_extent(j, 64);
        for (Stage stage : {Stage(sum), sum.update()})
            stage.split(i, ii, it, 16).split(j, ji, jt, 16);
        sum.reorder(ii, ji, it, jt).gpu_threads(it, jt);
        sum.update().reorder(ii, ji, r.x, it, jt, r.y).gpu_threads(it, jt).unroll(r.x);
        sum.unroll(ii).unroll(ji);
        sum.update().unroll(ii).unroll(ji);
        stage(row, sum, r.y);
        stage(column, sum, r.y);
        if (fault.value() == "dynamic_shared") row.bound_storage(row.args()[1], a.dim(1).extent());
        hk::compiler::add_lowering_passes(get_pipeline(), get_target());
    }

private:
    // 512 floats by 256 threads.
    static void stage(Func tile, Func consumer, RVar at) {
        Var f("f"), copy("copy"), t0("t0"), t1("t1");
        tile.compute_at(consumer, at)
            .store_in(MemoryType::GPUShared)
            .fuse(tile.args()[0], tile.args()[1], f)
            .split(f, copy, f, 256)
            .split(f, t1, t0, 16)
            .reorder(copy, t0, t1)
            .gpu_threads(t0, t1);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Known, known)
