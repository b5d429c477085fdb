// The random problems reach what they are meant to reach.

#include "tests/conv2d/case.h"

#include <gtest/gtest.h>

#include <map>

namespace hk::test {
namespace {

TEST(Conv2dCase, CoversTheUnusualShapes) {
    std::map<std::string, int> seen;
    int made = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        const auto c = random_case<Conv2dCase>(seed, {});
        if (!c) {
            continue;
        }
        made++;
        const Conv2dProblem &p = c->problem;
        const Conv2dOptions &o = p.options;
        const Padding &pad = o.padding;
        seen["odd channels"] += p.channels % 2 && p.channels > 1;
        seen["depthwise"] += o.groups > 1 && p.channels == o.groups && p.filters == o.groups;
        seen["multiplier"] += p.channels == o.groups && p.filters > o.groups && o.groups > 1;
        seen["grouped"] += o.groups > 1 && p.channels > o.groups;
        seen["kernel larger than image"] += p.kernel_height > p.height || p.kernel_width > p.width;
        seen["stride larger than kernel"] += o.stride[0] > p.kernel_height;
        seen["dilated"] += o.dilation[0] > 1 && p.kernel_height > 1;
        seen["asymmetric"] += pad.top != pad.bottom || pad.left != pad.right;
        seen["pointwise"] += p.kernel_height == 1 && p.kernel_width == 1;
        seen["view"] += c->input != Placement::packed;
        EXPECT_GE(p.output_height(), 1) << to_string(*c);
        EXPECT_GE(p.output_width(), 1) << to_string(*c);
        EXPECT_LE(p.operations(), 1e6) << to_string(*c);
    }
    EXPECT_GT(made, 250);
    for (const auto &[kind, times] : seen) {
        EXPECT_GE(times, 5) << kind;
    }
}

}  // namespace
}  // namespace hk::test
