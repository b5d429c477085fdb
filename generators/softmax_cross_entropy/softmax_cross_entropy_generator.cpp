// softmax_cross_entropy: inputs, outputs, the layout of their buffers, and the schedule by its
// name.
//
// Buffers: logits and gradient [c, n], which may be one buffer; labels and loss [n], with any
// strides. A loss without rows or a gradient without columns is not wanted.

#include "generators/kernel_generator.h"
#include "generators/softmax_cross_entropy/softmax_cross_entropy.h"
#include "schedules/softmax_cross_entropy/softmax_cross_entropy.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class SoftmaxCrossEntropyGenerator : public KernelGenerator<SoftmaxCrossEntropyGenerator> {
public:
    Input<Buffer<void, 2>> logits{"logits"};
    Input<Buffer<int32_t, 1>> labels{"labels"};
    Input<float> scale{"scale"};
    Output<Buffer<float, 1>> loss{"loss"};
    Output<Buffer<void, 2>> gradient{"gradient"};

    std::vector<std::string> inputs_in_place() const override { return {"logits"}; }

    void configure() { set_types(logits, gradient); }

    void generate() {
        const Expr rows = logits.dim(1).extent(), classes = logits.dim(0).extent();
        logits.dim(0).set_min(0);
        logits.dim(1).set_min(0);
        gradient.dim(0).set_min(0);
        gradient.dim(1).set_bounds(0, rows);
        loss.dim(0).set_min(0).set_stride(Expr());
        labels.dim(0).set_bounds(0, rows).set_stride(Expr());

        sc::SoftmaxCrossEntropyContext context{schedule_context()};
        context.rows = rows;
        context.classes = classes;
        const SoftmaxCrossEntropyOperands operands = {logits, labels, rows,        classes,
                                                      scale,  type,   get_target()};
        const int lanes = sc::softmax_cross_entropy_tile(context).lanes;
        check_algorithm({"rows", "powers"});
        const bool powers = algorithm.value() == "powers";
        SoftmaxCrossEntropy stages =
            powers ? softmax_of_powers(operands, lanes) : softmax_cross_entropy(operands, lanes);
        loss(n) = stages.loss(n);
        gradient(c, n) = stages.gradient(c, n);
        stages.loss = loss;
        stages.gradient = gradient;
        finish(powers ? sc::softmax_of_powers_schedules : sc::softmax_cross_entropy_schedules,
               stages, context);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(SoftmaxCrossEntropyGenerator, softmax_cross_entropy)
