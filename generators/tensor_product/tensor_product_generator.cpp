// tensor_product: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers: input [c, row]; weight [m, c, n]; source, target [i, t], offset [t] and first [b] as
// generators/tensor_product/tensor_product.h has them; previous and output, [m, o], which may be
// one buffer.
//
// Estimates of a compiled kernel tell its caller the sizes: of output [m, o] those of a block, of
// source [i] the pairs of a tile.

#include "generators/kernel_generator.h"
#include "generators/tensor_product/tensor_product.h"
#include "schedules/tensor_product/tensor_product.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class TensorProductGenerator : public KernelGenerator<TensorProductGenerator> {
public:
    GeneratorParam<int> fix_vectors{"fix_vectors", 1}, fix_adjacent{"fix_adjacent", 0};

    Input<Buffer<void, 2>> input{"input"};
    Input<Buffer<void, 3>> weight{"weight"};
    Input<Buffer<int32_t, 2>> source{"source"}, target_row{"target_row"};
    Input<Buffer<int32_t, 1>> offset{"offset"}, first{"first"};
    Input<int32_t> most{"most"};
    Input<Buffer<void, 2>> previous{"previous"};
    Input<bool> accumulate{"accumulate"};
    Output<Buffer<void, 2>> output{"output"};

    std::vector<std::string> inputs_in_place() const override { return {"previous"}; }

    void configure() { set_types(input, weight, previous, output); }

    void generate() {
        check_algorithm({"tiles"});
        sc::TensorProductContext context{schedule_context()};
        context.type = type;
        context.vectors = fix_vectors;
        context.offsets = weight.dim(2).extent();
        context.weight_adjacent = weight.dim(0).stride() == 1;
        const TensorProductSizes sizes = sc::tensor_product_sizes(context);
        constrain(sizes);
        const TensorProductOperands operands = {input,
                                                weight,
                                                source,
                                                target_row,
                                                offset,
                                                first,
                                                previous,
                                                input.dim(1).extent(),
                                                input.dim(0).extent(),
                                                weight.dim(0).extent(),
                                                weight.dim(2).extent(),
                                                offset.dim(0).extent() / sizes.group,
                                                most,
                                                accumulate,
                                                type};
        TensorProduct stages = tensor_product(operands, sizes);
        output(m, o) = stages.output(m, o);
        source.set_estimates({{0, sizes.pairs}, {0, sizes.group}});
        weight.set_estimates({{0, sizes.channels}, {0, sizes.depth}, {0, 1}});
        output.set_estimates({{0, sizes.channels}, {0, sizes.rows}});
        stages.output = output;
        finish(sc::tensor_product_schedules, stages, context);
    }

private:
    void constrain(const TensorProductSizes &sizes) {
        for (int d = 0; d < 2; d++) {
            input.dim(d).set_min(0);
            output.dim(d).set_min(0);
            previous.dim(d).set_bounds(0, output.dim(d).extent());
        }
        if (!fix_adjacent) {
            input.dim(0).set_stride(Expr());
            output.dim(0).set_stride(Expr());
        }
        previous.dim(0).set_stride(output.dim(0).stride());
        weight.dim(0).set_bounds(0, output.dim(0).extent()).set_stride(Expr());
        weight.dim(1).set_bounds(0, input.dim(0).extent());
        weight.dim(2).set_min(0);
        offset.dim(0).set_min(0);
        first.dim(0).set_min(0);
        for (auto *pairs : {&source, &target_row}) {
            pairs->dim(0).set_bounds(0, sizes.pairs);
            pairs->dim(1).set_bounds(0, offset.dim(0).extent()).set_stride(sizes.pairs);
        }
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TensorProductGenerator, tensor_product)
