#include <cstring>
#include <unordered_map>

#include "peers/onednn_tensors.h"
#include "peers/quantized_conv2d_peer.h"

namespace hk::bench {

namespace {

using dnnl::memory;

// A convolution with its data, and the scales and zero points of quantised ones.
struct Task {
    Descriptors plain;
    const void *input, *weight;
    int threads;
    dnnl::primitive_attr attributes = {};
    std::unordered_map<int, memory> scalings = {};  // arguments
};

enum class Form {
    plain,          // activations as the caller holds them, weights reordered beforehand
    plain_weights,  // weights reordered in each run
    blocked,        // activations as oneDNN likes them best
};

class OnednnConv2d : public Peer {
public:
    // Throws dnnl::error where oneDNN has no such convolution.
    OnednnConv2d(const Task &task, Form form) : stream_(onednn_engine()), task_(task), form_(form) {
        set_onednn_threads(task.threads);
        const Descriptors &plain = task.plain;
        const bool blocked = form == Form::blocked;
        const dnnl::convolution_forward::primitive_desc primitive(
            onednn_engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
            blocked ? any_layout(plain.input) : plain.input, any_layout(plain.weight),
            blocked ? any_layout(plain.output) : plain.output, plain.stride, plain.dilation,
            plain.padding_begin, plain.padding_end, task.attributes);
        implementation_ = primitive.impl_info_str();
        convolution_ = dnnl::convolution_forward(primitive);
        arguments_ = task.scalings;
        arguments_[DNNL_ARG_SRC] = reordered(plain.input, task.input, primitive.src_desc());
        weight_ = reordered(plain.weight, task.weight, primitive.weights_desc());
        arguments_[DNNL_ARG_WEIGHTS] = weight_;
        output_ = memory(primitive.dst_desc(), onednn_engine());
        arguments_[DNNL_ARG_DST] = output_;
        plain_weight_ = memory(plain.weight, onednn_engine(), const_cast<void *>(task.weight));
        pack_ = dnnl::reorder(plain_weight_, weight_);
        is_plain_ = primitive.src_desc() == plain.input && primitive.dst_desc() == plain.output;
    }

    std::string name() const override {
        if (form_ == Form::plain_weights) return "oneDNN plain weights";
        return is_plain_ ? "oneDNN" : "oneDNN blocked";
    }
    bool same_task() const override { return is_plain_ && form_ != Form::plain_weights; }
    std::string variant() const override {
        return (is_plain_ ? "plain activations, " : "blocked activations, ") + implementation_;
    }
    bool is_plain() const { return is_plain_; }
    bool is_reference() const { return bench::is_reference(implementation_); }

    void run() override {
        set_onednn_threads(task_.threads);
        if (form_ == Form::plain_weights) pack_.execute(stream_, plain_weight_, weight_);
        convolution_.execute(stream_, arguments_);
        stream_.wait();
    }

    Outputs outputs() override { return {bytes_in(task_.plain.output, output_)}; }

private:
    dnnl::stream stream_;
    Task task_;
    Form form_;
    dnnl::convolution_forward convolution_;
    dnnl::reorder pack_;
    memory plain_weight_, weight_, output_;
    std::unordered_map<int, memory> arguments_;
    std::string implementation_;
    bool is_plain_ = true;
};

Peers make(const Task &task, std::initializer_list<Form> forms) {
    Peers peers;
    for (const Form form : forms) {
        try {
            auto peer = std::make_unique<OnednnConv2d>(task, form);
            if (peer->is_reference()) continue;
            if (form == Form::blocked && peer->is_plain() && !peers.empty()) continue;
            peers.push_back(std::move(peer));
        } catch (const dnnl::error &) {
            // Not supported: f16 on a chip without its instructions.
        }
    }
    return peers;
}

template<typename T>
memory filled(const std::vector<T> &values, memory::data_type type) {
    memory result({{static_cast<int64_t>(values.size())}, type, memory::format_tag::a},
                  onednn_engine());
    std::memcpy(result.get_data_handle(), values.data(), values.size() * sizeof(T));
    return result;
}

void add_scaling(Task &task, const QuantizedConv2dData &data) {
    const auto scales = [&](int argument, int mask, const std::vector<float> &values) {
        task.attributes.set_scales_mask(argument, mask);
        task.scalings[DNNL_ARG_ATTR_SCALES | argument] = filled(values, memory::data_type::f32);
    };
    const auto zero_point = [&](int argument, int32_t value) {
        if (value == 0) return;
        task.attributes.set_zero_points_mask(argument, 0);
        task.scalings[DNNL_ARG_ATTR_ZERO_POINTS | argument] =
            filled(std::vector<int32_t>{value}, memory::data_type::s32);
    };
    zero_point(DNNL_ARG_SRC, data.input_zero_point);
    if (data.problem.output_type == DataType::s32) return;
    scales(DNNL_ARG_SRC, 0, {data.input_scale});
    // A bit of the mask for each dimension that scales run along: filters, or group and filter.
    scales(DNNL_ARG_WEIGHTS, data.problem.conv.options.groups == 1 ? 1 : 3, data.weight_scales);
    if (size_of(data.problem.output_type) != 1) return;
    scales(DNNL_ARG_DST, 0, {data.output_scale});
    zero_point(DNNL_ARG_DST, data.output_zero_point);
}

}  // namespace

Peers onednn_conv2d(const Conv2dData &data, int threads) {
    const DataType type = data.problem.type;
    return make({describe(data.problem, type, type), data.input, data.weight, threads},
                {Form::plain, Form::blocked});
}

Peers onednn_quantized_conv2d(const QuantizedConv2dData &data, int threads) {
    if (!data.integer()) return {};
    const QuantizedConv2dProblem &problem = data.problem;
    Task task{describe(problem.conv, DataType::s8, problem.output_type), data.input.data(),
              data.weight.data(), threads};
    add_scaling(task, data);
    return make(task, {Form::plain, Form::blocked, Form::plain_weights});
}

std::string onednn_version() {
    const dnnl_version_t *v = dnnl_version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
           std::to_string(v->patch);
}

}  // namespace hk::bench
