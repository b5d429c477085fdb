#include "families/convolution/convolution.h"

#include <algorithm>

namespace hk::bench {

namespace {

std::string pair(const char *prefix, int64_t y, int64_t x) {
    if (y == 1 && x == 1) return "";
    std::string result(prefix);
    result += std::to_string(y);
    if (y != x) result += 'x' + std::to_string(x);
    return result;
}

std::string by(int64_t a, int64_t b) { return std::to_string(a) + "x" + std::to_string(b); }

}  // namespace

std::string name_of(const Conv2dProblem &p) {
    const Conv2dOptions &o = p.options;
    std::string result = by(p.height, p.width) + "_" + std::to_string(p.channels) + "-" +
                         std::to_string(p.filters) + "_" + by(p.kernel_height, p.kernel_width);
    result += pair("_s", o.stride[0], o.stride[1]) + pair("_d", o.dilation[0], o.dilation[1]);
    if (o.groups > 1) {
        result += o.groups == p.channels ? "_depthwise" : "_g" + std::to_string(o.groups);
    }
    // Padding is named where it is not the usual one, which keeps the extents at stride 1.
    const bool usual = o.padding.top == o.dilation[0] * (p.kernel_height - 1) / 2 &&
                       o.padding.left == o.dilation[1] * (p.kernel_width - 1) / 2;
    if (!usual) result += "_p" + by(o.padding.top, o.padding.left);
    return p.batch == 1 ? result : "n" + std::to_string(p.batch) + "_" + result;
}

std::string kind_of(const Conv2dProblem &p) {
    if (p.options.groups > 1) return p.options.groups == p.channels ? "depthwise" : "grouped";
    return p.kernel_height * p.kernel_width == 1 ? "dense 1x1" : "dense, larger";
}

Conv2dProblem in(Conv2dProblem problem, DataType type, Layout layout) {
    problem.type = type;
    problem.options.layout = layout;
    return problem;
}

bool wants_plain(const KernelInfo *row) {
    return row && std::ranges::any_of(row->where, [](const Constraint &condition) {
               return condition.field == std::string_view("prepared") && !holds(condition, 1);
           });
}

Shape input_shape(const Conv2dProblem &p) {
    return p.options.layout == Layout::nhwc ? Shape{p.batch, p.height, p.width, p.channels}
                                            : Shape{p.batch, p.channels, p.height, p.width};
}

Shape weight_shape(const Conv2dProblem &p) {
    const int64_t depth = p.channels / p.options.groups;
    return p.options.layout == Layout::nhwc
               ? Shape{p.filters, p.kernel_height, p.kernel_width, depth}
               : Shape{p.filters, depth, p.kernel_height, p.kernel_width};
}

std::vector<Conv2dProblem> convolutions(const std::string &list, std::string_view pass,
                                        int64_t batch) {
    Family family = family_named("conv2d");
    family.pass = pass;
    family.batches.clear();
    Settings settings;
    settings.batch = batch;
    std::vector<Conv2dProblem> result;
    for (const CaseInfo &info : family.cases(list, settings))
        result.push_back(dynamic_cast<const Convolution &>(*info.problem()).conv());
    return result;
}

std::vector<Field> Convolution::fields() {
    return {required(field("input", input_, 4, "NxHxWxC, or NxCxHxW for nchw")),
            required(field("weight", weight_, 4, "KxRxSxC/G, or KxC/GxRxS for nchw")),
            field("stride", options_.stride, "of the output's pixels"),
            field("padding", options_.padding, "of the input"),
            field("dilation", options_.dilation, "of the filter's taps"),
            field("groups", options_.groups, "of channels")};
}

Conv2dProblem Convolution::sizes() const {
    Conv2dProblem result;
    result.batch = input_[0];
    result.height = input_[1];
    result.width = input_[2];
    result.channels = input_[3];
    result.filters = weight_[0];
    result.kernel_height = weight_[1];
    result.kernel_width = weight_[2];
    result.options = options_;
    return result;
}

void Convolution::prepare(Layout written) {
    options_.layout = written;
    problem_ =
        in(Conv2dProblem::from_shapes(input_, weight_, DataType::f32, options_), type(), layout());
}

Family convolution_family(std::string name, std::string description,
                          std::function<std::unique_ptr<Problem>()> problem, std::string pass) {
    Family family{std::move(name),
                  std::move(description),
                  std::move(problem),
                  "convolution",
                  {"resnet50", "mobilenetv2", "resnext50"}};
    family.unit = arithmetic;
    family.layouts = {Layout::nhwc, Layout::nchw};
    family.pass = std::move(pass);
    family.batches = {{"conv_training", 1}};
    return family;
}

}  // namespace hk::bench
