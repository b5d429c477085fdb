#include <stdexcept>

#include "peers/onnx_model.h"
#include "peers/onnxruntime_session.h"
#include "peers/quantized_conv2d_peer.h"
#include "peers/transpose.h"

namespace hk::bench {

namespace {

// Channels last to channels first where the layout is not that already: each image, each filter, is
// a matrix to transpose.
std::vector<std::byte> channels_first(Layout layout, const void *from, DataType type, int64_t count,
                                      int64_t pixels, int64_t channels) {
    if (layout == Layout::nhwc) return transposed(from, size_of(type), count, pixels, channels);
    const auto *begin = static_cast<const std::byte *>(from);
    return {begin, begin + count * pixels * channels * size_of(type)};
}

std::vector<std::byte> weight_oihw(const Conv2dProblem &p, const void *weight, DataType type) {
    return channels_first(p.options.layout, weight, type, p.filters,
                          p.kernel_height * p.kernel_width, p.channels / p.options.groups);
}

class OnnxruntimeConv2d : public Peer {
public:
    OnnxruntimeConv2d(const Conv2dProblem &problem, DataType output_type, const void *input,
                      const std::string &model, std::string variant, bool same_task, int threads)
        : problem_(problem),
          output_type_(output_type),
          variant_(std::move(variant)),
          same_task_(same_task),
          session_(model, tensor_of_input(problem, input), {tensor_of_output(problem, output_type)},
                   threads) {}

    std::string name() const override { return "ONNX Runtime"; }
    std::string variant() const override { return variant_; }
    bool same_task() const override { return same_task_; }
    void run() override { session_.run(); }

    Outputs outputs() override {
        const Conv2dProblem &p = problem_;
        const std::vector<std::byte> &output = session_.outputs()[0].data;
        if (p.options.layout == Layout::nchw) return {output};
        return {transposed(output.data(), size_of(output_type_), p.batch, p.filters,
                           p.output_height() * p.output_width())};
    }

private:
    static OnnxTensor tensor_of_input(const Conv2dProblem &p, const void *input) {
        return {"x",
                channels_first(p.options.layout, input, p.type, p.batch, p.height * p.width,
                               p.channels),
                {p.batch, p.channels, p.height, p.width},
                onnx_type(p.type)};
    }
    static OnnxTensor tensor_of_output(const Conv2dProblem &p, DataType type) {
        const int64_t elements = p.batch * p.filters * p.output_height() * p.output_width();
        return {"y",
                std::vector<std::byte>(elements * size_of(type)),
                {p.batch, p.filters, p.output_height(), p.output_width()},
                onnx_type(type)};
    }

    Conv2dProblem problem_;
    DataType output_type_;
    std::string variant_;
    bool same_task_;
    OnnxruntimeSession session_;
};

template<typename... Args>
Peers make(Args &&...args) {
    Peers peers;
    if (onnxruntime_version().empty()) return peers;
    try {
        peers.push_back(std::make_unique<OnnxruntimeConv2d>(std::forward<Args>(args)...));
    } catch (const std::runtime_error &) {
        // Not supported: bf16 convolutions.
    }
    return peers;
}

}  // namespace

Peers onnxruntime_conv2d(const Conv2dData &data, int threads) {
    const Conv2dProblem &p = data.problem;
    const auto weight = weight_oihw(p, data.weight, p.type);
    return make(p, p.type, data.input, onnx_conv2d_model(p, weight.data()), "NCHW", true, threads);
}

Peers onnxruntime_quantized_conv2d(const QuantizedConv2dData &data, int threads) {
    const Conv2dProblem &p = data.problem.conv;
    if (p.type != data.problem.output_type) return {};
    const auto weight = weight_oihw(p, data.weight.data(), DataType::s8);
    const OnnxScaling scaling{data.input_scale, data.input_zero_point, data.weight_scales,
                              data.output_scale, data.output_zero_point};
    if (data.integer()) {
        return make(p, p.type, data.input.data(),
                    onnx_qlinear_conv2d_model(p, weight.data(), scaling), "QLinearConv, NCHW", true,
                    threads);
    }
    return make(p, p.type, data.input.data(),
                onnx_dequantize_conv2d_model(p, weight.data(), scaling),
                "DequantizeLinear, Conv, NCHW", false, threads);
}

}  // namespace hk::bench
