// The program explain: its flags, its output, and the shared-memory budget of the shape case.

#include <map>

#include "hk/conv2d_backward.h"
#include "hk/quantized_conv2d.h"
#include "tests/apps/explain_program.h"

namespace hk::test {

namespace {

std::string shape_case(const std::string &layout) {
    const bool nhwc = layout == "nhwc";
    return "conv2d --layout " + layout + " --type f32 --input " +
           (nhwc ? "1x512x512x64 --weight 256x3x3x64" : "1x64x512x512 --weight 256x64x3x3") +
           " --stride 1 --padding 1 --dilation 1 --groups 1";
}

// The same of a quantised weight, whose dequantised filter alone has 589824 bytes.
std::string quantized_shape_case(const std::string &layout) {
    return "quantized_" + shape_case(layout) + " --output-type f32";
}

// The grouped input gradient of which a flipped filter alone has 589824 bytes.
std::string gradient_case(const std::string &layout) {
    const bool nhwc = layout == "nhwc";
    return "conv2d_backward_data --layout " + layout + " --type f32 --input " +
           (nhwc ? "128x24x48x384 --weight 384x1x3x128" : "128x384x24x48 --weight 384x128x1x3") +
           " --stride 1 --padding 0x1 --dilation 1 --groups 3";
}

struct ShapeCaseOf {
    std::string name, layout;
    std::string (*flags)(const std::string &layout);
    std::span<const KernelInfo> (*kernels)();
};

void PrintTo(const ShapeCaseOf &of, std::ostream *out) { *out << of.name; }

class ShapeCase : public testing::TestWithParam<ShapeCaseOf> {
protected:
    std::string flags() const { return GetParam().flags(GetParam().layout); }
};

TEST_P(ShapeCase, GpuRowsUseAtMost48KiBAndNoStack) {
    const json choices = explain_json(flags());
    ASSERT_TRUE(choices.is_array());
    std::set<std::string> targets;
    for (const json &choice : choices) {
        const std::string target = choice.at("target");
        SCOPED_TRACE(target + ": " + choice.dump());
        targets.insert(target);
        EXPECT_TRUE(choice.at("row").is_string());
        EXPECT_GE(choice.at("shared_bytes"), 0);
        EXPECT_LE(choice.at("shared_bytes"), 48 * 1024);
        EXPECT_TRUE(choice.contains("registers"));
        if (choice.at("stack_bytes").is_number()) {
            EXPECT_EQ(choice.at("stack_bytes"), 0);
        }
        ASSERT_TRUE(choice.at("rejected").is_array());
        for (const json &rejected : choice.at("rejected")) {
            EXPECT_TRUE(rejected.at("row").is_string());
            EXPECT_FALSE(rejected.at("reason").get<std::string>().empty());
        }
    }
    EXPECT_EQ(targets, built_targets());
}

TEST_P(ShapeCase, EveryRowIsChosenOrRejected) {
    const Layout layout = layout_of(GetParam().layout);
    for (const json &choice : explain_json(flags())) {
        std::multiset<std::string> told{choice.at("row")}, rows;
        for (const json &rejected : choice.at("rejected")) told.insert(rejected.at("row"));
        for (const KernelInfo &kernel : GetParam().kernels()) {
            const bool asked = kernel.type == DataType::f32 && kernel.layout == layout;
            if (asked && choice.at("target") == name_of(kernel.device)) rows.insert(kernel.row);
        }
        EXPECT_EQ(told, rows) << choice.dump();
    }
}

TEST_P(ShapeCase, GridComesFromTheLaunch) {
    for (const json &choice : explain_json(flags())) {
        if (choice.at("target") != "cuda") continue;
        SCOPED_TRACE(choice.dump());
        ASSERT_TRUE(choice.at("grid").is_array());
        const json &launch = choice.at("launches").at(0);
        int64_t blocks = 1, threads = 1;
        for (int extent : launch.at("grid")) blocks *= extent;
        for (int extent : launch.at("block")) threads *= extent;
        EXPECT_GT(blocks, 1);
        EXPECT_LE(launch.at("dynamic_shared_bytes"), choice.at("shared_bytes"));
        if (choice.at("threads").is_number()) {
            EXPECT_EQ(choice.at("threads"), threads);
        }
    }
}

// Every rung of the ladder is a row of the table that fits or does not, and the first that fits is
// taken, whatever the limit is.
TEST_P(ShapeCase, LadderEndsInARowThatFits) {
    for (const int limit : {0, 4224, 16384, 49152, 232448}) {
        const std::string limited = " --shared-limit " + std::to_string(limit);
        for (const json &choice : explain_json(flags() + limited)) {
            SCOPED_TRACE(limited + ": " + choice.dump());
            const json &ladder = choice.at("ladder");
            if (choice.at("target") == "cpu") {
                EXPECT_TRUE(ladder.empty());
                EXPECT_TRUE(choice.at("rung").is_null());
                continue;
            }
            EXPECT_LE(choice.at("limits").at("shared_bytes_opt_in"), limit);
            ASSERT_TRUE(choice.at("rung").is_number());
            const size_t rung = choice.at("rung");
            EXPECT_EQ(ladder.at(rung).at("row"), choice.at("row"));
            for (size_t i = 0; i < ladder.size(); i++) {
                const bool small =
                    ladder[i].at("shared_bytes") <= choice.at("limits").at("shared_bytes_opt_in");
                EXPECT_LE(ladder[i].at("fits"), small);
                EXPECT_EQ(ladder[i].at("fits"), ladder[i].at("shortage").is_null());
                if (i < rung) {
                    EXPECT_FALSE(ladder[i].at("fits"));
                }
            }
            EXPECT_TRUE(ladder[rung].at("fits"));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Families, ShapeCase,
    testing::Values(ShapeCaseOf{"conv2d_nhwc", "nhwc", shape_case, conv2d_kernels},
                    ShapeCaseOf{"conv2d_nchw", "nchw", shape_case, conv2d_kernels},
                    ShapeCaseOf{"quantized_conv2d_nhwc", "nhwc", quantized_shape_case,
                                quantized_conv2d_kernels},
                    ShapeCaseOf{"quantized_conv2d_nchw", "nchw", quantized_shape_case,
                                quantized_conv2d_kernels},
                    ShapeCaseOf{"conv2d_backward_data_nhwc", "nhwc", gradient_case,
                                conv2d_backward_data_kernels},
                    ShapeCaseOf{"conv2d_backward_data_nchw", "nchw", gradient_case,
                                conv2d_backward_data_kernels}),
    [](const auto &info) { return info.param.name; });

TEST(Explain, TextNamesEveryTarget) {
    const Outcome outcome = run_program(explain + shape_case("nchw"));
    EXPECT_EQ(outcome.status, 0);
    for (const std::string &target : built_targets()) {
        EXPECT_NE(outcome.output.find("\n" + target + " ("), std::string::npos) << outcome.output;
    }
}

// Both ways to write the graph stay within the same budget.
TEST(Explain, ShowsEitherFormulation) {
    std::map<std::string, std::vector<int64_t>> shared;
    for (const std::string formulation : {"flip_expand", "expand_flip"}) {
        const std::string flag = " --formulation " + formulation;
        for (const json &choice : explain_json(gradient_case("nhwc") + flag)) {
            SCOPED_TRACE(flag + ": " + choice.dump());
            const std::string algorithm = choice.at("algorithm");
            EXPECT_TRUE(algorithm.starts_with(formulation)) << algorithm;
            EXPECT_LE(choice.at("shared_bytes"), 48 * 1024);
            shared[formulation].push_back(choice.at("shared_bytes"));
        }
        const Outcome text = run_program(explain + gradient_case("nhwc") + flag);
        EXPECT_NE(text.output.find("written as " + formulation), std::string::npos) << text.output;
    }
    EXPECT_EQ(shared["flip_expand"], shared["expand_flip"]);
    EXPECT_EQ(shared["flip_expand"].size(), built_targets().size());
}

TEST(Explain, TextShowsTheLadder) {
    const Outcome outcome = run_program(explain + shape_case("nhwc") + " --shared-limit 16384");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("3x3: shared 22784, registers"), std::string::npos);
    EXPECT_NE(outcome.output.find(
                  "too large: needs 22784 bytes of shared memory, the device has 16384\n"),
              std::string::npos)
        << outcome.output;
    EXPECT_NE(outcome.output.find("fits, taken\n"), std::string::npos) << outcome.output;
    const Outcome variable = run_program("HK_SHARED_LIMIT=16384 " + explain + shape_case("nhwc"));
    EXPECT_EQ(variable.output, outcome.output);
}

TEST(Explain, PaddingAndStrideMayBeWrittenInSeveralWays) {
    const std::string shapes = "conv2d --input 1x20x24x16 --weight 8x3x3x16 ";
    const json one = explain_json(shapes + "--padding 1 --stride 2");
    EXPECT_EQ(one, explain_json(shapes + "--padding 1x1 --stride 2x2"));
    EXPECT_EQ(one, explain_json(shapes + "--padding 1,1,1,1 --stride 2"));
    const Outcome outcome = run_program(explain + shapes + "--padding 0,2,1,0 --dilation 2x1");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("output [1, 18, 23, 8]"), std::string::npos) << outcome.output;
}

struct Mistake {
    const char *name, *arguments, *told;
};

class BadFlags : public testing::TestWithParam<Mistake> {};

TEST_P(BadFlags, AreRefusedWithTheirValue) {
    const Outcome outcome = run_program(explain + GetParam().arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(GetParam().told), std::string::npos) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(
    Explain, BadFlags,
    testing::Values(
        Mistake{"NoVerb", "", "subcommand"}, Mistake{"UnknownVerb", "conv9d", "subcommand"},
        Mistake{"NoInput", "conv2d --weight 8x3x3x16", "--input"},
        Mistake{"ShortInput", "conv2d --input 8x8x16 --weight 8x3x3x16", "8x8x16"},
        Mistake{"Formulation",
                "conv2d_backward_data --input 1x8x8x16 --weight 8x3x3x16 --formulation flipped",
                "flipped"},
        Mistake{"NoNumber", "conv2d --input 1x8xax16 --weight 8x3x3x16", "\"a\""},
        Mistake{"Negative", "conv2d --input 1x8x-8x16 --weight 8x3x3x16", "-8"},
        Mistake{"Trailing", "conv2d --input 1x8x8x16x --weight 8x3x3x16", "1x8x8x16x"},
        Mistake{"Padding", "conv2d --input 1x8x8x16 --weight 8x3x3x16 --padding 1,2", "1,2"},
        Mistake{"Stride", "conv2d --input 1x8x8x16 --weight 8x3x3x16 --stride 1x2x3", "1x2x3"},
        Mistake{"Limit", "conv2d --input 1x8x8x16 --weight 8x3x3x16 --shared-limit -5", "-5"},
        Mistake{"LimitText", "conv2d --input 1x8x8x16 --weight 8x3x3x16 --shared-limit 5k", "5k"},
        Mistake{"OutputType",
                "quantized_conv2d --input 1x8x8x16 --weight 8x3x3x16 --output-type f16", "f16"},
        Mistake{"ElementwiseElements", "activate --input 4x5 --elements near", "near"},
        Mistake{"ElementwiseShape", "sgd --input 4y5", "4y5"},
        Mistake{"Pooling", "pool2d --input 1x4x4x5 --pooling min", "min"},
        Mistake{"PoolingShape", "pool2d --input 4x4x5", "4x4x5"},
        Mistake{"PoolingKernel", "pool2d_backward --input 1x4x4x5 --kernel 7", "7"},
        Mistake{"PoolingNoInput", "pool2d_backward --kernel 2", "--input"},
        Mistake{"SoftmaxShape", "softmax_cross_entropy --input 4x5x6", "4x5x6"},
        Mistake{"SoftmaxClasses", "softmax_cross_entropy --input 4x0", "no classes"},
        Mistake{"SoftmaxType", "softmax_cross_entropy --input 4x5 --type f8", "f8"},
        Mistake{"TopKNoK", "topk --input 4x5", "--k"},
        Mistake{"TopKLargeK", "topk --input 4x5 --k 6", "k is 6"},
        Mistake{"TopKNegativeK", "topk --input 4x5 --k -1", "-1"},
        Mistake{"TopKAxis", "topk --input 4x5 --k 1 --axis 2", "axis is 2"},
        Mistake{"TopKOrder", "topk --input 4x5 --k 1 --order best", "best"},
        Mistake{"TopKOutputs", "topk --input 4x5 --k 1 --outputs none", "none"},
        Mistake{"TopKType", "topk --input 4x5 --k 1 --type f8", "f8"},
        Mistake{"SparseNoRows", "tensor_product --pairs 4 --c 3 --m 3", "--rows"},
        Mistake{"SparseMode", "tensor_product --rows 4 --pairs 4 --c 3 --m 3 --mode fast", "fast"},
        Mistake{"SparseGroups", "tensor_product --rows 4 --pairs 4 --c 3 --m 3 --groups 2",
                "3 channels, which 2 groups"},
        Mistake{"SparseNoGroups", "tensor_product --rows 4 --pairs 4 --c 3 --m 3 --groups 0",
                "0 groups"},
        Mistake{"SparsePairs", "tensor_product --rows 4 --pairs -7 --c 3 --m 3", "-7"},
        Mistake{"SparseType", "tensor_product --rows 4 --pairs 4 --c 3 --m 3 --type s8", "s8"},
        Mistake{"Type", "conv2d --input 1x8x8x16 --weight 8x3x3x16 --type f8", "f8"},
        Mistake{"Layout", "conv2d --input 1x8x8x16 --weight 8x3x3x16 --layout hwc", "hwc"},
        Mistake{"Channels", "conv2d --input 1x8x8x16 --weight 8x3x3x15", "15"},
        Mistake{"Groups", "conv2d --input 1x8x8x16 --weight 8x3x3x5 --groups 3", "3"}),
    [](const auto &info) { return info.param.name; });

}  // namespace

}  // namespace hk::test
