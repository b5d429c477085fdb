#include <algorithm>
#include <unordered_map>

#include "peers/conv2d_backward_peer.h"
#include "peers/onednn_tensors.h"

namespace hk::bench {

namespace {

using dnnl::memory;

memory::desc in_layout(const memory::desc &desc, memory::format_tag tag) {
    return {desc.get_dims(), desc.get_data_type(), tag};
}

// The backward pass of a convolution, activations in the layout of `tag`. oneDNN wants to know the
// forward pass that it belongs to. Throws dnnl::error where it has none.
template<typename Backward>
dnnl::primitive_desc backward(const Descriptors &plain, memory::format_tag tag) {
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const memory::desc input = in_layout(plain.input, tag), output = in_layout(plain.output, tag),
                       weight = any_layout(plain.weight);
    const dnnl::convolution_forward::primitive_desc forward(
        onednn_engine(), dnnl::prop_kind::forward_training, algorithm, input, weight, output,
        plain.stride, plain.dilation, plain.padding_begin, plain.padding_end);
    return typename Backward::primitive_desc(onednn_engine(), algorithm, input, weight, output,
                                             plain.stride, plain.dilation, plain.padding_begin,
                                             plain.padding_end, forward);
}

class OnednnGradient : public Peer {
public:
    OnednnGradient(const GradientData &data, int threads, memory::format_tag tag)
        : stream_(onednn_engine()),
          threads_(threads),
          plain_(describe(data.problem, data.problem.type, data.problem.type)),
          of_input_(data.gradient == Gradient::input) {
        set_onednn_threads(threads);
        const dnnl::primitive_desc primitive =
            of_input_ ? backward<dnnl::convolution_backward_data>(plain_, tag)
                      : backward<dnnl::convolution_backward_weights>(plain_, tag);
        implementation_ = primitive.impl_info_str();
        primitive_ = dnnl::primitive(primitive);
        const auto layout_of = [&](int argument) {
            return primitive.query_md(dnnl::query::exec_arg_md, argument);
        };
        const int input = of_input_ ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC;
        const int weight = of_input_ ? DNNL_ARG_WEIGHTS : DNNL_ARG_DIFF_WEIGHTS;
        input_layout_ = layout_of(input);
        output_layout_ = layout_of(DNNL_ARG_DIFF_DST);
        gradient_ = memory(of_input_ ? input_layout_ : layout_of(weight), onednn_engine());
        arguments_ = {
            {DNNL_ARG_DIFF_DST, reordered(plain_.output, data.output_gradient, output_layout_)},
            {input, of_input_ ? gradient_ : reordered(plain_.input, data.other, input_layout_)},
            {weight,
             of_input_ ? reordered(plain_.weight, data.other, layout_of(weight)) : gradient_}};
    }

    std::string name() const override { return is_plain() ? "oneDNN" : "oneDNN reordered"; }
    std::string variant() const override {
        return (is_plain() ? "plain activations, " : "reordered activations, ") + implementation_;
    }
    bool is_reference() const { return bench::is_reference(implementation_); }
    bool has_layouts_of(const OnednnGradient &other) const {
        return input_layout_ == other.input_layout_ && output_layout_ == other.output_layout_;
    }

    void run() override {
        set_onednn_threads(threads_);
        primitive_.execute(stream_, arguments_);
        stream_.wait();
    }

    Outputs outputs() override {
        return {bytes_in(of_input_ ? plain_.input : plain_.weight, gradient_)};
    }

private:
    bool is_plain() const {
        return input_layout_ == plain_.input && output_layout_ == plain_.output;
    }

    dnnl::stream stream_;
    int threads_;
    Descriptors plain_;
    bool of_input_;
    std::string implementation_;
    dnnl::primitive primitive_;
    memory::desc input_layout_, output_layout_;
    memory gradient_;
    std::unordered_map<int, memory> arguments_;
};

}  // namespace

Peers onednn_gradient(const GradientData &data, int threads) {
    using Tag = memory::format_tag;
    const Tag plain = data.problem.options.layout == Layout::nhwc ? Tag::nhwc : Tag::nchw;
    std::vector<std::unique_ptr<OnednnGradient>> made;
    // What oneDNN chooses is not always its fastest: 5x5 and 7x7 depthwise weights are in nhwc.
    for (const Tag tag : {plain, Tag::any, Tag::nhwc}) {
        try {
            auto peer = std::make_unique<OnednnGradient>(data, threads, tag);
            const bool seen = std::any_of(made.begin(), made.end(), [&](const auto &other) {
                return peer->has_layouts_of(*other);
            });
            if (!seen && !peer->is_reference()) made.push_back(std::move(peer));
        } catch (const dnnl::error &) {
            // Not supported: f16 on a chip without its instructions.
        }
    }
    return {std::make_move_iterator(made.begin()), std::make_move_iterator(made.end())};
}

}  // namespace hk::bench
