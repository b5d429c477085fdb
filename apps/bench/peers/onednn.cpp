#include <dlfcn.h>

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "peers/quantized_conv2d_peer.h"

namespace hk::bench {

namespace {

using dnnl::memory;

memory::data_type type_of(DataType type) {
    switch (type) {
        case DataType::f16:
            return memory::data_type::f16;
        case DataType::bf16:
            return memory::data_type::bf16;
        case DataType::u8:
            return memory::data_type::u8;
        case DataType::s8:
            return memory::data_type::s8;
        case DataType::s32:
            return memory::data_type::s32;
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

Descriptors describe(const Conv2dProblem &p, DataType weight_type, DataType output_type) {
    const Conv2dOptions &o = p.options;
    const bool nhwc = o.layout == Layout::nhwc;
    const auto tag = nhwc ? memory::format_tag::nhwc : memory::format_tag::nchw;
    Descriptors d;
    d.input = {{p.batch, p.channels, p.height, p.width}, type_of(p.type), tag};
    d.output = {
        {p.batch, p.filters, p.output_height(), p.output_width()}, type_of(output_type), tag};
    const int64_t depth = p.channels / o.groups;
    if (o.groups == 1) {
        d.weight = {{p.filters, depth, p.kernel_height, p.kernel_width},
                    type_of(weight_type),
                    nhwc ? memory::format_tag::ohwi : memory::format_tag::oihw};
    } else {
        d.weight = {{o.groups, p.filters / o.groups, depth, p.kernel_height, p.kernel_width},
                    type_of(weight_type),
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
    OnednnConv2d(const Task &task, Form form) : stream_(engine()), task_(task), form_(form) {
        set_threads(task.threads);
        const Descriptors &plain = task.plain;
        const bool blocked = form == Form::blocked;
        const dnnl::convolution_forward::primitive_desc primitive(
            engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
            blocked ? any(plain.input) : plain.input, any(plain.weight),
            blocked ? any(plain.output) : plain.output, plain.stride, plain.dilation,
            plain.padding_begin, plain.padding_end, task.attributes);
        implementation_ = primitive.impl_info_str();
        convolution_ = dnnl::convolution_forward(primitive);
        arguments_ = task.scalings;
        arguments_[DNNL_ARG_SRC] = reordered(plain.input, task.input, primitive.src_desc());
        weight_ = reordered(plain.weight, task.weight, primitive.weights_desc());
        arguments_[DNNL_ARG_WEIGHTS] = weight_;
        output_ = memory(primitive.dst_desc(), engine());
        arguments_[DNNL_ARG_DST] = output_;
        plain_weight_ = memory(plain.weight, engine(), const_cast<void *>(task.weight));
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
    // oneDNN's plain loops, which stand in where it has nothing for a layout: no contest.
    bool is_reference() const { return implementation_.starts_with("ref"); }

    void run() override {
        set_threads(task_.threads);
        if (form_ == Form::plain_weights) pack_.execute(stream_, plain_weight_, weight_);
        convolution_.execute(stream_, arguments_);
        stream_.wait();
    }

    std::vector<std::byte> output() override {
        std::vector<std::byte> result(task_.plain.output.get_size());
        memory target(task_.plain.output, engine(), result.data());
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
    memory result({{static_cast<int64_t>(values.size())}, type, memory::format_tag::a}, engine());
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
