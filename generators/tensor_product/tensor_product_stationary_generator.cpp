// tensor_product_stationary: inputs, outputs, the layout of their buffers, and the schedule by its
// name.
//
// Buffers, innermost first: input [c, g, row]; weight [m, g, c, n]; source [i, slot], offset
// [slot], first [b] and row [i, b] as generators/tensor_product/tensor_product_stationary.h has
// them; previous and output, [m, g, o], which may be one buffer.
//
// Estimates of a compiled kernel tell its caller the rows of a block: row's i.

#include "compiler/lowering.h"
#include "generators/tensor_product/tensor_product_buffers.h"
#include "generators/tensor_product/tensor_product_stationary.h"
#include "schedules/tensor_product/tensor_product_stationary.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class TensorProductStationaryGenerator : public Generator<TensorProductStationaryGenerator> {
public:
    GeneratorParam<Type> type{"type", Float(32)};
    GeneratorParam<std::string> algorithm{"algorithm", "slots"};
    GeneratorParam<std::string> schedule_name{"schedule", "root"};
    GeneratorParam<std::string> knobs{"knobs", ""};

    Input<Buffer<void, 3>> input{"input"};
    Input<Buffer<void, 4>> weight{"weight"};
    Input<Buffer<int32_t, 2>> source{"source"};
    Input<Buffer<int32_t, 1>> offset{"offset"}, first{"first"};
    Input<Buffer<int32_t, 2>> row{"row"};
    Input<int32_t> most{"most"};
    Input<Buffer<void, 3>> previous{"previous"};
    Input<bool> accumulate{"accumulate"};
    Output<Buffer<void, 3>> output{"output"};

    void configure() {
        input.set_type(type);
        weight.set_type(type);
        previous.set_type(type);
        output.set_type(type);
    }

    void generate() {
        if (algorithm.value() != "slots")
            throw CompileError("algorithm is " + algorithm.value() + ", not slots");
        const sc::TensorProductStationaryContext context = {get_target(), schedule_name, knobs};
        const TensorProductStationarySizes sizes = sc::tensor_product_stationary_sizes(context);
        const TensorProductStationaryOperands operands = {
            input,
            weight,
            source,
            offset,
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
        TensorProductStationary stages = tensor_product_stationary(operands, sizes);
        output = stages.output;
        constrain(sizes);
        row.set_estimates({{0, sizes.rows}, {0, 1}});
        sc::apply(sc::tensor_product_stationary_schedules, schedule_name.value(), stages, context);
        hk::compiler::add_lowering_passes(get_pipeline(), get_target());
    }

private:
    // Of the buffer itself, not of the Func that stands for it: only such a value may leave a loop.
    static Expr loaded(const Input<Buffer<int32_t, 1>> &buffer, const Expr &at) {
        const auto *extent = buffer.dim(0).extent().as<Internal::Variable>();
        return Internal::Call::make(extent->param, {at});
    }

    void constrain(const TensorProductStationarySizes &sizes) {
        constrain_grouped(input, weight, previous, output);
        offset.dim(0).set_min(0);
        first.dim(0).set_min(0);
        source.dim(0).set_bounds(0, sizes.rows);
        source.dim(1).set_bounds(0, offset.dim(0).extent()).set_stride(sizes.rows);
        row.dim(0).set_bounds(0, sizes.rows);
        row.dim(1).set_min(0).set_stride(sizes.rows);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TensorProductStationaryGenerator, tensor_product_stationary)
