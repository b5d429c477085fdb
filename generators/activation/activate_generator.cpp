// activate: inputs, output, and the schedule by its name. generators/elementwise.h has the buffers.

#include "generators/activation/activate.h"
#include "schedules/activation/activate.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class ActivateGenerator : public ElementwiseGenerator<ActivateGenerator> {
public:
    Input<Buffer<void, 3>> input{"input"};
    Input<float> slope{"slope"}, low{"low"}, high{"high"};
    Input<int> smooth{"smooth"};
    Output<Buffer<void, 3>> output{"output"};

    std::vector<std::string> inputs_in_place() const override { return {"input"}; }

    void configure() { set_types(input, output); }

    void generate() {
        check_algorithm({"elementwise"});
        Activate stages = activate(input, type, {slope, low, high, smooth, get_target()});
        output(x, y, z) = stages.output(x, y, z);
        stages.output = output;
        constrain(input);
        OutputImageParam buffer = stages.output.output_buffer();
        constrain(buffer);
        finish(sc::activate_schedules, stages, context(buffer, {smooth == 0, smooth == 1}));
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(ActivateGenerator, activate)
