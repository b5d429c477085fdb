#include <dlfcn.h>

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>

#include "peers/conv2d_peer.h"

namespace hk::bench {

namespace {

using dnnl::memory;

memory::data_type type_of(DataType type) {
    switch (type) {
        case DataType::f16:
            return memory::data_type::f16;
        case DataType::bf16:
            return memory::data_type::bf16;
        default:
            return memory::data_type::f32;
    }
}

dnnl::engine &engine() {
    static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
    return instance;
}

// oneDNN runs on OpenMP, whose thread count is a call of the library that oneDNN brought along.
void set_threads(int threads) {
    using Function = void (*)(int);
    if (auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) {
        function(threads);
    }
}

struct Descriptors {
    memory::desc input, weight, output;  // as the caller holds them
    memory::dims stride, dilation, padding_begin, padding_end;
};

Descriptors describe(const Conv2dProblem &p) {
    const Conv2dOptions &o = p.options;
    const bool nhwc = o.layout == Layout::nhwc;
    const auto tag = nhwc ? memory::format_tag::nhwc : memory::format_tag::nchw;
    const auto type = type_of(p.type);
    Descriptors d;
    d.input = {{p.batch, p.channels, p.height, p.width}, type, tag};
    d.output = {{p.batch, p.filters, p.output_height(), p.output_width()}, type, tag};
    const int64_t depth = p.channels / o.groups;
    if (o.groups == 1) {
        d.weight = {{p.filters, depth, p.kernel_height, p.kernel_width},
                    type,
                    nhwc ? memory::format_tag::ohwi : memory::format_tag::oihw};
    } else {
        d.weight = {{o.groups, p.filters / o.groups, depth, p.kernel_height, p.kernel_width},
                    type,
                    nhwc ? memory::format_tag::gohwi : memory::format_tag::goihw};
    }
    d.stride = {o.stride[0], o.stride[1]};
    d.dilation = {o.dilation[0] - 1, o.dilation[1] - 1};
    d.padding_begin = {o.padding.top, o.padding.left};
    d.padding_end = {o.padding.bottom, o.padding.right};
    return d;
}

memory::desc any(const memory::desc &desc) {
    return {desc.get_dims(), desc.get_data_type(), memory::format_tag::any};
}

class OnednnConv2d : public Peer {
public:
    // Throws dnnl::error where oneDNN has no such convolution.
    OnednnConv2d(const Conv2dData &data, int threads, bool blocked)
        : stream_(engine()), plain_(describe(data.problem)), blocked_(blocked), threads_(threads) {
        set_threads(threads);
        const dnnl::convolution_forward::primitive_desc primitive(
            engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
            blocked ? any(plain_.input) : plain_.input, any(plain_.weight),
            blocked ? any(plain_.output) : plain_.output, plain_.stride, plain_.dilation,
            plain_.padding_begin, plain_.padding_end);
        implementation_ = primitive.impl_info_str();
        convolution_ = dnnl::convolution_forward(primitive);
        input_ = reordered(plain_.input, data.input, primitive.src_desc());
        weight_ = reordered(plain_.weight, data.weight, primitive.weights_desc());
        output_ = memory(primitive.dst_desc(), engine());
        is_plain_ = primitive.src_desc() == plain_.input && primitive.dst_desc() == plain_.output;
    }

    std::string name() const override { return is_plain_ ? "oneDNN" : "oneDNN blocked"; }
    bool same_task() const override { return is_plain_; }
    std::string variant() const override {
        return (is_plain_ ? "plain activations, " : "blocked activations, ") + implementation_;
    }
    bool is_plain() const { return is_plain_; }

    void run() override {
        set_threads(threads_);
        convolution_.execute(
            stream_,
            {{DNNL_ARG_SRC, input_}, {DNNL_ARG_WEIGHTS, weight_}, {DNNL_ARG_DST, output_}});
        stream_.wait();
    }

    std::vector<std::byte> output() override {
        std::vector<std::byte> result(plain_.output.get_size());
        memory target(plain_.output, engine(), result.data());
        dnnl::reorder(output_, target).execute(stream_, output_, target);
        stream_.wait();
        return result;
    }

private:
    memory reordered(const memory::desc &from, const void *data, const memory::desc &to) {
        memory source(from, engine(), const_cast<void *>(data));
        memory target(to, engine());
        dnnl::reorder(source, target).execute(stream_, source, target);
        stream_.wait();
        return target;
    }

    dnnl::stream stream_;
    Descriptors plain_;
    dnnl::convolution_forward convolution_;
    memory input_, weight_, output_;
    std::string implementation_;
    bool blocked_;
    bool is_plain_ = true;
    int threads_;
};

}  // namespace

Peers onednn_conv2d(const Conv2dData &data, int threads) {
    Peers peers;
    for (bool blocked : {false, true}) {
        try {
            auto peer = std::make_unique<OnednnConv2d>(data, threads, blocked);
            if (blocked && peer->is_plain() && !peers.empty()) continue;
            peers.push_back(std::move(peer));
        } catch (const dnnl::error &) {
            // Not supported: f16 on a chip without its instructions.
        }
    }
    return peers;
}

std::string onednn_version() {
    const dnnl_version_t *v = dnnl_version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
           std::to_string(v->patch);
}

}  // namespace hk::bench
