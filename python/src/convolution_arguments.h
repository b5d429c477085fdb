#pragma once
// What all convolutions are called with.

#include "call.h"
#include "element_types.h"

namespace hk::python {

// The prepared weight that was passed, or null.
template<typename Prepared>
const Prepared *prepared_in(nb::handle weight) {
    const Prepared *prepared = nullptr;
    return nb::try_cast(weight, prepared) ? prepared : nullptr;
}

inline std::string filter_text(const char *type, const Tensor &weight) {
    return std::string("<halide_kernels.") + type + " " + to_string(weight.shape()) + " " +
           numpy_name(weight.type()) + ">";
}

// Of images and weights in the call's layout.
inline Conv2dOptions convolution_options(const Call &call, const Shape &input, const Shape &weight,
                                         Pair stride, Pads padding, Pair dilation, int64_t groups) {
    const char *operation = call.operation();
    Conv2dOptions options;
    options.layout = call.layout();
    options.stride = read_pair(operation, "stride", stride);
    options.dilation = read_pair(operation, "dilation", dilation);
    options.groups = groups;
    const auto image = spatial(operation, "input", input, options.layout);
    const auto kernel = spatial(operation, "weight", weight, options.layout);
    options.padding = read_padding(operation, padding,
                                   {image[0], kernel[0], options.stride[0], options.dilation[0]},
                                   {image[1], kernel[1], options.stride[1], options.dilation[1]});
    return options;
}

}  // namespace hk::python
