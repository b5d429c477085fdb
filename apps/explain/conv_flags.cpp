#include "conv_flags.h"

#include <CLI/CLI.hpp>

#include "flags.h"

namespace hk::explain {

void ConvFlags::add_to(CLI::App &app) {
    app.add_option("--layout", layout_, "nhwc or nchw")->capture_default_str();
    app.add_option("--input", input_, "NxHxWxC, or NxCxHxW for nchw")->required();
    app.add_option("--weight", weight_, "KxRxSxC/G, or KxC/GxRxS for nchw")->required();
    app.add_option("--stride", stride_, "both directions, or YxX")->capture_default_str();
    app.add_option("--padding", padding_, "all sides, YxX, or top,bottom,left,right")
        ->capture_default_str();
    app.add_option("--dilation", dilation_, "both directions, or YxX")->capture_default_str();
    app.add_option("--groups", groups_, "groups of channels")->capture_default_str();
}

Conv2dOptions ConvFlags::options() const {
    Conv2dOptions options;
    options.layout = layout_of(layout_);
    options.stride = parse_pair("--stride", stride_);
    options.dilation = parse_pair("--dilation", dilation_);
    options.padding = parse_padding(padding_);
    options.groups = groups_;
    return options;
}

Shape ConvFlags::input() const { return parse_shape("--input", input_, 4); }
Shape ConvFlags::weight() const { return parse_shape("--weight", weight_, 4); }

std::string ConvFlags::words(const std::string &types, const Conv2dProblem &problem) const {
    return types + " " + layout_ + ": input " + to_string(input()) + ", weight " +
           to_string(weight()) + ", output " + to_string(problem.output_shape());
}

}  // namespace hk::explain
