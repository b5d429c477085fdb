#include "peers/onednn_tensors.h"

#include <dlfcn.h>

namespace hk::bench {

using dnnl::memory;

memory::data_type onednn_type(DataType type) {
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

dnnl::engine &onednn_engine() {
    static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
    return instance;
}

void set_onednn_threads(int threads) {
    using Function = void (*)(int);
    if (auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) {
        function(threads);
    }
}

Descriptors describe(const Conv2dProblem &p, DataType weight_type, DataType output_type) {
    const Conv2dOptions &o = p.options;
    const bool nhwc = o.layout == Layout::nhwc;
    const auto tag = nhwc ? memory::format_tag::nhwc : memory::format_tag::nchw;
    Descriptors d;
    d.input = {{p.batch, p.channels, p.height, p.width}, onednn_type(p.type), tag};
    d.output = {
        {p.batch, p.filters, p.output_height(), p.output_width()}, onednn_type(output_type), tag};
    const int64_t depth = p.channels / o.groups;
    if (o.groups == 1) {
        d.weight = {{p.filters, depth, p.kernel_height, p.kernel_width},
                    onednn_type(weight_type),
                    nhwc ? memory::format_tag::ohwi : memory::format_tag::oihw};
    } else {
        d.weight = {{o.groups, p.filters / o.groups, depth, p.kernel_height, p.kernel_width},
                    onednn_type(weight_type),
                    nhwc ? memory::format_tag::gohwi : memory::format_tag::goihw};
    }
    d.stride = {o.stride[0], o.stride[1]};
    d.dilation = {o.dilation[0] - 1, o.dilation[1] - 1};
    d.padding_begin = {o.padding.top, o.padding.left};
    d.padding_end = {o.padding.bottom, o.padding.right};
    return d;
}

memory::desc any_layout(const memory::desc &desc) {
    return {desc.get_dims(), desc.get_data_type(), memory::format_tag::any};
}

memory reordered(const memory::desc &from, const void *data, const memory::desc &to) {
    dnnl::stream stream(onednn_engine());
    memory source(from, onednn_engine(), const_cast<void *>(data));
    memory target(to, onednn_engine());
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
    return target;
}

std::vector<std::byte> bytes_in(const memory::desc &to, const memory &source) {
    std::vector<std::byte> result(to.get_size());
    dnnl::stream stream(onednn_engine());
    memory from = source, target(to, onednn_engine(), result.data());
    dnnl::reorder(from, target).execute(stream, from, target);
    stream.wait();
    return result;
}

}  // namespace hk::bench
