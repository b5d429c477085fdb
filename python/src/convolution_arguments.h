#pragma once
// What all convolutions are called with.

#include <algorithm>
#include <initializer_list>

#include "call.h"
#include "element_types.h"
#include "hk/error.h"

namespace hk::python {

// The prepared weight that was passed, or null.
template<typename Prepared>
const Prepared *prepared_in(nb::handle weight) {
    const Prepared *prepared = nullptr;
    return nb::try_cast(weight, prepared) ? prepared : nullptr;
}

inline std::string filter_text(const char *type, const Tensor &weight,
                               const std::string &more = {}) {
    return std::string("<halide_kernels.") + type + " " + to_string(weight.shape()) + " " +
           numpy_name(weight.type()) + more + ">";
}

inline constexpr const char *kPrepare = "prepare_filter";

// What can be known of a weight before the call that it is for.
inline void check_weight(const Tensor &weight, std::initializer_list<DataType> types) {
    spatial(kPrepare, "weight", weight.shape(), Layout::nhwc);
    if (std::ranges::find(types, weight.type()) != types.end()) return;
    std::string text = std::string(kPrepare) + ": weight is " + numpy_name(weight.type());
    if (weight.type() == DataType::s8) throw InvalidArgument(text + ", weight_scale is None");
    std::string names;
    for (const DataType type : types) {
        if (!names.empty()) names += type == *(types.end() - 1) ? " or " : ", ";
        names += numpy_name(type);
    }
    throw InvalidArgument(text + ", it must be " + names);
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
