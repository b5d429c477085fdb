#include "compiler/turned_registers.h"

#include <gtest/gtest.h>

#include <functional>

#include "compiler/lowering.h"

namespace {

using namespace Halide;
using namespace Halide::Internal;

const Target target{"host-opencl"};

// Loads and stores of registers at places that are no numbers.
struct Indexed : IRMutator {
    using IRMutator::visit;

    int &found;
    explicit Indexed(int &found) : found(found) {}

    void count(const std::string &name, Expr index) {
        if (const Ramp *ramp = index.as<Ramp>()) index = ramp->base;
        found += name.rfind("sum", 0) == 0 && !is_const(index);
    }
    Expr visit(const Load *op) override {
        count(op->name, op->index);
        return IRMutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        count(op->name, op->index);
        return IRMutator::visit(op);
    }
};

// 2 x * y + x where `squares` does not square that, of tiles of 32 by 8 by threads of 4 by 2, each
// with 8 by 4, or 8 in vectors of 4.
class Tiles {
public:
    enum Where { of_a_block, of_a_thread };

    explicit Tiles(Where where, bool squares = true) {
        RDom twice(0, 2), if_any(0, select(asked_, 1, 0));
        asked_.set(squares);
        sum_(x_, y_) = x_;
        sum_(x_, y_) += x_ * y_ + 0 * twice.x;
        sum_(x_, y_) = sum_(x_, y_) * sum_(x_, y_) + if_any.x;
        out_(x_, y_) = sum_(x_, y_);

        out_.output_buffer().dim(0).set_bounds(0, width);
        out_.output_buffer().dim(1).set_bounds(0, height);
        out_.split(x_, xo_, x_, 32).split(y_, yo_, y_, 8);
        divide(out_);
        out_.unroll(xi_).unroll(yi_).reorder(xi_, yi_, x_, y_, xo_, yo_).gpu_blocks(xo_, yo_);
        out_.gpu_threads(x_, y_);
        sum_.store_in(MemoryType::Register);
        where == of_a_block ? compute_in_block(if_any.x) : compute_in_thread(if_any.x);

        pipeline_ = Pipeline(out_);
        hk::compiler::add_lowering_passes(pipeline_, target);
        pipeline_.add_custom_lowering_pass(new Indexed(indexed));
    }

    void expect(const std::function<int(int, int)> &value) {
        const Buffer<int> out = pipeline_.realize({width, height}, target);
        Buffer<int> on_host = out;
        on_host.copy_to_host();
        on_host.for_each_element([&](int x, int y) {
            ASSERT_EQ(on_host(x, y), value(x, y)) << "x " << x << " y " << y;
        });
        EXPECT_EQ(indexed, 0);
    }

    int indexed = 0;

private:
    static constexpr int width = 64, height = 16;

    void divide(Stage stage) { stage.split(x_, x_, xi_, 8).split(y_, y_, yi_, 4); }

    void compute_in_block(const RVar &any) {
        sum_.compute_at(out_, xo_).bound_extent(x_, 32).bound_extent(y_, 8);
        for (Stage stage : {Stage(sum_), sum_.update()}) {
            divide(stage);
            stage.unroll(xi_).unroll(yi_);
        }
        sum_.reorder(xi_, yi_, x_, y_).gpu_threads(x_, y_);
        sum_.update().gpu_threads(x_, y_);
        divide(sum_.update(1));
        sum_.update(1).reorder(xi_, yi_, x_, y_, any).gpu_threads(x_, y_);
    }

    // The rows of vectors are turned, and in them the vector's elements.
    void compute_in_thread(const RVar &any) {
        const Var turns("turns");
        sum_.compute_at(out_, yi_).bound_extent(x_, 8).vectorize(x_, 4).unroll(x_);
        sum_.update().vectorize(x_, 4).unroll(x_);
        sum_.update(1).rename(x_, turns).reorder(turns, y_, any);
    }

    Var x_{"x"}, y_{"y"}, xo_{"xo"}, yo_{"yo"}, xi_{"xi"}, yi_{"yi"};
    Param<bool> asked_;
    Func sum_{"sum"}, out_{"out"};
    Pipeline pipeline_;
};

int twice(int x, int y) { return x + 2 * x * y; }
int squared(int x, int y) { return twice(x, y) * twice(x, y); }

TEST(TurnRegisters, OfABlock) { Tiles(Tiles::of_a_block).expect(squared); }

TEST(TurnRegisters, OfAThread) { Tiles(Tiles::of_a_thread).expect(squared); }

TEST(TurnRegisters, LeavesThemWhereNoTurnIsTaken) {
    Tiles(Tiles::of_a_block, false).expect(twice);
    Tiles(Tiles::of_a_thread, false).expect(twice);
}

// Each turn stores in two registers, of which the next one has one.
TEST(TurnRegisters, RefusesTurnsThatOverlap) {
    const Expr i = Variable::make(Int(32), "i");
    const auto store = [&](const Expr &at) {
        return Store::make("sum", 1, at, Parameter(), const_true(), ModulusRemainder());
    };
    const auto loop = [&](const Stmt &body) {
        return For::make("i", 0, 4, ForType::Serial, Partition::Never, DeviceAPI::None, body);
    };
    EXPECT_THROW(hk::compiler::turn_registers("sum", loop(Block::make(store(i), store(i + 1)))),
                 CompileError);
    EXPECT_NO_THROW(
        hk::compiler::turn_registers("sum", loop(Block::make(store(2 * i), store(2 * i + 1)))));
}

}  // namespace
