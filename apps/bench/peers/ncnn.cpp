#include <iostream>
#include <stdexcept>

#include "data.h"
#include "peers/conv2d_peer.h"
#include "peers/python.h"

namespace hk::bench {

// Of the largest value. On the lists' 3x3 layers with data in -1..1 Winograd is off by up to 8e-6;
// the bound of a direct sum, which grows with the channels, is less than its error for three.
constexpr double kWinograd = 1.5e-5;

const std::string &ncnn_version() {
    static const std::string version = python_version("ncnn_tasks.py");
    return version;
}

Peers ncnn_conv2d(const Conv2dData &data, int threads) {
    const Conv2dProblem &p = data.problem;
    const Conv2dOptions &o = p.options;
    if (p.type != DataType::f32 || ncnn_version().empty()) return {};
    const int64_t depth = p.channels / o.groups;
    const bool last = o.layout == Layout::nhwc;
    const Shape input = last ? Shape{p.batch, p.height, p.width, p.channels}
                             : Shape{p.batch, p.channels, p.height, p.width};
    const Shape weight = last ? Shape{p.filters, p.kernel_height, p.kernel_width, depth}
                              : Shape{p.filters, depth, p.kernel_height, p.kernel_width};
    PythonTask task{
        "ncnn_tasks.py",
        "conv2d",
        {{"input", tensor_of(input, p.type, data.input)},
         {"weight", tensor_of(weight, p.type, data.weight)}},
        {{"layout", name_of(o.layout)},
         {"groups", o.groups},
         {"stride", o.stride},
         {"dilation", o.dilation},
         {"padding", {o.padding.top, o.padding.bottom, o.padding.left, o.padding.right}},
         {"threads", threads}},
        threads,
        kWinograd};
    Peers peers;
    peers.push_back(std::make_unique<PythonPeer>("ncnn", "NCHW", task));
    return peers;
}

}  // namespace hk::bench
