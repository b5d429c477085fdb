// sgd: inputs, outputs, and the schedule by its name. generators/elementwise.h has the buffers;
// those of parameter and velocity are outputs that the kernel reads too.

#include "generators/sgd/sgd.h"
#include "schedules/sgd/sgd.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class SgdGenerator : public ElementwiseGenerator<SgdGenerator> {
public:
    Input<Buffer<void, 3>> gradient{"gradient"};
    Input<float> learning_rate{"learning_rate"}, momentum{"momentum"}, weight_decay{"weight_decay"};
    Input<bool> nesterov{"nesterov"};
    GeneratorOutput<Func> *updated = nullptr;

    void configure() {
        set_types(gradient);
        const std::vector<Type> types(has_momentum() ? 2 : 1, type.value());
        updated = add_output<Func>("updated", types, 3);
    }

    void generate() {
        check_algorithm({"momentum", "plain"});
        const SgdOperands operands = {gradient,     learning_rate, momentum,
                                      weight_decay, nesterov,      type};
        Sgd stages = has_momentum() ? sgd_momentum(operands) : sgd_plain(operands);
        *updated = stages.output;
        constrain(gradient);
        std::vector<OutputImageParam> buffers = stages.output.output_buffers();
        constrain(buffers[0]);
        if (has_momentum()) constrain_strides(buffers[1]);
        finish(sc::sgd_schedules, stages, context(buffers[0], {}));
    }

private:
    bool has_momentum() const { return algorithm.value() == "momentum"; }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(SgdGenerator, sgd)
