#include <unordered_map>

#include "peers/onednn_tensors.h"
#include "peers/pool2d_peer.h"

namespace hk::bench {

namespace {

using dnnl::memory;

struct PoolDescriptors {
    memory::desc input, output;
    memory::dims stride, kernel, dilation, padding_begin, padding_end;
    dnnl::algorithm algorithm;
};

PoolDescriptors describe(const Pool2dProblem &p) {
    const Pool2dOptions &o = p.options;
    const auto tag =
        o.layout == Layout::nhwc ? memory::format_tag::nhwc : memory::format_tag::nchw;
    const auto image = [&](int64_t height, int64_t width) {
        return memory::desc({p.batch, p.channels, height, width}, onednn_type(p.type), tag);
    };
    return {image(p.height, p.width),
            image(p.output_height(), p.output_width()),
            {o.stride[0], o.stride[1]},
            {o.kernel[0], o.kernel[1]},
            {0, 0},
            {o.padding.top, o.padding.left},
            {o.padding.bottom, o.padding.right},
            o.pooling == Pooling::max ? dnnl::algorithm::pooling_max
                                      : dnnl::algorithm::pooling_avg_exclude_padding};
}

dnnl::pooling_forward::primitive_desc forward_pass(const PoolDescriptors &d,
                                                   const memory::desc &input,
                                                   const memory::desc &output, bool training) {
    return {onednn_engine(),
            training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference,
            d.algorithm, input, output, d.stride, d.kernel, d.dilation, d.padding_begin,
            d.padding_end};
}

class OnednnPool2d : public Peer {
public:
    // Throws dnnl::error where oneDNN has no such pooling.
    OnednnPool2d(const PoolData &data, int threads, bool plain)
        : stream_(onednn_engine()), threads_(threads), described_(describe(data.problem)) {
        set_onednn_threads(threads);
        if (plain)
            forward(data, described_.input, described_.output);
        else
            forward(data, any_layout(described_.input), any_layout(described_.output));
        if (data.backward) backward(data);
    }

    std::string name() const override { return is_plain_ ? "oneDNN" : "oneDNN blocked"; }
    std::string variant() const override {
        return (is_plain_ ? "plain layout, " : "blocked layout, ") + implementation_;
    }
    bool same_task() const override { return is_plain_; }
    bool is_reference() const { return bench::is_reference(implementation_); }

    void run() override {
        set_onednn_threads(threads_);
        pooling_.execute(stream_, arguments_);
        stream_.wait();
    }

    Outputs outputs() override { return {bytes_in(plain_result_, result_)}; }

private:
    void forward(const PoolData &data, const memory::desc &input, const memory::desc &output) {
        forward_ = forward_pass(described_, input, output, data.backward);
        is_plain_ = forward_.src_desc() == described_.input;
        implementation_ = forward_.impl_info_str();
        pooling_ = dnnl::pooling_forward(forward_);
        result_ = memory(forward_.dst_desc(), onednn_engine());
        plain_result_ = described_.output;
        arguments_ = {{DNNL_ARG_DST, result_}};
        // The gradient of a mean has no input: what is pooled before does not matter.
        arguments_[DNNL_ARG_SRC] =
            data.input ? reordered(described_.input, data.input, forward_.src_desc())
                       : memory(forward_.src_desc(), onednn_engine());
    }

    // After the forward pass, of which it keeps where maxima are.
    void backward(const PoolData &data) {
        const bool has_places = described_.algorithm == dnnl::algorithm::pooling_max;
        const memory places(forward_.workspace_desc(), onednn_engine());
        if (has_places) {
            arguments_[DNNL_ARG_WORKSPACE] = places;
            run();
        }
        const memory::desc input = forward_.src_desc(), output = forward_.dst_desc();
        const dnnl::pooling_backward::primitive_desc primitive(
            onednn_engine(), described_.algorithm, input, output, described_.stride,
            described_.kernel, described_.dilation, described_.padding_begin,
            described_.padding_end, forward_);
        implementation_ = primitive.impl_info_str();
        pooling_ = dnnl::pooling_backward(primitive);
        result_ = memory(input, onednn_engine());
        plain_result_ = described_.input;
        arguments_ = {{DNNL_ARG_DIFF_DST,
                       reordered(described_.output, data.output_gradient, output)},
                      {DNNL_ARG_DIFF_SRC, result_}};
        if (has_places) arguments_[DNNL_ARG_WORKSPACE] = places;
    }

    dnnl::stream stream_;
    int threads_;
    PoolDescriptors described_;
    dnnl::pooling_forward::primitive_desc forward_;
    dnnl::primitive pooling_;
    memory result_;
    memory::desc plain_result_;
    std::unordered_map<int, memory> arguments_;
    std::string implementation_;
    bool is_plain_ = true;
};

}  // namespace

Peers onednn_pool2d(const PoolData &data, int threads) {
    Peers peers;
    for (const bool plain : {true, false}) {
        try {
            auto peer = std::make_unique<OnednnPool2d>(data, threads, plain);
            if (peer->is_reference() || (!plain && peer->same_task() && !peers.empty())) continue;
            peers.push_back(std::move(peer));
        } catch (const dnnl::error &) {
            // Not supported: f16 on a chip without its instructions.
        }
    }
    return peers;
}

}  // namespace hk::bench
