#include "quantized_conv2d/filter.h"

#include <string_view>

#include "convolution/prepared_filter.h"
#include "hk/quantized_conv2d.h"

namespace hk::detail {

namespace {

constexpr int64_t kWord = 4;    // channels that lie together for each filter of a block
constexpr int64_t kSlice = 64;  // of products of matrices: kSliceBytes of its generator

enum class Form : uint8_t { words, slices };

// [byte, w, s, r, ko, g] of generators/quantized_conv2d/quantized_conv2d_filter.h
BufferView pack(Conv2dOperands operands, Form form) {
    const FilterSizes f(operands.problem);
    operands.weight.type = DataType::u8;  // of the rows
    const int64_t whole = form == Form::slices ? kSlice : kWord;
    const char *const operation = "quantized_conv2d";
    const Packing packing =
        packing_of(operation, quantized_conv2d_filter_kernels(), "words", operands);
    return pack_filter(operation, packing,
                       {kWord * kFilterBlock, (f.channels + whole - 1) / whole * (whole / kWord),
                        f.width, f.height, f.blocks, f.groups},
                       DataType::s8);
}

}  // namespace

BufferView quantized_filter_view(const KernelInfo &kernel, const Conv2dOperands &operands,
                                 const Filter &filter) {
    const std::string_view algorithm = kernel.algorithm;
    const Form form = algorithm.starts_with("slices") ? Form::slices : Form::words;
    if (form == Form::words && !algorithm.starts_with("packed")) return operands.weight;
    if (!filter.is_prepared()) return pack(operands, form);
    return filter.prepared()->view(static_cast<int>(form), operands,
                                   [&] { return pack(operands, form); });
}

}  // namespace hk::detail
