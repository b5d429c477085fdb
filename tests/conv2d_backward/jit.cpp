#include "tests/conv2d_backward/jit.h"

#include "conv2d_backward/operands.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

const char *family_of(Pass pass) {
    switch (pass) {
        case Pass::data:
            return "conv2d_backward_data";
        case Pass::weight:
            return "conv2d_backward_weight";
        case Pass::bias:
            return "conv2d_backward_bias";
    }
    return "";
}

}  // namespace

JitConv2dBackward::JitConv2dBackward(Pass pass, const JitAlgorithm &algorithm,
                                     const std::string &schedule, const std::string &knobs,
                                     DataType type, Layout layout)
    : function_(jit_compile(family_of(pass), algorithm, schedule, knobs, type, layout)) {}

Tensor JitConv2dBackward::operator()(const Conv2dBackwardCase &c, const BackwardOperands &o) const {
    const Conv2dProblem &p = c.problem;
    const Conv2dOptions &options = p.options;
    const int64_t groups = options.groups, channels = p.channels / groups,
                  filters = p.filters / groups;
    const Tensor output = filled(o.output_shape, p.type, o.output_gradient);
    const Tensor gradient = filled(o.gradient_shape, p.type, o.previous);
    auto out = buffer_of(output, image_extents(p, filters, p.output_width(), p.output_height()));
    const auto image = image_extents(p, channels, p.width, p.height);
    const detail::Conv2dNumbers number(options);
    const auto call = [&](auto &&...arguments) { jit_call(function_, to_string(c), arguments...); };
    if (c.pass == Pass::bias) {
        auto vector = buffer_of(gradient, {filters, groups});
        call(out, vector, c.accumulate, vector);
        return gradient;
    }
    const Tensor factor = filled(o.factor_shape, p.type, o.factor);
    if (c.pass == Pass::weight) {
        auto in = buffer_of(factor, image), weight = buffer_of(gradient, filter_extents(p));
        call(out, in, weight, number.stride_x, number.stride_y, number.dilation_x,
             number.dilation_y, number.padding_left, number.padding_top, c.accumulate, weight);
        return gradient;
    }
    auto weight = buffer_of(factor, filter_extents(p)), in = buffer_of(gradient, image);
    const detail::StridePhase phase_x(options.stride[1], options.dilation[1]);
    const detail::StridePhase phase_y(options.stride[0], options.dilation[0]);
    call(out, weight, in, number.stride_x, number.stride_y, number.dilation_x, number.dilation_y,
         number.padding_left, number.padding_top, phase_x.common, phase_y.common, phase_x.inverse,
         phase_y.inverse, c.accumulate, in);
    return gradient;
}

}  // namespace hk::test
