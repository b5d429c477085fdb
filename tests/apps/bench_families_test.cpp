// The families of the program bench: their types, their lists, and what they are compared with.

#include <cstdlib>
#include <map>

#include "hk/data_type.h"
#include "tests/apps/bench_program.h"

namespace hk::bench {

namespace {

struct QuantizedTypes {
    const char *flags, *type, *output_type;
};

class QuantizedBench : public testing::TestWithParam<QuantizedTypes> {};

// Each case was checked against exact sums: bench's status would be 1.
TEST_P(QuantizedBench, MakesEveryOutputType) {
    for (const std::string layout : {"nhwc", "nchw"}) {
        const json results = smoke(std::string("--layout ") + layout + " " + GetParam().flags);
        ASSERT_EQ(results.size(), 4u);
        for (const json &r : results) {
            SCOPED_TRACE(r.dump());
            EXPECT_EQ(r.at("family"), "quantized_conv2d");
            EXPECT_EQ(r.at("type"), GetParam().type);
            EXPECT_EQ(r.at("output_type"), GetParam().output_type);
            EXPECT_EQ(r.at("unit"), r.at("type") == "f32" ? "GFLOP/s" : "GOP/s");
            EXPECT_EQ(r.at("kernel").get<std::string>().rfind("quantized_conv2d_", 0), 0u);
            EXPECT_TRUE(r.at("failure").is_null());
            EXPECT_GT(r.at("ns").get<double>(), 0);
            EXPECT_LT(r.at("peak_fraction").get<double>(), 2);
            // Our own f32 convolution needs no other library.
            if (r.at("type") == "f32" && r.at("output_type") == "f32") {
                EXPECT_GT(r.at("peers").at("hk f32").get<double>(), 0);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Bench, QuantizedBench,
    testing::Values(QuantizedTypes{"--type u8", "u8", "u8"},
                    QuantizedTypes{"--type s8", "s8", "s8"},
                    QuantizedTypes{"--type u8 --output-type f32", "u8", "f32"},
                    QuantizedTypes{"--type s8 --output-type s32", "s8", "s32"},
                    QuantizedTypes{"--family quantized_conv2d --type f32", "f32", "f32"},
                    QuantizedTypes{"--family quantized_conv2d --type f32 --output-type s8", "f32",
                                   "s8"}),
    [](const auto &info) {
        return std::string(info.param.type) + "_to_" + info.param.output_type;
    });

json topk_smoke(const std::string &flags) { return smoke("--family topk " + flags); }

// Each case was checked against a partial sort: bench's status would be 1.
TEST(Bench, TopKTakesEveryType) {
    for (const std::string type :
         {"f32", "f16", "bf16", "f64", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
        const json results = topk_smoke("--type " + type);
        ASSERT_EQ(results.size(), 9u);
        std::map<std::string, int> kinds;
        for (const json &r : results) {
            SCOPED_TRACE(r.dump());
            EXPECT_EQ(r.at("family"), "topk");
            EXPECT_EQ(r.at("type"), type);
            EXPECT_EQ(r.at("layout"), "any");
            EXPECT_EQ(r.at("unit"), "GB/s");
            EXPECT_TRUE(r.at("peak").is_null());
            EXPECT_TRUE(r.at("peak_fraction").is_null());
            EXPECT_EQ(r.at("kernel").get<std::string>().rfind("topk_", 0), 0u);
            EXPECT_GT(r.at("ns").get<double>(), 0);
            EXPECT_GT(r.at("rate").get<double>(), 0);
            EXPECT_GT(r.at("other_layouts").at("one pass").get<double>(), 0);
            const bool both = r.at("kind") == "both";
            EXPECT_EQ(r.at("other_layouts").contains("hk both"), !both);
            // ONNX Runtime makes both: it counts where both are asked for.
            EXPECT_FALSE(r.at("peers").contains("hk both"));
            if (!both) {
                EXPECT_TRUE(r.at("ratio").is_null());
            }
            ++kinds[r.at("kind")];
        }
        EXPECT_EQ(kinds, (std::map<std::string, int>{{"both", 3}, {"values", 3}, {"indices", 3}}));
    }
}

TEST(Bench, TopKRowsAndBatch) {
    const json more = topk_smoke("--no-peers --batch 2 --filter k300");
    ASSERT_EQ(more.size(), 3u);
    EXPECT_EQ(more.at(0).at("case"), "2x300_k300");
    EXPECT_EQ(more.at(0).at("shapes").at("input"), json({2, 300}));
    const json both = topk_smoke("--no-peers --row any_both");
    ASSERT_EQ(both.size(), 3u) << "values and indices alone are of other rows";
    for (const json &r : both) EXPECT_EQ(r.at("row"), "any_both");
}

class TensorProductBench : public testing::TestWithParam<const char *> {};

// Each case was checked against exact sums: bench's status would be 1.
TEST_P(TensorProductBench, TakesEveryType) {
    const std::string family = GetParam();
    for (const std::string type : {"f32", "f16", "bf16", "f64"}) {
        const json results = smoke("--family " + family + " --type " + type);
        ASSERT_EQ(results.size(), 2u);
        EXPECT_EQ(results.at(0).at("case"), "3x3x3_16-16");
        EXPECT_EQ(results.at(0).at("kind"), "submanifold");
        EXPECT_EQ(results.at(1).at("kind"), "strided");
        for (const json &r : results) {
            SCOPED_TRACE(r.dump());
            EXPECT_EQ(r.at("family"), family);
            EXPECT_EQ(r.at("type"), type);
            EXPECT_EQ(r.at("unit"), "GFLOP/s");
            EXPECT_EQ(r.at("peak").is_null(), type == "f64");
            EXPECT_EQ(r.at("kernel").get<std::string>().rfind("tensor_product_", 0), 0u);
            EXPECT_EQ(r.at("max_error"), 0);
            EXPECT_GT(r.at("rate").get<double>(), 0);
            EXPECT_GT(r.at("other_layouts").at("hk unchecked").get<double>(), 0);
            EXPECT_GT(r.at("other_layouts").at("hk kept maps").get<double>(), 0);
            // NumPy is in requirements.txt; it has no bf16.
            EXPECT_EQ(r.at("peers").contains("NumPy"), type != "bf16");
            EXPECT_EQ(r.at("peers").contains("NumPy blocked"), type != "bf16");
        }
    }
    for (const json &r : smoke("--family " + family + " --no-peers --row any"))
        EXPECT_EQ(r.at("row"), "any");
}

INSTANTIATE_TEST_SUITE_P(Bench, TensorProductBench,
                         testing::Values("tensor_product", "tensor_product_backward_data",
                                         "tensor_product_backward_weight"),
                         [](const auto &info) { return std::string(info.param); });

TEST(Bench, KernelMapsAreComparedWithNumPy) {
    const json results = smoke("--family kernel_map");
    ASSERT_EQ(results.size(), 4u);
    for (const json &r : results) {
        SCOPED_TRACE(r.dump());
        EXPECT_EQ(r.at("family"), "kernel_map");
        EXPECT_EQ(r.at("unit"), "Mvoxel/s");
        EXPECT_EQ(r.at("kernel"), "");
        EXPECT_EQ(r.at("shapes").at("coordinates").at(1), 4);
        EXPECT_DOUBLE_EQ(
            r.at("rate").get<double>(),
            1e3 * r.at("shapes").at("coordinates").at(0).get<double>() / r.at("ns").get<double>());
        EXPECT_DOUBLE_EQ(r.at("ratio").get<double>(),
                         r.at("peers").at("NumPy").get<double>() / r.at("ns").get<double>());
    }
    EXPECT_EQ(results.at(0).at("case"), "3x3x3");
    EXPECT_EQ(results.at(1).at("case"), "2x2x2_s2");
    EXPECT_EQ(results.at(1).at("kind"), "strided");
}

// What every result of a family has that is held against memcpy.
void expect_bytes(const json &r, const std::string &family, const std::string &type) {
    SCOPED_TRACE(r.dump());
    EXPECT_EQ(r.at("family"), family);
    EXPECT_EQ(r.at("type"), type);
    EXPECT_EQ(r.at("unit"), "GB/s");
    EXPECT_EQ(r.at("kernel").get<std::string>().rfind(family + "_", 0), 0u);
    EXPECT_TRUE(r.at("failure").is_null());
    EXPECT_GT(r.at("rate").get<double>(), 0);
    EXPECT_GT(r.at("other_layouts").at("memcpy").get<double>(), 0);
}

class ElementwiseBench : public testing::TestWithParam<const char *> {};

// Each case was checked against its formula in double: bench's status would be 1.
TEST_P(ElementwiseBench, TakesEveryType) {
    const std::string family = GetParam();
    const size_t kinds = family == "sgd" ? 2 : 3;
    for (const std::string type : {"f32", "f16", "bf16"}) {
        const json results = smoke("--family " + family + " --type " + type);
        ASSERT_EQ(results.size(), 2 * kinds);
        for (const json &r : results) expect_bytes(r, family, type);
    }
    const std::string any = family == "sgd" ? "momentum" : "any";
    for (const json &r : smoke("--family " + family + " --no-peers --row " + any))
        EXPECT_EQ(r.at("row"), any);
}

INSTANTIATE_TEST_SUITE_P(Bench, ElementwiseBench,
                         testing::Values("activate", "activate_backward", "sgd"),
                         [](const auto &info) { return std::string(info.param); });

class PoolBench : public testing::TestWithParam<const char *> {};

// Each case was checked against windows in double: bench's status would be 1.
TEST_P(PoolBench, TakesEveryTypeAndLayout) {
    const std::string family = GetParam();
    for (const std::string layout : {"nhwc", "nchw"}) {
        for (const std::string type : {"f32", "f16", "bf16"}) {
            const json results =
                smoke("--family " + family + " --layout " + layout + " --type " + type);
            ASSERT_EQ(results.size(), 4u);
            for (const json &r : results) {
                expect_bytes(r, family, type);
                EXPECT_EQ(r.at("layout"), layout);
            }
            EXPECT_EQ(results.at(0).at("case"), "max_n2_9x7_5_3x3_s2");
            EXPECT_EQ(results.at(0).at("shapes").at("output"),
                      layout == "nhwc" ? json({2, 5, 4, 5}) : json({2, 5, 5, 4}));
            // Of the maximum's gradient four tensors, of the mean's two.
            const double elements = family == "pool2d" ? 630 + 200 : 2 * (630 + 200);
            EXPECT_NEAR(
                results.at(0).at("rate").get<double>() * results.at(0).at("ns").get<double>(),
                elements * (type == "f32" ? 4 : 2), 1e-6 * elements);
        }
    }
    const json averages = smoke("--family " + family + " --no-peers --row average --batch 2");
    ASSERT_EQ(averages.size(), 2u) << "maxima are of other rows";
    for (const json &r : averages) {
        EXPECT_EQ(r.at("row"), "average");
        EXPECT_EQ(r.at("kind"), "average");
        EXPECT_EQ(r.at("shapes").at("input").at(0), 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Bench, PoolBench, testing::Values("pool2d", "pool2d_backward"),
                         [](const auto &info) { return std::string(info.param); });

// Each case was checked against sums in double: bench's status would be 1.
TEST(Bench, SoftmaxCrossEntropyTakesEveryType) {
    const std::string family = "softmax_cross_entropy";
    for (const std::string type : {"f32", "f16", "bf16"}) {
        const json results = smoke("--family " + family + " --type " + type);
        ASSERT_EQ(results.size(), 6u);
        std::map<std::string, int> kinds;
        for (const json &r : results) {
            expect_bytes(r, family, type);
            EXPECT_EQ(r.at("layout"), "any");
            ++kinds[r.at("kind")];
        }
        EXPECT_EQ(kinds, (std::map<std::string, int>{{"both", 2}, {"in_place", 2}, {"loss", 2}}));
    }
    const json more =
        smoke("--family " + family + " --no-peers --row rows --batch 4 --filter loss");
    ASSERT_EQ(more.size(), 2u);
    for (const json &r : more) {
        EXPECT_EQ(r.at("row"), "rows");
        EXPECT_EQ(r.at("shapes").at("logits").at(0), 4);
    }
}

TEST(Bench, UnknownRowsOfPoolingAndSoftmaxAreNamed) {
    for (const std::string family : {"pool2d", "pool2d_backward", "softmax_cross_entropy"}) {
        const Outcome outcome = run_program(bench + "--family " + family + " --row max_9x9");
        EXPECT_EQ(outcome.status, 2) << outcome.output;
        EXPECT_NE(outcome.output.find(family + " has no row \"max_9x9\""), std::string::npos)
            << outcome.output;
    }
}

// Of what the cases run on, their names say nothing.
TEST(Bench, CloudsAreDescribed) {
    const Outcome outcome = run_program(
        bench + "--family tensor_product --list smoke --no-peers --seconds 0.01 --filter 3x3x3");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("pairs over 27 offsets"), std::string::npos) << outcome.output;
}

}  // namespace

}  // namespace hk::bench
