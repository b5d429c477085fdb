#include <cstring>
#include <optional>

#include "data.h"
#include "families/convolution/convolution.h"
#include "peers/quantized_conv2d_peer.h"

namespace hk::bench {

namespace {

class HkConv2d : public Peer {
public:
    HkConv2d(const QuantizedConv2dData &data, const Device &device)
        : problem_(data.problem.conv), device_(device) {
        problem_.options.direct = true;  // the sums that it is checked for
        problem_.prepared_filter = true;
        const Conv2dProblem &p = problem_;
        input_ = tensor_of(input_shape(p), p.type, data.input.data(), device);
        weight_ = tensor_of(weight_shape(p), p.type, data.dequantized_weight().data(), device);
        filter_ = prepare_filter(weight_);
        output_ = Tensor(p.output_shape(), DataType::f32, device);
        row_ = select_conv2d(p, device.type(), device.limits()).kernel->row;
    }

    std::string name() const override { return "hk f32"; }
    std::string variant() const override { return "conv2d, " + row_; }

    void run() override {
        conv2d(input_, *filter_, {}, {}, output_, problem_.options);
        device_.synchronize();
    }

    Outputs outputs() override {
        const Tensor host = output_.to(Device::cpu());
        std::vector<std::byte> result(host.elements() * 4);
        if (!result.empty()) std::memcpy(result.data(), host.data<float>(), result.size());
        return {result};
    }

private:
    Conv2dProblem problem_;
    Device device_;
    Tensor input_, weight_, output_;
    std::optional<Filter> filter_;
    std::string row_;
};

}  // namespace

Peers hk_f32_conv2d(const QuantizedConv2dData &data, const Device &device) {
    Peers peers;
    if (data.integer() || data.problem.output_type != DataType::f32) return peers;
    peers.push_back(std::make_unique<HkConv2d>(data, device));
    return peers;
}

}  // namespace hk::bench
