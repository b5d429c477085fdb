// conv2d_backward_bias: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers: image output_gradient (of k) as generators/image_layout.h says; previous and
// bias_gradient, [k, g], which may be one buffer.

#include "generators/conv2d_backward/conv2d_backward_bias.h"
#include "generators/convolution_parameters.h"
#include "schedules/conv2d_backward/conv2d_backward_bias.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class Conv2dBackwardBiasGenerator : public Conv2dParameters<Conv2dBackwardBiasGenerator> {
public:
    Input<Buffer<void, 5>> output_gradient{"output_gradient"};
    Input<Buffer<void, 2>> previous{"previous"};
    Input<bool> accumulate{"accumulate"};
    Output<Buffer<void, 2>> bias_gradient{"bias_gradient"};

    std::vector<std::string> inputs_in_place() const override { return {"previous"}; }

    void configure() { set_types(output_gradient, previous, bias_gradient); }

    void generate() {
        check_algorithm({"partial_sums"});
        constrain_image(output_gradient, fix_filters_per_group, fix_out_w);
        constrain_vector(previous);
        constrain_vector(bias_gradient);
        const sc::Conv2dSizes context = sizes();
        const sc::PartialSums sums = sc::backward_bias_sums(context);
        const Conv2dLayout order(layout);
        const auto [dim_k, dim_g, dim_x, dim_y, dim_n] = order.image_dims();
        const Conv2dBackwardBiasOperands operands = {
            order.image("output_gradient_kgxyn", output_gradient),
            previous,
            output_gradient.dim(dim_n).extent(),
            output_gradient.dim(dim_x).extent(),
            output_gradient.dim(dim_y).extent(),
            output_gradient.dim(dim_k).extent(),
            accumulate,
            type};
        Conv2dBackwardBias stages = conv2d_backward_bias(operands, sums.lanes, sums.parts);
        bias_gradient(k, g) = stages.output(k, g);
        stages.output = bias_gradient;
        finish(sc::conv2d_backward_bias_schedules, stages, context);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Conv2dBackwardBiasGenerator, conv2d_backward_bias)
