// quantized_conv2d_filter: inputs, outputs, the layout of their buffers, and the schedule by its
// name.
//
// Buffers: filter weight as generators/image_layout.h says; packed as
// generators/quantized_conv2d/quantized_conv2d_filter.h says.

#include "generators/convolution_parameters.h"
#include "schedules/quantized_conv2d/quantized_conv2d_filter.h"

using namespace Halide;

namespace {

using namespace hk::generators;

class QuantizedConv2dFilterGenerator : public Conv2dParameters<QuantizedConv2dFilterGenerator> {
public:
    Input<Buffer<uint8_t, 5>> weight{"weight"};  // the bytes of s8
    Output<Buffer<int8_t, 6>> packed{"packed"};

    void generate() {
        check_algorithm({"words"});
        constrain_filter(weight);
        const Conv2dLayout order(layout);
        const auto dims = order.filter_dims();
        Func stored("stored");
        stored(c, s, r, k, g) =
            reinterpret<int8_t>(order.filter("weight_csrkg", weight)(c, s, r, k, g));
        QuantizedConv2dFilter stages = quantized_conv2d_filter(stored, weight.dim(dims[0]).extent(),
                                                               weight.dim(dims[3]).extent());
        const std::vector<Var> arguments = stages.output.args();
        packed(arguments) = stages.output(arguments);
        stages.output = packed;
        begin_at_zero(packed, 6);
        packed.dim(0).set_extent(kBlockBytes);
        packed.dim(1).set_stride(kBlockBytes);
        finish(hk::schedules::quantized_conv2d_filter_schedules, stages, sizes());
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(QuantizedConv2dFilterGenerator, quantized_conv2d_filter)
