// tensor_product_backward_weight: inputs, outputs, the layout of their buffers, and the schedule by
// its name.
//
// Buffers: input [c, g, row]; output_gradient [m, g, row]; previous and output, [m, g, c, n], which
// may be one buffer; of the algorithm slices one group. source, target [pair], begin, offset [q]
// and first [s] as generators/tensor_product/tensor_product_backward_weight.h has them; of the
// algorithm offsets begin and offset are a slice's, and first [n].
//
// Estimates of a kernel of slices tell its caller the sizes: of output [m, g, c] what channels are
// filled up to a multiple of, of source the pairs of a chunk.

#include "generators/kernel_generator.h"
#include "generators/tensor_product/tensor_product_backward_weight.h"
#include "generators/tensor_product/tensor_product_backward_weight_offsets.h"
#include "schedules/tensor_product/tensor_product_backward_weight.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class WeightGradientGenerator : public KernelGenerator<WeightGradientGenerator> {
public:
    GeneratorParam<int> fix_vectors{"fix_vectors", 1}, fix_adjacent{"fix_adjacent", 0},
        fix_exact{"fix_exact", 0};

    Input<Buffer<void, 3>> input{"input"}, output_gradient{"output_gradient"};
    Input<Buffer<int32_t, 1>> source{"source"}, target_row{"target_row"};
    Input<Buffer<int32_t, 1>> begin{"begin"}, offset{"offset"}, first{"first"};
    Input<int32_t> most{"most"};
    Input<Buffer<void, 4>> previous{"previous"};
    Input<bool> accumulate{"accumulate"};
    Output<Buffer<void, 4>> output{"output"};

    std::vector<std::string> inputs_in_place() const override { return {"previous"}; }

    void configure() { set_types(input, output_gradient, previous, output); }

    void generate() {
        constrain();
        sc::WeightGradientContext context{schedule_context()};
        context.type = type;
        context.vectors = fix_vectors;
        context.exact = fix_exact != 0;
        context.output_adjacent = output.dim(0).stride() == 1;
        if (algorithm.value() == "slices") {
            const WeightGradientSizes sizes = sc::weight_gradient_sizes(context);
            build(tensor_product_backward_weight(operands(first.dim(0).extent() - 1), sizes),
                  sc::weight_gradient_schedules, context);
            source.set_estimates({{0, sizes.pairs}});
            output.set_estimates({{0, sizes.channels}, {0, 1}, {0, sizes.depth}, {0, 1}});
        } else if (algorithm.value() == "offsets" || vectors()) {
            const int step = sc::weight_gradient_step(context);
            if (vectors()) {
                for (auto *rows : {&input, &output_gradient}) constrain_vectors(*rows);
            }
            build(tensor_product_backward_weight_offsets(operands(offset.dim(0).extent()), step,
                                                         vectors()),
                  sc::weight_gradient_offsets_schedules, context);
        } else if (algorithm.value() == "products") {
            for (auto *rows : {&input, &output_gradient}) constrain_vectors(*rows);
            build(tensor_product_backward_weight_products(operands(offset.dim(0).extent())),
                  sc::weight_gradient_product_schedules, context);
        } else {
            refuse_algorithm({"slices", "offsets", "offsets_in_vectors", "products"});
        }
    }

private:
    bool vectors() const { return algorithm.value() == "offsets_in_vectors"; }

    template<typename Stages, typename Table>
    void build(Stages stages, const Table &table, const sc::WeightGradientContext &context) {
        output(m, g, c, n) = stages.output(m, g, c, n);
        stages.output = output;
        this->finish(table, stages, context);
    }

    TensorProductBackwardWeightOperands operands(const Expr &slices) {
        return {input,
                output_gradient,
                source,
                target_row,
                begin,
                offset,
                first,
                previous,
                input.dim(2).extent(),
                output_gradient.dim(2).extent(),
                input.dim(0).extent(),
                output_gradient.dim(0).extent(),
                output.dim(1).extent(),
                source.dim(0).extent(),
                offset.dim(0).extent(),
                slices,
                output.dim(3).extent(),
                most,
                accumulate,
                type};
    }

    // Whole vectors of channels, next to each other, each at a multiple of its size.
    void constrain_vectors(Input<Buffer<void, 3>> &rows) {
        const int vector = 16 / type.value().bytes();
        const auto whole = [&](const Expr &number) { return number / vector * vector; };
        rows.set_host_alignment(16);
        rows.dim(0).set_stride(1);
        for (int d = 1; d < 3; d++) rows.dim(d).set_stride(whole(rows.dim(d).stride()));
        rows.dim(0).set_extent(whole(rows.dim(0).extent()));
    }

    void constrain() {
        for (int d = 0; d < 4; d++) {
            output.dim(d).set_min(0);
            previous.dim(d).set_bounds(0, output.dim(d).extent());
        }
        input.dim(0).set_bounds(0, output.dim(2).extent());
        output_gradient.dim(0).set_bounds(0, output.dim(0).extent());
        if (!fix_adjacent) {
            input.dim(0).set_stride(Expr());
            output_gradient.dim(0).set_stride(Expr());
        }
        output.dim(0).set_stride(Expr());
        previous.dim(0).set_stride(output.dim(0).stride());
        for (auto *rows : {&input, &output_gradient}) {
            rows->dim(1).set_bounds(0, output.dim(1).extent());
            rows->dim(2).set_min(0);
        }
        source.dim(0).set_min(0);
        target_row.dim(0).set_bounds(0, source.dim(0).extent());
        for (auto *places : {&begin, &offset, &first}) places->dim(0).set_min(0);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(WeightGradientGenerator, tensor_product_backward_weight)
