// conv2d_filter: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers: filter weight as generators/image_layout.h says; packed [ki, c, s, r, ko, g] of f32, as
// generators/conv2d/conv2d_filter.h says.

#include "generators/conv2d/conv2d_filter.h"
#include "generators/convolution_parameters.h"
#include "schedules/conv2d/conv2d_filter.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class Conv2dFilterGenerator : public Conv2dParameters<Conv2dFilterGenerator> {
public:
    Input<Buffer<void, 5>> weight{"weight"};
    Output<Buffer<float, 6>> packed{"packed"};

    void configure() { weight.set_type(type); }

    void generate() {
        check_algorithm({"vectors"});
        constrain_filter(weight);
        const Conv2dLayout order(layout);
        const auto dims = order.filter_dims();
        Conv2dFilter stages =
            conv2d_filter(order.filter("weight_csrkg", weight), weight.dim(dims[3]).extent());
        const std::vector<Var> arguments = stages.output.args();
        packed(arguments) = stages.output(arguments);
        stages.output = packed;
        begin_at_zero(packed, 6);
        packed.dim(0).set_extent(kFilterBlock);
        finish(sc::conv2d_filter_schedules, stages, sizes());
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Conv2dFilterGenerator, conv2d_filter)
