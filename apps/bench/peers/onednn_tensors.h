#pragma once
// What oneDNN's primitives share.

#include <oneapi/dnnl/dnnl.hpp>

#include "hk/conv2d.h"

namespace hk::bench {

dnnl::engine &onednn_engine();

dnnl::memory::data_type onednn_type(DataType type);

// oneDNN runs on OpenMP, whose thread count is a call of the library that oneDNN brought along.
void set_onednn_threads(int threads);

// A convolution's tensors as the caller holds them.
struct Descriptors {
    dnnl::memory::desc input, weight, output;
    dnnl::memory::dims stride, dilation, padding_begin, padding_end;
};

Descriptors describe(const Conv2dProblem &problem, DataType weight_type, DataType output_type);

// The same tensor, in whatever layout oneDNN likes best.
dnnl::memory::desc any_layout(const dnnl::memory::desc &desc);

dnnl::memory reordered(const dnnl::memory::desc &from, const void *data,
                       const dnnl::memory::desc &to);

// The bytes of `source` in the layout of `to`.
std::vector<std::byte> bytes_in(const dnnl::memory::desc &to, const dnnl::memory &source);

// oneDNN's plain loops, which stand in where it has nothing for a layout: no contest.
inline bool is_reference(const std::string &implementation) {
    return implementation.starts_with("ref");
}

}  // namespace hk::bench
