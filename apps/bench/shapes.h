#pragma once
// Named lists of convolution shapes: the CSV files of shapes/conv, which the build embeds, or a
// file.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hk/conv2d.h"

namespace hk::bench {

struct ConvShape {
    std::string name;    // unique in its list: 56x56_128-128_3x3_s2_g32
    std::string passes;  // "fwd|bwd_data|bwd_weight": which passes users run
    int64_t count = 1;   // how often the network has it
    int64_t batch = 1, channels = 1, height = 1, width = 1, filters = 1;
    int64_t kernel_height = 1, kernel_width = 1, padding_y = 0, padding_x = 0;
    int64_t stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1, groups = 1;

    Conv2dProblem problem(DataType type, Layout layout) const;
};

// The shapes of a list (lists.h). A shape without a name gets derived_name. Throws InvalidArgument.
std::vector<ConvShape> parse_conv_shapes(std::string_view csv);

// Names of the embedded lists.
std::vector<std::string> conv_list_names();

// The distinct shapes of an embedded list, or of a file where the name ends in .csv, that run the
// pass ("fwd", "bwd_data", "bwd_weight"; a shape that names none runs all). Batch 0 means the
// list's own, and 1 for conv_training, whose own batches are those of training. Throws
// InvalidArgument.
std::vector<ConvShape> conv_list(const std::string &name, std::string_view pass, int64_t batch = 0);

// 56x56_128-128_3x3_s2_g32: input extents, channels to filters, kernel, then what is not 1.
std::string derived_name(const ConvShape &shape);

}  // namespace hk::bench
