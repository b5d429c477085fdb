#include "tests/conv2d/jit.h"

#include "tests/conv2d/packed_filter.h"
#include "tests/support/values.h"

namespace hk::test {

JitAlgorithm winograd_algorithm() {
    using Relation = Constraint::Relation;
    JitAlgorithm result{"winograd", {{"algorithm", "winograd"}}, {}};
    for (const auto &[field, value] : std::map<const char *, int>{{"kernel_w", 3},
                                                                  {"kernel_h", 3},
                                                                  {"stride_x", 1},
                                                                  {"stride_y", 1},
                                                                  {"dilation_x", 1},
                                                                  {"dilation_y", 1}}) {
        result.parameters[std::string("fix_") + field] = std::to_string(value);
        result.where.push_back({field, Relation::equal, value});
    }
    return result;
}

JitConv2d::JitConv2d(const JitAlgorithm &algorithm, const std::string &schedule,
                     const std::string &knobs, DataType type, Layout layout)
    : algorithm_(algorithm.parameters.at("algorithm")),
      function_(jit_compile("conv2d", algorithm, schedule, knobs, type, layout)) {}

Tensor JitConv2d::operator()(const Conv2dCase &c, const Conv2dOperands &o) const {
    const Conv2dProblem &p = c.problem;
    const Conv2dOptions &options = p.options;
    const int64_t groups = options.groups, channels = p.channels / groups,
                  filters = p.filters / groups, w = p.output_width(), h = p.output_height();
    const Tensor input = filled(o.input_shape, p.type, o.input);
    const Tensor weight = filled(o.weight_shape, p.type, o.weight);
    const Tensor bias = filled({p.filters}, p.type, o.bias);
    const Tensor residual = filled(o.output_shape, p.type, o.residual);
    const Tensor output = filled(o.output_shape, p.type, {});
    const JitActivation a = jit_activation(options);
    auto in = buffer_of(input, image_extents(p, channels, p.width, p.height));
    Halide::Buffer<> filter = buffer_of(weight, filter_extents(p));
    if (algorithm_ == "packed") filter = packed_filter(p, o.weight);
    if (algorithm_ == "winograd") filter = winograd_filter(p, o.weight).value;
    auto offset = buffer_of(bias, {filters, groups});
    auto added = buffer_of(residual, image_extents(p, filters, w, h));
    auto out = buffer_of(output, image_extents(p, filters, w, h));
    const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
    jit_call(function_, to_string(c), in, filter, offset, added, narrow(options.stride[1]),
             narrow(options.stride[0]), narrow(options.dilation[1]), narrow(options.dilation[0]),
             narrow(options.padding.left), narrow(options.padding.top), c.bias, c.residual, a.slope,
             a.low, a.high, a.smooth, out);
    return output;
}

}  // namespace hk::test
