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

TEST(Conv2dCase, MeetsConstraints) {
    using Relation = Constraint::Relation;
    const Constraint where[] = {
        {"channels_per_group", Relation::equal, 1}, {"filters_per_group", Relation::equal, 1},
        {"groups", Relation::multiple_of, 8},       {"kernel_h", Relation::equal, 3},
        {"kernel_w", Relation::equal, 3},           {"stride_x", Relation::equal, 2},
        {"out_w", Relation::at_least, 9},           {"channels", Relation::at_least, 16},
    };
    int made = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        const auto c = random_case<Conv2dCase>(seed, {.where = where});
        if (!c) {
            continue;
        }
        made++;
        EXPECT_EQ(c->problem.channels, c->problem.options.groups);
        EXPECT_EQ(c->problem.options.groups % 8, 0);
        EXPECT_GE(c->problem.output_width(), 9);
    }
    EXPECT_GT(made, 50);
}

TEST(Conv2dCase, MeetsConstraintsOnTheImage) {
    using Relation = Constraint::Relation;
    for (const int64_t stride : {1, 2}) {
        const Constraint where[] = {
            {"kernel_w", Relation::equal, 3},     {"stride_x", Relation::equal, stride},
            {"width", Relation::equal, 14},       {"out_w", Relation::equal, 14 / stride},
            {"padding_left", Relation::equal, 1}, {"dilation_x", Relation::equal, 1},
        };
        int made = 0;
        for (uint64_t seed = 0; seed < 100; seed++) {
            made += random_case<Conv2dCase>(seed, {.where = where}).has_value();
        }
        EXPECT_GT(made, 50) << stride;
    }
}

}  // namespace
}  // namespace hk::test
