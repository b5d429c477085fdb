// pool2d_backward: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers: images (of c) as generators/image_layout.h says. What an algorithm does not read of
// input and output (generators/pool2d/pool2d_backward.h) may be anything.

#include "generators/pool2d/pool2d_backward.h"
#include "generators/pool2d/pool2d_parameters.h"
#include "schedules/pool2d/pool2d_backward.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class Pool2dBackwardGenerator : public Pool2dParameters<Pool2dBackwardGenerator> {
public:
    Input<Buffer<void, 5>> output_gradient{"output_gradient"};
    Input<Buffer<void, 5>> input{"input"}, output{"output"};
    Input<int32_t> kernel_x{"kernel_x", 1, 1, INT32_MAX}, kernel_y{"kernel_y", 1, 1, INT32_MAX};
    Input<int32_t> stride_x{"stride_x", 1, 1, INT32_MAX}, stride_y{"stride_y", 1, 1, INT32_MAX};
    Input<int32_t> padding_left{"padding_left"}, padding_top{"padding_top"};
    Output<Buffer<void, 5>> input_gradient{"input_gradient"};

    void configure() { set_types(output_gradient, input, output, input_gradient); }

    void generate() {
        for (auto *image : {&output_gradient, &input, &output}) constrain(*image);
        constrain(input_gradient);
        const Conv2dLayout order(layout);
        const auto [dim_c, dim_g, dim_x, dim_y, dim_n] = order.image_dims();
        const Expr width = input_gradient.dim(dim_x).extent();
        const Pool2dBackwardOperands operands = {
            order.image("output_gradient_cgxyn", output_gradient),
            order.image("input_cgxyn", input),
            order.image("output_cgxyn", output),
            windows(*this, width, input_gradient.dim(dim_y).extent()),
            output_gradient.dim(dim_x).extent(),
            output_gradient.dim(dim_y).extent(),
            unpadded(),
            type,
            get_target()};
        Pool2dBackward stages = stages_of(operands);
        input_gradient(order.image_arguments(c)) = stages.output(c, g, x, y, n);
        stages.output = input_gradient;
        sc::Pool2dContext context{sizes()};
        context.row = width * (order.nhwc() ? input_gradient.dim(dim_c).extent() : 1);
        context.rows = input_gradient.dim(dim_y).extent();
        context.stride_x = operands.windows.stride_x;
        context.plane = operands.windows.width * operands.windows.height;
        finish(sc::pool2d_backward_schedules, stages, context);
    }

private:
    Pool2dBackward stages_of(const Pool2dBackwardOperands &operands) const {
        const std::string &name = algorithm.value();
        if (name == "max") return pool2d_backward_max(operands);
        if (name == "max_in_blocks") return pool2d_backward_max_in_blocks(operands);
        if (name == "average") return pool2d_backward_average(operands);
        if (name == "average_in_blocks") return pool2d_backward_average_in_blocks(operands);
        if (name == "max_by_rows") return pool2d_backward_max_by_rows(operands);
        if (name == "max_by_phases") return pool2d_backward_max_by_phases(operands);
        if (name == "average_by_rows") return pool2d_backward_average_by_rows(operands);
        if (name == "average_by_phases") return pool2d_backward_average_by_phases(operands);
        if (name == "max_of_tiles") return pool2d_backward_max_of_tiles(operands);
        if (name == "average_of_tiles") return pool2d_backward_average_of_tiles(operands);
        if (name == "average_of_planes") return pool2d_backward_average_of_planes(operands);
        refuse_algorithm({"max", "max_in_blocks", "average", "average_in_blocks", "max_by_rows",
                          "max_by_phases", "average_by_rows", "average_by_phases", "max_of_tiles",
                          "average_of_tiles", "average_of_planes"});
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Pool2dBackwardGenerator, pool2d_backward)
