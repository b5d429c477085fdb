// activate_backward: inputs, output, and the schedule by its name. generators/elementwise.h has the
// buffers.

#include "generators/activation/activate_backward.h"
#include "schedules/activation/activate_backward.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class ActivateBackwardGenerator : public ElementwiseGenerator<ActivateBackwardGenerator> {
public:
    Input<Buffer<void, 3>> output_gradient{"output_gradient"}, saved{"saved"};
    Input<float> slope{"slope"}, low{"low"}, high{"high"};
    Input<int> smooth{"smooth"};
    Output<Buffer<void, 3>> input_gradient{"input_gradient"};

    std::vector<std::string> inputs_in_place() const override {
        return {"output_gradient", "saved"};
    }

    void configure() { set_types(output_gradient, saved, input_gradient); }

    void generate() {
        check_algorithm({"elementwise"});
        ActivateBackward stages = activate_backward(output_gradient, saved, type,
                                                    {slope, low, high, smooth, get_target()});
        input_gradient(x, y, z) = stages.output(x, y, z);
        stages.output = input_gradient;
        constrain(output_gradient);
        constrain(saved);
        OutputImageParam buffer = stages.output.output_buffer();
        constrain(buffer);
        finish(sc::activate_backward_schedules, stages,
               context(buffer, {smooth == 0, smooth == 1}));
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(ActivateBackwardGenerator, activate_backward)
