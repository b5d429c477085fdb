// The lists of shapes against what is known of the networks: how many convolutions they have, and
// how many multiplications those take.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "family.h"
#include "hk/error.h"
#include "shapes.h"

namespace hk::bench {

namespace {

struct Network {
    const char *list;
    size_t distinct;
    int64_t convolutions;
    double multiplications;  // of the published networks at 224x224, their convolutions alone
};

class Networks : public testing::TestWithParam<Network> {};

TEST_P(Networks, HaveTheirConvolutions) {
    const Network &network = GetParam();
    const auto shapes = conv_list(network.list, "fwd");
    std::set<std::string> names;
    int64_t convolutions = 0;
    double multiplications = 0;
    for (const ConvShape &shape : shapes) {
        EXPECT_EQ(shape.name, derived_name(shape));
        names.insert(shape.name);
        convolutions += shape.count;
        const Conv2dProblem problem = shape.problem(DataType::f32, Layout::nhwc);
        multiplications += static_cast<double>(shape.count) * problem.operations() / 2;
    }
    EXPECT_EQ(names.size(), shapes.size());
    EXPECT_EQ(shapes.size(), network.distinct);
    EXPECT_EQ(convolutions, network.convolutions);
    EXPECT_NEAR(multiplications / network.multiplications, 1, 0.005);
}

INSTANTIATE_TEST_SUITE_P(ShapeLists, Networks,
                         testing::Values(Network{"resnet50", 23, 53, 4.087e9},
                                         Network{"mobilenetv2", 30, 52, 299.5e6},
                                         Network{"resnext50", 24, 53, 4.228e9}),
                         [](const auto &info) { return info.param.list; });

TEST(ShapeLists, NamesAreThoseOfTheShapes) {
    for (const std::string &list : conv_list_names()) {
        std::set<std::string> names;
        for (const ConvShape &shape : conv_list(list, "fwd")) {
            EXPECT_EQ(shape.name, derived_name(shape)) << list;
            EXPECT_TRUE(names.insert(shape.name).second) << list << ": " << shape.name;
        }
    }
}

TEST(ShapeLists, NetworksNeedNoGradientOfThePicture) {
    for (const std::string list : {"resnet50", "mobilenetv2", "resnext50"}) {
        const auto data = conv_list(list, "bwd_data");
        EXPECT_EQ(conv_list(list, "bwd_weight").size(), conv_list(list, "fwd").size()) << list;
        EXPECT_EQ(data.size() + 1, conv_list(list, "fwd").size()) << list;
        for (const ConvShape &shape : data) EXPECT_NE(shape.channels, 3) << list;
    }
}

TEST(ShapeLists, DepthwiseOnesSaySoAndTheirKernel) {
    std::map<int64_t, int> kernels;
    for (const ConvShape &shape : conv_list("depthwise", "bwd_weight")) {
        const std::string kernel = std::to_string(shape.kernel_height);
        EXPECT_EQ(shape.groups, shape.channels) << shape.name;
        EXPECT_EQ(shape.filters, shape.channels) << shape.name;
        EXPECT_EQ(shape.kernel_width, shape.kernel_height) << shape.name;
        EXPECT_NE(shape.name.find("_" + kernel + "x" + kernel), std::string::npos) << shape.name;
        EXPECT_TRUE(shape.name.ends_with("_depthwise")) << shape.name;
        ++kernels[shape.kernel_height];
    }
    EXPECT_EQ(kernels, (std::map<int64_t, int>{{3, 6}, {5, 9}, {7, 4}}));
}

TEST(ShapeLists, LayoutsDescribeTheSameProblem) {
    for (const std::string &list : conv_list_names()) {
        for (const ConvShape &shape : conv_list(list, "fwd")) {
            const Conv2dProblem nhwc = shape.problem(DataType::f32, Layout::nhwc);
            const Conv2dProblem nchw = shape.problem(DataType::f32, Layout::nchw);
            EXPECT_EQ(nhwc.operations(), nchw.operations()) << shape.name;
            EXPECT_EQ(nhwc.output_height(), nchw.output_height()) << shape.name;
            EXPECT_GT(nhwc.operations(), 0) << shape.name;
        }
    }
}

TEST(ShapeLists, TrainingShapesRunAtBatch1AndByPass) {
    const auto forward = conv_list("conv_training", "fwd");
    EXPECT_EQ(forward.size(), 69u);
    EXPECT_EQ(conv_list("conv_training", "bwd_data").size(), 60u);
    EXPECT_EQ(conv_list("conv_training", "bwd_weight").size(), 67u);
    for (const ConvShape &shape : forward) EXPECT_EQ(shape.batch, 1);
    for (const ConvShape &shape : conv_list("conv_training", "fwd", 8)) EXPECT_EQ(shape.batch, 8);
}

TEST(ShapeLists, NamesSayWhatIsUnusual) {
    const std::string header = "n,c,h,w,k,kh,kw,pad_h,pad_w,stride_h,stride_w,dil_h,dil_w,groups\n";
    const auto name = [&](const char *line) {
        return parse_conv_shapes(header + line).front().name.empty()
                   ? derived_name(parse_conv_shapes(header + line).front())
                   : "";
    };
    EXPECT_EQ(name("1,64,56,48,128,3,3,1,1,1,1,1,1,1"), "56x48_64-128_3x3");
    EXPECT_EQ(name("1,64,56,56,64,5,5,2,2,2,2,1,1,64"), "56x56_64-64_5x5_s2_depthwise");
    EXPECT_EQ(name("4,64,56,56,64,3,1,4,0,1,1,4,1,2"), "n4_56x56_64-64_3x1_d4x1_g2");
    EXPECT_EQ(name("1,8,9,9,8,3,3,0,0,1,1,1,1,1"), "9x9_8-8_3x3_p0x0");
}

// The rows of the list, each in three kinds; "1x131072_k4_f16" has its own type.
TEST(ShapeLists, TopKNamesAreRowsColumnsAndK) {
    const Family family = topk_family();
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
        EXPECT_EQ(info.type,
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
    EXPECT_THROW(conv_list("resnet51", "fwd"), InvalidArgument);
    EXPECT_THROW(conv_list("missing.csv", "fwd"), InvalidArgument);
    EXPECT_THROW(parse_conv_shapes(""), InvalidArgument);
    EXPECT_THROW(parse_conv_shapes("n,c\n1,x\n"), InvalidArgument);
    EXPECT_THROW(parse_conv_shapes("n,c\n1\n"), InvalidArgument);
    EXPECT_THROW(parse_conv_shapes("n,colour\n1,2\n"), InvalidArgument);
}

}  // namespace

}  // namespace hk::bench
