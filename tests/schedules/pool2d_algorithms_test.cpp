// Is each algorithm of pool2d and of its gradient the definition (algorithm.h).

#include <gtest/gtest.h>

#include "Halide.h"
#include "tests/pool2d/case.h"
#include "tests/schedules/algorithm.h"

namespace hk::test {
namespace {

class Pool2dAlgorithm : public RootTest {};
TEST_P(Pool2dAlgorithm, IsTheDefinition) { check_convolution<Pool2dCase>(); }

class Pool2dBackwardAlgorithm : public RootTest {};
TEST_P(Pool2dBackwardAlgorithm, IsTheDefinition) { check_convolution<Pool2dBackwardCase>(); }

std::vector<Algorithm> poolings(const char *family, const std::vector<const char *> &of_any_window,
                                const std::vector<const char *> &of_planes) {
    std::vector<Algorithm> all;
    for (const char *algorithm : of_any_window) {
        const bool average = std::string_view(algorithm).starts_with("average");
        all.push_back({family, algorithm, "", fixed({{"average", average}})});
    }
    Where whole = fixed({{"average", 1}});
    whole.push_back({"whole_plane", Relation::at_least, 1});
    for (const char *algorithm : of_planes) all.push_back({family, algorithm, "", whole});
    return all;
}

// Windows that overlap and that do not, and that leave pixels out.
std::vector<Algorithm> gradients_of_poolings() {
    const auto window = [](int64_t average, int64_t kernel, int64_t stride, int64_t padding) {
        Sizes sizes = {{"average", average},
                       {"kernel_w", kernel},
                       {"kernel_h", kernel},
                       {"stride_x", stride},
                       {"stride_y", stride}};
        if (padding == 0) sizes.push_back({"padding", 0});
        if (padding > 0) sizes.push_back({"padding_left", padding});
        if (padding > 0) sizes.push_back({"padding_top", padding});
        return fixed(sizes);
    };
    std::vector<Algorithm> all = poolings(
        "pool2d_backward",
        {"max", "max_in_blocks", "average", "average_in_blocks", "max_by_rows", "average_by_rows"},
        {"average_of_planes"});
    for (const char *algorithm :
         {"max_by_phases", "max_of_tiles", "average_by_phases", "average_of_tiles"}) {
        const bool average = std::string_view(algorithm).starts_with("average");
        all.push_back({"pool2d_backward", algorithm, "_2x2_s2", window(average, 2, 2, 0)});
        all.push_back({"pool2d_backward", algorithm, "_3x3_s2", window(average, 3, 2, 1)});
        all.push_back({"pool2d_backward", algorithm, "_3x3_s1", window(average, 3, 1, 2)});
        all.push_back({"pool2d_backward", algorithm, "_2x2_s3", window(average, 2, 3, -1)});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Root, Pool2dAlgorithm,
                         in_layouts(poolings("pool2d",
                                             {"max", "average", "average_of_tiles",
                                              "average_in_blocks", "max_by_rows",
                                              "average_by_rows"},
                                             {"average_in_lanes", "average_of_planes"})),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Root, Pool2dBackwardAlgorithm, in_layouts(gradients_of_poolings()),
                         parameter_name);

}  // namespace
}  // namespace hk::test
