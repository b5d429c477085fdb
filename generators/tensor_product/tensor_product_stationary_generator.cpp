// tensor_product_stationary: inputs, outputs, the layout of their buffers, and the schedule by its
// name.
//
// Buffers, innermost first: input [c, g, row]; weight [m, g, c, n]; source and, of tiles, target
// [i, slot], offset [slot], first [b] and row [i, b] as
// generators/tensor_product/tensor_product_stationary.h has them; previous and output, [m, g, o],
// which may be one buffer.
//
// Estimates of a compiled kernel tell its caller the rows of a block, row's i, and the pairs of a
// tile, target's i.

#include "generators/kernel_generator.h"
#include "generators/tensor_product/tensor_product_buffers.h"
#include "generators/tensor_product/tensor_product_stationary.h"
#include "schedules/tensor_product/tensor_product_stationary.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class TensorProductStationaryGenerator : public KernelGenerator<TensorProductStationaryGenerator> {
public:
    Input<Buffer<void, 3>> input{"input"};
    Input<Buffer<void, 4>> weight{"weight"};
    Input<Buffer<int32_t, 2>> source{"source"};
    Input<Buffer<int32_t, 1>> offset{"offset"}, first{"first"};
    Input<Buffer<int32_t, 2>> row{"row"};
    Input<int32_t> most{"most"};
    Input<Buffer<void, 3>> previous{"previous"};
    Input<bool> accumulate{"accumulate"};
    Output<Buffer<void, 3>> output{"output"};

    std::vector<std::string> inputs_in_place() const override { return {"previous"}; }

    void configure() {
        set_types(input, weight, previous, output);
        if (tiles()) target_ = add_input<Buffer<int32_t, 2>>("target_row");
    }

    void generate() {
        check_algorithm({"slots", "tiles", "tiles_transposed", "products", "products_transposed"});
        const sc::Context context = schedule_context();
        const TensorProductStationarySizes sizes = sc::tensor_product_stationary_sizes(context);
        const TensorProductStationaryOperands operands = {
            input,
            weight,
            source,
            offset,
            tiles() ? Func(*target_) : Func(),
            [&](const Expr &block) { return loaded(first, block); },
            row,
            previous,
            input.dim(2).extent(),
            previous.dim(2).extent(),
            input.dim(0).extent(),
            previous.dim(0).extent(),
            weight.dim(3).extent(),
            offset.dim(0).extent(),
            row.dim(1).extent(),
            most,
            accumulate,
            type};
        TensorProductStationary stages =
            vectors() ? tensor_product_products(operands, sizes, transposed())
                      : tensor_product_stationary(operands, sizes);
        output = stages.output;
        constrain(sizes);
        row.set_estimates({{0, sizes.rows}, {0, 1}});
        finish(sc::tensor_product_stationary_schedules, stages, context);
    }

private:
    Input<Buffer<int32_t, 2>> *target_ = nullptr;

    bool transposed() const { return algorithm.value().ends_with("_transposed"); }
    bool tiles() const { return algorithm.value().starts_with("tiles"); }
    bool vectors() const { return tiles() || algorithm.value().starts_with("products"); }

    // Of the buffer itself, not of the Func that stands for it: only such a value may leave a loop.
    static Expr loaded(const Input<Buffer<int32_t, 1>> &buffer, const Expr &at) {
        const auto *extent = buffer.dim(0).extent().as<Internal::Variable>();
        return Internal::Call::make(extent->param, {at});
    }

    void constrain(const TensorProductStationarySizes &sizes) {
        constrain_grouped(input, weight, previous, output);
        if (vectors()) constrain_vectors();
        offset.dim(0).set_min(0);
        first.dim(0).set_min(0);
        const int places = tiles() ? sizes.pairs : sizes.rows;
        const auto constrain_slots = [&](Input<Buffer<int32_t, 2>> &of_slots) {
            of_slots.dim(0).set_bounds(0, places);
            of_slots.dim(1).set_bounds(0, offset.dim(0).extent()).set_stride(places);
        };
        constrain_slots(source);
        if (tiles()) {
            constrain_slots(*target_);
            target_->set_estimates({{0, places}, {0, 1}});
        }
        row.dim(0).set_bounds(0, sizes.rows);
        row.dim(1).set_min(0).set_stride(sizes.rows);
    }

    // Whole vectors of channels, next to each other, each at a multiple of its size.
    void constrain_vectors() {
        const int vector = row_vector(type);
        const auto whole = [&](const Expr &number) { return number / vector * vector; };
        const auto constrain_one = [&](auto &buffer, int inner) {
            buffer.set_host_alignment(16);
            for (int d = 0; d < buffer.dimensions(); d++)
                buffer.dim(d).set_stride(d == inner ? Expr(1) : whole(buffer.dim(d).stride()));
        };
        constrain_one(input, 0);
        constrain_one(weight, transposed() ? 2 : 0);
        constrain_one(previous, 0);
        for (auto *rows : {&input, &previous})
            rows->dim(0).set_extent(whole(rows->dim(0).extent()));
        output.set_host_alignment(16);
        for (int d = 0; d < 3; d++)
            output.dim(d).set_stride(d == 0 ? Expr(1) : whole(previous.dim(d).stride()));
        output.dim(0).set_extent(whole(previous.dim(0).extent()));
        weight.dim(0).set_extent(whole(previous.dim(0).extent()));
        weight.dim(2).set_extent(whole(input.dim(0).extent()));
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TensorProductStationaryGenerator, tensor_product_stationary)
