// The lists of shapes against what is known of the networks: how many convolutions they have, and
// how many multiplications those take.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "families/convolution/convolution.h"
#include "hk/error.h"
#include "lists.h"

namespace hk::bench {

namespace {

struct Network {
    const char *list;
    size_t distinct;
    int64_t convolutions;
    double multiplications;  // as published, of the convolutions alone
};

class Networks : public testing::TestWithParam<Network> {};

TEST_P(Networks, HaveTheirConvolutions) {
    const Network &network = GetParam();
    const auto shapes = convolutions(network.list);
    const auto cases = family_named("conv2d").cases(network.list, {});
    ASSERT_EQ(shapes.size(), network.distinct);
    ASSERT_EQ(cases.size(), network.distinct);
    int64_t count = 0;
    double multiplications = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
        EXPECT_EQ(cases[i].name, name_of(shapes[i]));
        count += cases[i].count;
        multiplications += static_cast<double>(cases[i].count) * shapes[i].operations() / 2;
    }
    EXPECT_EQ(count, network.convolutions);
    EXPECT_NEAR(multiplications / network.multiplications, 1, 0.005);
}

// Lists without the convolutions of one pixel or of fixed weights have those taken off. U-Net's
// paper has no padding: its sum is that of 512x512 images of the same network over 4.
const Network networks[] = {
    {"resnet50", 23, 53, 4.087e9},        {"mobilenetv2", 30, 52, 299.5e6},
    {"resnext50", 24, 53, 4.228e9},       {"vgg16", 9, 13, 15.47e9 - 123.6e6},
    {"resnet18", 11, 20, 1.814e9},        {"densenet121", 66, 120, 2.834e9},
    {"efficientnet_b0", 32, 49, 0.384e9}, {"mobilenetv3_large", 34, 46, 0.2166e9 - 4.0e6},
    {"convnext_t", 16, 58, 4.456e9},      {"yolov8s", 40, 63, 28.6e9 / 2},
    {"unet", 15, 19, 184.1e9 / 4}};

INSTANTIATE_TEST_SUITE_P(ShapeLists, Networks, testing::ValuesIn(networks),
                         [](const auto &info) { return info.param.list; });

TEST(ShapeLists, NetworksNeedNoGradientOfThePicture) {
    for (const Network &network : networks) {
        const std::string list = network.list;
        const auto data = convolutions(list, "bwd_data");
        EXPECT_EQ(convolutions(list, "bwd_weight").size(), convolutions(list).size()) << list;
        EXPECT_EQ(data.size() + 1, convolutions(list).size()) << list;
        for (const Conv2dProblem &shape : data) EXPECT_NE(shape.channels, 3) << list;
    }
}

TEST(ShapeLists, DepthwiseOnesSaySoAndTheirKernel) {
    std::map<int64_t, int> kernels;
    for (const Conv2dProblem &shape : convolutions("depthwise", "bwd_weight")) {
        const std::string kernel = std::to_string(shape.kernel_height), name = name_of(shape);
        EXPECT_EQ(shape.options.groups, shape.channels) << name;
        EXPECT_EQ(shape.filters, shape.channels) << name;
        EXPECT_EQ(shape.kernel_width, shape.kernel_height) << name;
        EXPECT_NE(name.find("_" + kernel + "x" + kernel), std::string::npos) << name;
        EXPECT_TRUE(name.ends_with("_depthwise")) << name;
        ++kernels[shape.kernel_height];
    }
    EXPECT_EQ(kernels, (std::map<int64_t, int>{{3, 6}, {5, 9}, {7, 4}}));
}

// What is written in nhwc is the same problem in nchw.
TEST(ShapeLists, LayoutsDescribeTheSameProblem) {
    const Family family = family_named("conv2d");
    Settings nchw;
    nchw.layout = Layout::nchw;
    for (const std::string &list : embedded_lists("convolution")) {
        const auto cases = family.cases(list, {}), turned = family.cases(list, nchw);
        ASSERT_EQ(cases.size(), turned.size());
        for (size_t i = 0; i < cases.size(); ++i) {
            const auto one = cases[i].problem(), other = turned[i].problem();
            EXPECT_GT(one->work(), 0) << cases[i].name;
            EXPECT_EQ(one->work(), other->work()) << cases[i].name;
            const Shape a = one->shapes().at("output"), b = other->shapes().at("output");
            EXPECT_EQ(b, (Shape{a[0], a[3], a[1], a[2]})) << cases[i].name;
        }
    }
}

TEST(ShapeLists, TrainingShapesRunAtBatch1AndByPass) {
    Settings settings;
    const auto batches = [&](const char *family) {
        std::vector<int64_t> result;
        for (const CaseInfo &info : family_named(family).cases("conv_training", settings))
            result.push_back(dynamic_cast<const Convolution &>(*info.problem()).conv().batch);
        return result;
    };
    EXPECT_EQ(batches("conv2d"), std::vector<int64_t>(69, 1));
    EXPECT_EQ(batches("conv2d_backward_data"), std::vector<int64_t>(60, 1));
    EXPECT_EQ(batches("conv2d_backward_weight"), std::vector<int64_t>(67, 1));
    settings.batch = 8;
    EXPECT_EQ(batches("conv2d"), std::vector<int64_t>(69, 8));
}

TEST(ShapeLists, NamesSayWhatIsUnusual) {
    const auto name = [](const std::string &sizes) { return name_of(convolutions(sizes).front()); };
    EXPECT_EQ(name("input=1x56x48x64,weight=128x3x3x64,padding=1"), "56x48_64-128_3x3");
    EXPECT_EQ(name("input=1x56x56x64,weight=64x5x5x1,padding=2,stride=2,groups=64"),
              "56x56_64-64_5x5_s2_depthwise");
    EXPECT_EQ(name("input=4x56x56x64,weight=64x3x1x32,padding=4x0,dilation=4x1,groups=2"),
              "n4_56x56_64-64_3x1_d4x1_g2");
    EXPECT_EQ(name("input=1x9x9x8,weight=8x3x3x8"), "9x9_8-8_3x3_p0x0");
}

// The rows of the list, each in three kinds; "1x131072_k4_f16" has its own type.
TEST(ShapeLists, TopKNamesAreRowsColumnsAndK) {
    const Family family = family_named("topk");
    EXPECT_EQ(family.usual, (std::vector<std::string>{"topk", "topk_f16"}));
    std::set<std::string> names;
    std::map<std::string, int> kinds;
    std::vector<CaseInfo> all;
    for (const std::string &list : family.usual) {
        for (CaseInfo &info : family.cases(list, {})) all.push_back(std::move(info));
    }
    for (const CaseInfo &info : all) {
        EXPECT_TRUE(names.insert(info.name).second) << info.name;
        EXPECT_EQ(info.name.ends_with("_" + info.kind), info.kind != "both") << info.name;
        EXPECT_EQ(info.type.value_or(DataType::f32),
                  info.name.find("f16") == std::string::npos ? DataType::f32 : DataType::f16);
        ++kinds[info.kind];
    }
    EXPECT_EQ(kinds, (std::map<std::string, int>{{"both", 11}, {"values", 11}, {"indices", 11}}));
    for (const char *name :
         {"1x50257_k50", "32x50257_k50", "1x128256_k40", "1x1000000_k100", "1x16777216_k100",
          "64x8400_k300", "1000x10000_k16", "4096x1000_k5", "100x100000_k256", "64x32000_k50",
          "1x131072_k4_f16", "64x32000_k50_values", "1x1000000_k100_indices"}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
}

TEST(ShapeLists, MistakesAreNamed) {
    for (const char *list :
         {"resnet51", "missing.csv", "input=1x8x8x4", "input=1x8x8,weight=8x1x1x8",
          "input=1x8x8xa,weight=8x1x1x4", "input=1x8x8x4,weight=8x1x1x4,colour=2",
          "input=1x8x8x4,weight=8x1x1x4,groups=x", "input=1x8x8x4,weight=8x1x1x3"}) {
        EXPECT_THROW(convolutions(list), InvalidArgument) << list;
    }
    EXPECT_THROW(list_lines(""), InvalidArgument);
    EXPECT_THROW(list_lines("a,b\n1\n"), InvalidArgument);
    EXPECT_THROW(list_lines("a,a\n1,2\n"), InvalidArgument);
}

}  // namespace

}  // namespace hk::bench
