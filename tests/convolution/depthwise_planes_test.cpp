// Which depthwise convolutions in rows (nchw), and gradients of their input, keep a plane of 16
// groups in a task.

#include <gtest/gtest.h>

#include "hk/conv2d_backward.h"

namespace hk::test {
namespace {

// As many pixels in the output as in the input, with a stride of 1.
Conv2dProblem problem_of(int64_t height, int64_t width, int64_t kernel) {
    Conv2dProblem problem;
    problem.channels = problem.filters = problem.options.groups = 32;
    problem.height = height;
    problem.width = width;
    problem.kernel_height = problem.kernel_width = kernel;
    problem.options.layout = Layout::nchw;
    const int64_t side = kernel / 2;
    problem.options.padding = {side, side, side, side};
    return problem;
}

bool keeps_plane(const Selection &selection) {
    return std::string(selection.kernel->algorithm) == "depthwise_planes";
}

bool forward_keeps_plane(const Conv2dProblem &problem) {
    return keeps_plane(select_conv2d(problem, DeviceType::cpu, Device::cpu().limits()));
}

bool backward_keeps_plane(const Conv2dProblem &problem) {
    return keeps_plane(
        select_conv2d_backward_data(problem, DeviceType::cpu, Device::cpu().limits()));
}

TEST(DepthwisePlanes, AreKeptUpToABound) {
    for (const int64_t kernel : {5, 7, 9}) {
        SCOPED_TRACE(kernel);
        EXPECT_TRUE(forward_keeps_plane(problem_of(512, 512, kernel)));
        EXPECT_TRUE(backward_keeps_plane(problem_of(512, 512, kernel)));
        for (const auto &[height, width] :
             {std::pair<int64_t, int64_t>{513, 512}, {512, 513}, {65537, 4}, {4, 65537}}) {
            EXPECT_FALSE(forward_keeps_plane(problem_of(height, width, kernel)));
            EXPECT_FALSE(backward_keeps_plane(problem_of(height, width, kernel)));
        }
    }
}

TEST(DepthwisePlanes, OfNarrow3x3AreKeptUpToABound) {
    EXPECT_TRUE(forward_keeps_plane(problem_of(8192, 32, 3)));
    EXPECT_TRUE(backward_keeps_plane(problem_of(8192, 32, 3)));
    EXPECT_FALSE(forward_keeps_plane(problem_of(8193, 32, 3)));
    EXPECT_FALSE(backward_keeps_plane(problem_of(8193, 32, 3)));
}

// The planes that are kept are the output's.
TEST(DepthwisePlanes, OfAStrideCountTheOutputsPixels) {
    for (const int64_t kernel : {3, 5, 7}) {
        SCOPED_TRACE(kernel);
        Conv2dProblem problem = problem_of(1024, 1024, kernel);
        problem.options.stride = {2, 2};
        EXPECT_TRUE(forward_keeps_plane(problem));
        problem.height = 1025;
        EXPECT_FALSE(forward_keeps_plane(problem));
    }
}

}  // namespace
}  // namespace hk::test
