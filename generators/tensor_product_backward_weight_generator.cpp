// tensor_product_backward_weight: inputs, outputs, the layout of their buffers, and the schedule by
// its name.
//
// Buffers: input [c, row]; output_gradient [m, row]; source, target [pair], begin, offset [q],
// first [s] as generators/tensor_product_backward_weight.h has them; previous and output, [m, c,
// n], which may be one buffer. Estimates of a compiled kernel tell its caller the sizes: of output
// [m, c] what channels are filled up to a multiple of, of source the pairs of a chunk.

#include "compiler/lowering.h"
#include "generators/tensor_product_backward_weight.h"
#include "schedules/tensor_product_backward_weight.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class WeightGradientGenerator : public Generator<WeightGradientGenerator> {
public:
    GeneratorParam<Type> type{"type", Float(32)};
    GeneratorParam<std::string> algorithm{"algorithm", "slices"};
    GeneratorParam<std::string> schedule_name{"schedule", "root"};
    GeneratorParam<std::string> knobs{"knobs", ""};
    GeneratorParam<int> fix_vectors{"fix_vectors", 1}, fix_adjacent{"fix_adjacent", 0},
        fix_exact{"fix_exact", 0};

    Input<Buffer<void, 2>> input{"input"}, output_gradient{"output_gradient"};
    Input<Buffer<int32_t, 1>> source{"source"}, target_row{"target_row"};
    Input<Buffer<int32_t, 1>> begin{"begin"}, offset{"offset"}, first{"first"};
    Input<int32_t> most{"most"};
    Input<Buffer<void, 3>> previous{"previous"};
    Input<bool> accumulate{"accumulate"};
    Output<Buffer<void, 3>> output{"output"};

    void configure() {
        input.set_type(type);
        output_gradient.set_type(type);
        previous.set_type(type);
        output.set_type(type);
    }

    void generate() {
        if (algorithm.value() != "slices")
            throw CompileError("algorithm is " + algorithm.value() + ", not slices");
        constrain();
        const sc::WeightGradientContext context = {
            get_target(), type, knobs, fix_vectors, fix_exact != 0, output.dim(0).stride() == 1};
        const WeightGradientSizes sizes = sc::weight_gradient_sizes(context);
        const TensorProductBackwardWeightOperands operands = {input,
                                                              output_gradient,
                                                              source,
                                                              target_row,
                                                              begin,
                                                              offset,
                                                              first,
                                                              previous,
                                                              input.dim(1).extent(),
                                                              output_gradient.dim(1).extent(),
                                                              input.dim(0).extent(),
                                                              output_gradient.dim(0).extent(),
                                                              source.dim(0).extent(),
                                                              offset.dim(0).extent(),
                                                              first.dim(0).extent() - 1,
                                                              output.dim(2).extent(),
                                                              most,
                                                              accumulate,
                                                              type};
        TensorProductBackwardWeight stages = tensor_product_backward_weight(operands, sizes);
        output(m, c, n) = stages.output(m, c, n);
        source.set_estimates({{0, sizes.pairs}});
        output.set_estimates({{0, sizes.channels}, {0, sizes.depth}, {0, 1}});
        stages.output = output;
        sc::apply(sc::weight_gradient_schedules(), schedule_name.value(), stages, context);
        hk::compiler::add_lowering_passes(get_pipeline(), get_target());
    }

private:
    void constrain() {
        for (int d = 0; d < 3; d++) {
            output.dim(d).set_min(0);
            previous.dim(d).set_bounds(0, output.dim(d).extent());
        }
        input.dim(0).set_bounds(0, output.dim(1).extent());
        output_gradient.dim(0).set_bounds(0, output.dim(0).extent());
        if (!fix_adjacent) {
            input.dim(0).set_stride(Expr());
            output_gradient.dim(0).set_stride(Expr());
        }
        output.dim(0).set_stride(Expr());
        previous.dim(0).set_stride(output.dim(0).stride());
        for (auto *rows : {&input, &output_gradient}) rows->dim(1).set_min(0);
        source.dim(0).set_min(0);
        target_row.dim(0).set_bounds(0, source.dim(0).extent());
        for (auto *places : {&begin, &offset, &first}) places->dim(0).set_min(0);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(WeightGradientGenerator, tensor_product_backward_weight)
