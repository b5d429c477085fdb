#include "conv_flags.h"

#include "flags.h"

namespace hk::explain {

void ConvFlags::add_to(program::Flags &flags) {
    flags.add("--layout", layout_, "nhwc or nchw").show_default();
    flags.add("--input", input_, "NxHxWxC, or NxCxHxW for nchw").required();
    flags.add("--weight", weight_, "KxRxSxC/G, or KxC/GxRxS for nchw").required();
    flags.add("--stride", stride_, "both directions, or YxX").show_default();
    flags.add("--padding", padding_, "all sides, YxX, or top,bottom,left,right").show_default();
    flags.add("--dilation", dilation_, "both directions, or YxX").show_default();
    flags.add("--groups", groups_, "groups of channels").show_default();
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
