// pool2d: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers: images input and output (of c) as generators/image_layout.h says.

#include "generators/pool2d/pool2d_parameters.h"
#include "schedules/pool2d/pool2d.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class Pool2dGenerator : public Pool2dParameters<Pool2dGenerator> {
public:
    Input<Buffer<void, 5>> input{"input"};
    Input<int32_t> kernel_x{"kernel_x"}, kernel_y{"kernel_y"};
    Input<int32_t> stride_x{"stride_x"}, stride_y{"stride_y"};
    Input<int32_t> padding_left{"padding_left"}, padding_top{"padding_top"};
    Output<Buffer<void, 5>> output{"output"};

    void configure() { set_types(input, output); }

    void generate() {
        constrain(input);
        constrain(output);
        const Conv2dLayout order(layout);
        const auto [dim_c, dim_g, dim_x, dim_y, dim_n] = order.image_dims();
        const Pool2dOperands operands = {
            order.image("input_cgxyn", input),
            windows(*this, input.dim(dim_x).extent(), input.dim(dim_y).extent()),
            input.dim(dim_c).extent(),
            unpadded(),
            order.nhwc(),
            type,
            get_target()};
        Pool2d stages = stages_of(operands);
        output(order.image_arguments(c)) = stages.output(c, g, x, y, n);
        stages.output = output;
        sc::Pool2dContext context{sizes()};
        context.row = output.dim(dim_x).extent() * (order.nhwc() ? output.dim(dim_c).extent() : 1);
        context.rows = output.dim(dim_y).extent();
        context.stride_x = operands.windows.stride_x;
        context.plane = operands.windows.width * operands.windows.height;
        context.stride_c = output.dim(dim_c).stride();
        finish(sc::pool2d_schedules, stages, context);
    }

private:
    Pool2d stages_of(const Pool2dOperands &operands) const {
        const std::string &name = algorithm.value();
        if (name == "max") return pool2d_max(operands);
        if (name == "average") return pool2d_average(operands);
        if (name == "average_of_tiles") return pool2d_average_of_tiles(operands);
        if (name == "average_in_blocks") return pool2d_average_in_blocks(operands);
        if (name == "max_by_rows") return pool2d_max_by_rows(operands);
        if (name == "average_by_rows") return pool2d_average_by_rows(operands);
        if (name == "average_in_lanes") return pool2d_average_in_lanes(operands);
        if (name == "average_of_planes") return pool2d_average_of_planes(operands);
        refuse_algorithm({"max", "average", "average_of_tiles", "average_in_blocks", "max_by_rows",
                          "average_by_rows", "average_in_lanes", "average_of_planes"});
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Pool2dGenerator, pool2d)
