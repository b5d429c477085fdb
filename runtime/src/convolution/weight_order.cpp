#include "convolution/weight_order.h"

#include <string_view>

#include "convolution/check.h"
#include "hk/error.h"

namespace hk::detail {

namespace {

// O: filters, I: input channels of a group, H and W: rows and columns. In the order in which they
// are tried: PyTorch's two, TensorFlow's, and those of its depthwise convolutions with one filter
// a channel, the last one TensorFlow Lite's.
constexpr std::string_view kOrders[] = {"OHWI", "OIHW", "HWIO", "HWOI", "IHWO"};

bool fits(const Shape &input, const Shape &weight, DataType type, const Conv2dOptions &options) {
    try {
        conv2d_geometry("", input, weight, type, options);
        return true;
    } catch (const InvalidArgument &) {
        return false;
    }
}

// Empty where it fits in none.
std::string other_order(const Shape &input, const Shape &weight, DataType type,
                        const Conv2dOptions &options) {
    if (weight.size() != 4) return "";
    const std::string_view taken = options.layout == Layout::nhwc ? "OHWI" : "OIHW";
    for (const std::string_view order : kOrders) {
        if (order == taken) continue;
        Shape turned, places;
        for (const char dimension : taken) {
            places.push_back(static_cast<int64_t>(order.find(dimension)));
            turned.push_back(weight[order.find(dimension)]);
        }
        if (!fits(input, turned, type, options)) continue;
        std::string list = hk::to_string(places);
        list.front() = '{';
        list.back() = '}';
        return "; the weight " + hk::to_string(weight) + " would fit as " + std::string(order) +
               ", layout " + std::string(name_of(options.layout)) + " takes " + std::string(taken) +
               ": weight.permute(" + list + ").contiguous()";
    }
    return "";
}

}  // namespace

Conv2dProblem conv2d_geometry_of_weight(const char *operation, const Shape &input,
                                        const Shape &weight, DataType type,
                                        const Conv2dOptions &options) {
    try {
        return conv2d_geometry(operation, input, weight, type, options);
    } catch (const InvalidArgument &error) {
        const std::string order = other_order(input, weight, type, options);
        if (order.empty()) throw;
        throw InvalidArgument(error.what() + order);
    }
}

}  // namespace hk::detail
