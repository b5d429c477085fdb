#include "shapes.h"

#include <map>
#include <set>

#include "lists.h"

namespace hk::bench {

namespace {

const std::map<std::string, int64_t ConvShape::*> columns = {
    {"count", &ConvShape::count},       {"n", &ConvShape::batch},
    {"c", &ConvShape::channels},        {"h", &ConvShape::height},
    {"w", &ConvShape::width},           {"k", &ConvShape::filters},
    {"kh", &ConvShape::kernel_height},  {"kw", &ConvShape::kernel_width},
    {"pad_h", &ConvShape::padding_y},   {"pad_w", &ConvShape::padding_x},
    {"stride_h", &ConvShape::stride_y}, {"stride_w", &ConvShape::stride_x},
    {"dil_h", &ConvShape::dilation_y},  {"dil_w", &ConvShape::dilation_x},
    {"groups", &ConvShape::groups},
};

std::string pair(const char *prefix, int64_t y, int64_t x) {
    if (y == 1 && x == 1) return "";
    std::string result(prefix);
    result += std::to_string(y);
    if (y != x) result += 'x' + std::to_string(x);
    return result;
}

}  // namespace

Conv2dProblem ConvShape::problem(DataType type, Layout layout) const {
    Conv2dOptions options;
    options.layout = layout;
    options.stride = {stride_y, stride_x};
    options.dilation = {dilation_y, dilation_x};
    options.padding = {padding_y, padding_y, padding_x, padding_x};
    options.groups = groups;
    const int64_t depth = groups > 0 ? channels / groups : 0;
    if (layout == Layout::nhwc) {
        return Conv2dProblem::from_shapes({batch, height, width, channels},
                                          {filters, kernel_height, kernel_width, depth}, type,
                                          options);
    }
    return Conv2dProblem::from_shapes({batch, channels, height, width},
                                      {filters, depth, kernel_height, kernel_width}, type, options);
}

std::string derived_name(const ConvShape &s) {
    std::string result = std::to_string(s.height) + "x" + std::to_string(s.width) + "_" +
                         std::to_string(s.channels) + "-" + std::to_string(s.filters) + "_" +
                         std::to_string(s.kernel_height) + "x" + std::to_string(s.kernel_width);
    result += pair("_s", s.stride_y, s.stride_x) + pair("_d", s.dilation_y, s.dilation_x);
    if (s.groups > 1) {
        result += s.groups == s.channels ? "_depthwise" : "_g" + std::to_string(s.groups);
    }
    // Padding is named where it is not the usual one, which keeps the extents at stride 1.
    const bool usual = s.padding_y == s.dilation_y * (s.kernel_height - 1) / 2 &&
                       s.padding_x == s.dilation_x * (s.kernel_width - 1) / 2;
    if (!usual) result += "_p" + std::to_string(s.padding_y) + "x" + std::to_string(s.padding_x);
    return s.batch == 1 ? result : "n" + std::to_string(s.batch) + "_" + result;
}

std::vector<ConvShape> parse_conv_shapes(std::string_view csv) {
    std::vector<ConvShape> result;
    for (ListLine &line : list_lines(csv)) {
        ConvShape shape;
        line.read("name", shape.name);
        line.read("passes", shape.passes);
        for (const auto &[column, field] : columns) line.read(column, shape.*field);
        line.finish();
        result.push_back(std::move(shape));
    }
    return result;
}

std::vector<std::string> conv_list_names() { return embedded_lists("conv"); }

std::vector<ConvShape> conv_list(const std::string &name, std::string_view pass, int64_t batch) {
    const std::string text = list_text("conv", name);
    if (batch == 0 && name == "conv_training") batch = 1;
    std::vector<ConvShape> distinct;
    std::set<std::string> seen;
    for (ConvShape &shape : parse_conv_shapes(text)) {
        if (!shape.passes.empty() && shape.passes.find(pass) == std::string::npos) continue;
        if (batch > 0) shape.batch = batch;
        const std::string derived = derived_name(shape);
        if (!seen.insert(derived).second) continue;
        if (shape.name.empty()) shape.name = derived;
        distinct.push_back(std::move(shape));
    }
    return distinct;
}

}  // namespace hk::bench
