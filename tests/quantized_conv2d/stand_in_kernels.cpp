// A table of quantized_conv2d kernels that only note what they were called with.

#include "hk/quantized_conv2d.h"
#include "tests/support/noting_kernels.h"

namespace hk {
namespace {

const test::Declared kDeclared(
    {"input", "weight", "scale", "bias", "bias_scale", "output"},
    {"stride_x", "stride_y", "dilation_x", "dilation_y", "padding_left", "padding_top",
     "input_flip", "input_scale", "input_zero_point", "scale_for_all", "weight_zero_point",
     "bias_kind", "bias_scale_for_all", "bias_zero_point", "output_scale", "output_flip",
     "output_zero_point", "slope", "low", "high"},
    {"integer_output"});

const Constraint kToBytes[] = {{"output_bytes", Constraint::Relation::equal, 1}};
const Constraint kToWords[] = {{"output_bytes", Constraint::Relation::equal, 4}};

template<int index>
KernelInfo row(const char *name, DataType type, Layout layout, std::span<const Constraint> where) {
    return test::noting_row<index>("quantized_conv2d", name, type, layout, where, kDeclared);
}

}  // namespace

std::span<const KernelInfo> quantized_conv2d_filter_kernels() { return {}; }
std::span<const KernelInfo> quantized_conv2d_kernels() {
    static const KernelInfo kernels[] = {
        row<0>("to_bytes_nhwc", DataType::u8, Layout::nhwc, kToBytes),
        row<1>("to_words_nhwc", DataType::u8, Layout::nhwc, kToWords),
        row<2>("to_words_nchw", DataType::u8, Layout::nchw, kToWords),
        row<3>("real_nhwc", DataType::f32, Layout::nhwc, kToWords),
    };
    return kernels;
}

}  // namespace hk
