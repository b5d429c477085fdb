#include "quantized_conv2d/filter.h"

#include <string_view>

#include "convolution/prepared_filter.h"
#include "hk/quantized_conv2d.h"

namespace hk::detail {

namespace {

constexpr int64_t kWord = 4;  // channels that lie together for each filter of a block

// [byte, w, s, r, ko, g] of generators/quantized_conv2d/quantized_conv2d_filter.h
BufferView pack(Conv2dOperands operands) {
    const FilterSizes f(operands.problem);
    operands.weight.type = DataType::u8;  // of the rows
    const char *const operation = "quantized_conv2d";
    const Packing packing =
        packing_of(operation, quantized_conv2d_filter_kernels(), "words", operands);
    return pack_filter(operation, packing,
                       {kWord * kFilterBlock, (f.channels + kWord - 1) / kWord, f.width, f.height,
                        f.blocks, f.groups},
                       DataType::s8);
}

}  // namespace

BufferView quantized_filter_view(const KernelInfo &kernel, const Conv2dOperands &operands,
                                 const Filter &filter) {
    constexpr int words = 0;  // the only form
    if (!std::string_view(kernel.algorithm).starts_with("packed")) return operands.weight;
    if (!filter.is_prepared()) return pack(operands);
    return filter.prepared()->view(words, operands.problem, [&] { return pack(operands); });
}

}  // namespace hk::detail
