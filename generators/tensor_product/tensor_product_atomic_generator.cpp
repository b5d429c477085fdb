// tensor_product_atomic: inputs, outputs, the layout of their buffers, and the schedule by its
// name.
//
// Buffers, innermost first: input [c, g, row]; weight [m, g, c, n]; source and target_row [i, t]
// and offset [t] as generators/tensor_product/tensor_product_atomic.h has them; previous and
// output, [m, g, o], which may be one buffer.
//
// Estimates of a compiled kernel tell its caller the pairs of a tile: source's i.

#include "generators/kernel_generator.h"
#include "generators/tensor_product/tensor_product_atomic.h"
#include "generators/tensor_product/tensor_product_buffers.h"
#include "schedules/tensor_product/tensor_product_atomic.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class TensorProductAtomicGenerator : public KernelGenerator<TensorProductAtomicGenerator> {
public:
    Input<Buffer<void, 3>> input{"input"};
    Input<Buffer<void, 4>> weight{"weight"};
    Input<Buffer<int32_t, 2>> source{"source"}, target_row{"target_row"};
    Input<Buffer<int32_t, 1>> offset{"offset"};
    Input<Buffer<void, 3>> previous{"previous"};
    Input<bool> accumulate{"accumulate"};
    Output<Buffer<void, 3>> output{"output"};

    std::vector<std::string> inputs_in_place() const override { return {"previous"}; }

    void configure() { set_types(input, weight, previous, output); }

    void generate() {
        check_algorithm({"tiles", "tiles_of_vectors"});
        const sc::Context context = schedule_context();
        TensorProductAtomicSizes sizes = sc::tensor_product_atomic_sizes(context);
        sizes.vectors = algorithm.value() == "tiles_of_vectors";
        if (sizes.vectors) constrain_vectors();
        const TensorProductAtomicOperands operands = {input,
                                                      weight,
                                                      source,
                                                      target_row,
                                                      offset,
                                                      previous,
                                                      input.dim(2).extent(),
                                                      previous.dim(2).extent(),
                                                      input.dim(0).extent(),
                                                      previous.dim(0).extent(),
                                                      weight.dim(3).extent(),
                                                      offset.dim(0).extent(),
                                                      accumulate,
                                                      type};
        TensorProductAtomic stages = tensor_product_atomic(operands, sizes);
        output = stages.output;
        constrain(sizes);
        source.set_estimates({{0, sizes.pairs}, {0, 1}});
        finish(sc::tensor_product_atomic_schedules, stages, context);
    }

private:
    void constrain_vectors() {
        const int vector = row_vector(type);
        const auto whole = [&](const Expr &number) { return number / vector * vector; };
        input.set_host_alignment(16);
        input.dim(0).set_extent(whole(input.dim(0).extent()));
        for (int d = 1; d < 3; d++) input.dim(d).set_stride(whole(input.dim(d).stride()));
    }
    void constrain(const TensorProductAtomicSizes &sizes) {
        constrain_grouped(input, weight, previous, output);
        if (sizes.vectors) input.dim(0).set_stride(1);
        offset.dim(0).set_min(0);
        for (auto *pairs : {&source, &target_row}) {
            pairs->dim(0).set_bounds(0, sizes.pairs);
            pairs->dim(1).set_bounds(0, offset.dim(0).extent()).set_stride(sizes.pairs);
        }
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(TensorProductAtomicGenerator, tensor_product_atomic)
