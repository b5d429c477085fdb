#include <nanobind/nanobind.h>

#include "call.h"
#include "convolution_arguments.h"
#include "hk/error.h"
#include "hk/pool2d.h"
#include "operations.h"

namespace hk::python {

namespace {

using namespace nb::literals;

Pooling pooling_of(const char *operation, std::string_view name) {
    for (const Pooling pooling : {Pooling::max, Pooling::average})
        if (name == name_of(pooling)) return pooling;
    throw InvalidArgument(std::string(operation) + ": pooling is \"" + std::string(name) +
                          "\", it must be \"max\" or \"average\"");
}

Pool2dOptions options_of(const Call &call, const Shape &input, Pair kernel,
                         std::string_view pooling, Pair stride, Pads padding) {
    const char *operation = call.operation();
    Pool2dOptions options;
    options.layout = call.layout();
    options.pooling = pooling_of(operation, pooling);
    options.kernel = read_pair(operation, "kernel", kernel);
    options.stride = stride.given() ? read_pair(operation, "stride", stride) : options.kernel;
    const auto size = spatial(operation, "input", input, options.layout);
    options.padding =
        read_padding(operation, padding, {size[0], options.kernel[0], options.stride[0], 1},
                     {size[1], options.kernel[1], options.stride[1], 1});
    return options;
}

Result pool2d(First input, Pair kernel, std::string_view pooling, Pair stride, Pads padding,
              std::string_view layout, OptionalArray out) {
    Call call("pool2d");
    call.set_layout(layout);
    const Tensor x = call.image(input, "input");
    const Pool2dOptions options = options_of(call, x.shape(), kernel, pooling, stride, padding);
    const auto problem = Pool2dProblem::from_shape(x.shape(), x.type(), options);
    if (explaining()) {
        return explain_with(call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_pool2d(problem, type, limits, true);
        });
    }
    Written y = call.write_or_make_image(out, "out", problem.output_shape(), x.type());
    call.run([&] { hk::pool2d(x, y.tensor, options, call.stream()); });
    return call.give(y);
}

Result pool2d_backward(First output_gradient, Array input, OptionalArray output, Pair kernel,
                       std::string_view pooling, Pair stride, Pads padding, std::string_view layout,
                       OptionalArray out) {
    Call call("pool2d_backward");
    call.set_layout(layout);
    const Tensor dy = call.image(output_gradient, "output_gradient");
    const Tensor x = call.image(input, "input");
    const Tensor y = call.optional_image(output, "output");
    const Pool2dOptions options = options_of(call, x.shape(), kernel, pooling, stride, padding);
    const auto problem = Pool2dProblem::from_shape(x.shape(), x.type(), options);
    if (explaining()) {
        return explain_with(call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_pool2d_backward(problem, type, limits, true);
        });
    }
    Written dx = call.write_or_make_image(out, "out", x.shape(), x.type());
    call.run([&] { hk::pool2d_backward(dy, x, y, dx.tensor, options, call.stream()); });
    return call.give(dx);
}

constexpr const char *kPool = R"(Maximum or mean of windows, of the pixels inside the image alone.

Args:
    input: [N, H, W, C] in layout "nhwc", [N, C, H, W] in "nchw"; float32, float16, bfloat16.
    kernel: size of a window in pixels; an int, or (y, x).
    pooling: "max" or "average".
    stride: pixels; None is the kernel's size.
    padding: as conv2d's, below the kernel's size.
    out: what is written, and returned.

Source: runtime/include/hk/pool2d.h; ONNX MaxPool, AveragePool with count_include_pad=0.)";

constexpr const char *kBackward = R"(Gradient of pool2d's input from that of its output.

Args:
    input, output: of pool2d; of "average" only the input's shape counts, and output is None.

Of "max" a window's gradient goes to its first maximum.

Source: runtime/include/hk/pool2d.h.)";

}  // namespace

void add_pooling(nb::module_ &module) {
    module.def("pool2d", pool2d, "input"_a, "kernel"_a = 2, nb::kw_only(), "pooling"_a = "max",
               "stride"_a = nb::none(), "padding"_a = 0, "layout"_a = "nhwc", "out"_a = nb::none(),
               kPool);
    module.def("pool2d_backward", pool2d_backward, "output_gradient"_a, "input"_a,
               "output"_a = nb::none(), "kernel"_a = 2, nb::kw_only(), "pooling"_a = "max",
               "stride"_a = nb::none(), "padding"_a = 0, "layout"_a = "nhwc", "out"_a = nb::none(),
               kBackward);
}

}  // namespace hk::python
