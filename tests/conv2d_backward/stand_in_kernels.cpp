// Tables of kernels of conv2d's gradients that only note what they were called with.

#include "hk/conv2d_backward.h"
#include "tests/support/noting_kernels.h"

namespace hk {
namespace {

using test::Declared;
using test::noting_row;

const Declared kData({"output_gradient", "weight", "previous", "input_gradient"},
                     {"stride_x", "stride_y", "dilation_x", "dilation_y", "padding_left",
                      "padding_top", "common_x", "common_y", "inverse_x", "inverse_y"},
                     {"accumulate"});
const Declared kWeight({"output_gradient", "input", "previous", "weight_gradient"},
                       {"stride_x", "stride_y", "dilation_x", "dilation_y", "padding_left",
                        "padding_top"},
                       {"accumulate"});
const Declared kBias({"output_gradient", "previous", "bias_gradient"}, {}, {"accumulate"});

const Constraint kPointwise[] = {{"kernel_h", Constraint::Relation::equal, 1},
                                 {"kernel_w", Constraint::Relation::equal, 1},
                                 {"stride_y", Constraint::Relation::equal, 1}};
const Constraint kStrided[] = {{"stride_x", Constraint::Relation::equal, 5},
                               {"padding_top", Constraint::Relation::equal, 2}};

template<int index>
KernelInfo row(const char *name, const Declared &declared, Layout layout,
               std::span<const Constraint> where = {}) {
    const char *family = &declared == &kData     ? "conv2d_backward_data"
                         : &declared == &kWeight ? "conv2d_backward_weight"
                                                 : "conv2d_backward_bias";
    return noting_row<index>(family, name, DataType::f32, layout, where, declared);
}

}  // namespace

std::span<const KernelInfo> conv2d_backward_data_kernels() {
    static const KernelInfo kernels[] = {
        row<0>("pointwise_data", kData, Layout::nhwc, kPointwise),
        row<1>("strided_data", kData, Layout::nhwc, kStrided),
        row<2>("data_nhwc", kData, Layout::nhwc),
        row<3>("data_nchw", kData, Layout::nchw),
    };
    return kernels;
}

std::span<const KernelInfo> conv2d_backward_weight_kernels() {
    static const KernelInfo kernels[] = {row<4>("weight_nhwc", kWeight, Layout::nhwc),
                                         row<5>("weight_nchw", kWeight, Layout::nchw)};
    return kernels;
}

std::span<const KernelInfo> conv2d_backward_bias_kernels() {
    static const KernelInfo kernels[] = {row<6>("bias_nhwc", kBias, Layout::nhwc)};
    return kernels;
}

}  // namespace hk
