#include "compiler/privatize_registers.h"

#include <gtest/gtest.h>

#include "compiler/lowering.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;

// Sums of windows, a 16 x 4 tile a block with 8 x 4 threads: each thread has two sums, which stay
// in registers while windows are staged in shared memory. The output at x takes the sum at
// place(x): a thread reads another's sums unless that keeps x / 2.
class Windows {
public:
    enum Outputs { unrolled, in_a_loop };

    explicit Windows(const std::function<Expr(Expr)> &place, bool vectors = false,
                     Outputs outputs = unrolled) {
        RDom r(0, 8, 0, 3);
        staged_(x_, y_) = in_(x_, y_);
        sum_(x_, y_) += staged_(r.x + 8 * r.y, y_) * (x_ + r.x);
        out_(x_, y_) = sum_(place(x_), y_);

        out_.output_buffer().dim(0).set_bounds(0, width);
        out_.output_buffer().dim(1).set_bounds(0, height);
        Var xo("xo"), xi("xi"), xt("xt"), yo("yo");
        const auto each = [&](Stage stage) { vectors ? stage.vectorize(xi) : stage.unroll(xi); };
        out_.split(x_, xo, x_, 16).split(y_, yo, y_, 4).split(x_, xt, xi, 2);
        out_.reorder(xi, xt, y_, xo, yo).gpu_blocks(xo, yo).gpu_threads(xt, y_);
        if (outputs == unrolled) out_.unroll(xi);
        sum_.compute_at(out_, xo)
            .store_in(MemoryType::Register)
            .bound_extent(x_, 16)
            .bound_extent(y_, 4);
        for (Stage stage : {Stage(sum_), sum_.update()}) stage.split(x_, xt, xi, 2);
        sum_.reorder(xi, xt, y_).gpu_threads(xt, y_);
        sum_.update().reorder(xi, r.x, xt, y_, r.y).gpu_threads(xt, y_).unroll(r.x);
        each(sum_);
        each(sum_.update());
        staged_.compute_at(sum_, r.y).store_in(MemoryType::GPUShared).gpu_threads(x_, y_);

        in_.set(input());
        pipeline_ = Pipeline(out_);
        hk::compiler::add_lowering_passes(pipeline_, target);
    }

    // Elements of the registers that a thread was left with.
    int slice() {
        struct Size : IRMutator {
            using IRMutator::visit;
            int &found;
            explicit Size(int &found) : found(found) {}
            Stmt visit(const Allocate *op) override {
                if (op->memory_type == MemoryType::Register) found = op->constant_allocation_size();
                return IRMutator::visit(op);
            }
        };
        slice_ = -1;
        pipeline_.add_custom_lowering_pass(new Size(slice_));
        pipeline_.compile_to_module({in_}, "windows", target);
        return slice_;
    }

    Buffer<float> run() { return pipeline_.realize({width, height}, target); }

    static Buffer<float> input() {
        Buffer<float> values(24, height);
        values.for_each_element(
            [&](int x, int y) { values(x, y) = static_cast<float>((x * 5 + y * 3) % 7 - 3); });
        return values;
    }

    static Buffer<float> expected(const std::function<int(int)> &place) {
        const Buffer<float> in = input();
        Buffer<float> out(width, height);
        out.for_each_element([&](int x, int y) {
            const int at = place(x);
            out(x, y) = 0;
            for (int r = 0; r < 24; r++) out(x, y) += in(r, y) * static_cast<float>(at + r % 8);
        });
        return out;
    }

    static constexpr int width = 48, height = 8;
    static inline const Target target{"host-opencl"};

private:
    ImageParam in_{Float(32), 2, "in"};
    Var x_{"x"}, y_{"y"};
    Func staged_{"staged"}, sum_{"sum"}, out_{"out"};
    Pipeline pipeline_;
    int slice_ = -1;
};

void expect_equal(const Buffer<float> &got, const Buffer<float> &wanted) {
    wanted.for_each_element(
        [&](int x, int y) { EXPECT_EQ(got(x, y), wanted(x, y)) << "x " << x << " y " << y; });
}

TEST(PrivatizeRegisters, GivesAThreadItsOwnSums) {
    Windows windows([](const Expr &x) { return x; });
    EXPECT_EQ(windows.slice(), 2);
    expect_equal(windows.run(), Windows::expected([](int x) { return x; }));
}

TEST(PrivatizeRegisters, KeepsVectors) {
    Windows windows([](const Expr &x) { return x; }, true);
    EXPECT_EQ(windows.slice(), 2);
    expect_equal(windows.run(), Windows::expected([](int x) { return x; }));
}

// Registers have no index: in a loop of two turns the load is a choice between two.
TEST(PrivatizeRegisters, ChoosesInLoopsThatAreNotUnrolled) {
    Windows windows([](const Expr &x) { return x; }, false, Windows::in_a_loop);
    EXPECT_EQ(windows.slice(), 2);
    expect_equal(windows.run(), Windows::expected([](int x) { return x; }));
}

// Both outputs of a thread are its second sum: the elements differ, the thread is the same.
TEST(PrivatizeRegisters, AcceptsOtherElementsOfTheSameThread) {
    Windows windows([](const Expr &x) { return x / 2 * 2 + 1; });
    expect_equal(windows.run(), Windows::expected([](int x) { return x / 2 * 2 + 1; }));
}

void expect_crosstalk(const std::function<Expr(Expr)> &place) {
    Windows windows(place);
    try {
        windows.run();
        ADD_FAILURE() << "compiled";
    } catch (const CompileError &error) {
        EXPECT_NE(std::string(error.what()).find("register crosstalk in sum"), std::string::npos)
            << error.what();
    }
}

TEST(PrivatizeRegisters, RejectsAnotherThreadsSums) {
    expect_crosstalk([](const Expr &x) { return x / 16 * 16 + 15 - x % 16; });
    expect_crosstalk([](const Expr &x) { return x / 16 * 16 + (x + 2) % 16; });
    expect_crosstalk([](const Expr &x) { return x / 16 * 16 + 4; });
}

}  // namespace
