#include <unordered_map>

#include "peers/conv2d_backward_peer.h"
#include "peers/onednn_tensors.h"

namespace hk::bench {

namespace {

using dnnl::memory;

class OnednnGradient : public Peer {
public:
    // Throws dnnl::error where oneDNN has no such gradient. `any`: activations in the layout that
    // it likes best.
    OnednnGradient(const GradientData &data, int threads, bool any)
        : stream_(onednn_engine()), threads_(threads) {
        set_onednn_threads(threads);
        const Descriptors plain = describe(data.problem, data.problem.type, data.problem.type);
        wanted_ = plain;
        wanted_.weight = any_layout(plain.weight);
        if (any) {
            wanted_.input = any_layout(plain.input);
            wanted_.output = any_layout(plain.output);
        }
        const dnnl::convolution_forward::primitive_desc forward(
            onednn_engine(), dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
            wanted_.input, wanted_.weight, wanted_.output, plain.stride, plain.dilation,
            plain.padding_begin, plain.padding_end);
        if (data.gradient == Gradient::input) {
            of_input(data, plain, forward);
        } else {
            of_weight(data, plain, forward);
        }
    }

    std::string name() const override { return is_plain_ ? "oneDNN" : "oneDNN blocked"; }
    std::string variant() const override {
        return (is_plain_ ? "plain activations, " : "blocked activations, ") + implementation_;
    }
    bool is_plain() const { return is_plain_; }
    bool is_reference() const { return bench::is_reference(implementation_); }

    void run() override {
        set_onednn_threads(threads_);
        primitive_.execute(stream_, arguments_);
        stream_.wait();
    }

    std::vector<std::byte> output() override { return bytes_in(plain_gradient_, gradient_); }

private:
    void of_input(const GradientData &data, const Descriptors &plain,
                  const dnnl::convolution_forward::primitive_desc &forward) {
        using Backward = dnnl::convolution_backward_data;
        const Backward::primitive_desc primitive(
            onednn_engine(), dnnl::algorithm::convolution_direct, wanted_.input, wanted_.weight,
            wanted_.output, plain.stride, plain.dilation, plain.padding_begin, plain.padding_end,
            forward);
        primitive_ = Backward(primitive);
        implementation_ = primitive.impl_info_str();
        arguments_[DNNL_ARG_WEIGHTS] =
            reordered(plain.weight, data.other, primitive.weights_desc());
        arguments_[DNNL_ARG_DIFF_DST] =
            reordered(plain.output, data.output_gradient, primitive.diff_dst_desc());
        plain_gradient_ = plain.input;
        gradient_ = memory(primitive.diff_src_desc(), onednn_engine());
        arguments_[DNNL_ARG_DIFF_SRC] = gradient_;
        is_plain_ =
            primitive.diff_src_desc() == plain.input && primitive.diff_dst_desc() == plain.output;
    }

    void of_weight(const GradientData &data, const Descriptors &plain,
                   const dnnl::convolution_forward::primitive_desc &forward) {
        using Backward = dnnl::convolution_backward_weights;
        const Backward::primitive_desc primitive(
            onednn_engine(), dnnl::algorithm::convolution_direct, wanted_.input, wanted_.weight,
            wanted_.output, plain.stride, plain.dilation, plain.padding_begin, plain.padding_end,
            forward);
        primitive_ = Backward(primitive);
        implementation_ = primitive.impl_info_str();
        arguments_[DNNL_ARG_SRC] = reordered(plain.input, data.other, primitive.src_desc());
        arguments_[DNNL_ARG_DIFF_DST] =
            reordered(plain.output, data.output_gradient, primitive.diff_dst_desc());
        plain_gradient_ = plain.weight;
        gradient_ = memory(primitive.diff_weights_desc(), onednn_engine());
        arguments_[DNNL_ARG_DIFF_WEIGHTS] = gradient_;
        is_plain_ =
            primitive.src_desc() == plain.input && primitive.diff_dst_desc() == plain.output;
    }

    dnnl::stream stream_;
    int threads_;
    Descriptors wanted_;
    dnnl::primitive primitive_;
    memory::desc plain_gradient_;
    memory gradient_;
    std::unordered_map<int, memory> arguments_;
    std::string implementation_;
    bool is_plain_ = true;
};

}  // namespace

Peers onednn_gradient(const GradientData &data, int threads) {
    Peers peers;
    for (const bool any : {false, true}) {
        try {
            auto peer = std::make_unique<OnednnGradient>(data, threads, any);
            fprintf(stderr, "%d %s\n", any, peer->variant().c_str());
            if (any && peer->is_plain() && !peers.empty()) continue;
            peers.push_back(std::move(peer));
        } catch (const dnnl::error &) {
            // Not supported: f16 on a chip without its instructions.
        }
    }
    return peers;
}

}  // namespace hk::bench
