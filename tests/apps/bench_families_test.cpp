// The families of the program bench: their types, their lists, and what they are compared with.

#include <algorithm>
#include <map>

#include "family.h"
#include "tests/apps/bench_program.h"

namespace hk::bench {

namespace {

std::string flags_of(const Family &family, const Settings &s) {
    std::string flags = "--family " + family.name + " --type " + std::string(name_of(s.type));
    if (family.output_types) flags += " --output-type " + std::string(name_of(s.output_type));
    if (s.layout != Layout::any) flags += " --layout " + std::string(name_of(s.layout));
    return flags;
}

// Each case was checked against the reference: bench's status would be 1.
void expect_smoke(const Family &family, const Settings &settings) {
    const std::string flags = flags_of(family, settings);
    const json results = smoke(flags);
    ASSERT_FALSE(results.empty());
    for (const json &r : results) {
        SCOPED_TRACE(flags + "\n" + r.dump());
        EXPECT_EQ(r.at("family"), family.name);
        EXPECT_EQ(r.at("type"), name_of(settings.type));
        EXPECT_EQ(r.at("output_type"), name_of(settings.output_type));
        EXPECT_EQ(r.at("layout"), name_of(settings.layout));
        EXPECT_EQ(r.at("unit"), family.unit(settings).name);
        EXPECT_TRUE(r.at("failure").is_null());
        EXPECT_GT(r.at("ns").get<double>(), 0);
        EXPECT_GT(r.at("rate").get<double>(), 0);
        EXPECT_EQ(r.at("kernel") != "", family.has_rows);
        EXPECT_EQ(std::ranges::count_if(
                      family.rows(settings),
                      [&](const KernelInfo *row) { return r.at("kernel") == row->name; }),
                  family.has_rows);
        if (r.at("unit") == "GB/s" && family.name != "topk") {
            EXPECT_GT(r.at("other_layouts").at("memcpy").get<double>(), 0);
        }
        if (!r.at("peak").is_null()) {
            EXPECT_LT(r.at("peak_fraction").get<double>(), 2);
        }
    }
}

class EveryFamily : public testing::TestWithParam<std::string> {};

TEST_P(EveryFamily, TakesItsTypesAndLayouts) {
    const Family family = family_named(GetParam());
    for (const Settings &settings : family.settings()) expect_smoke(family, settings);
}

TEST_P(EveryFamily, RunsTheRowThatIsNamed) {
    const Family family = family_named(GetParam());
    const std::string flags = "--family " + family.name + " --no-peers --row ";
    const Outcome unknown = run_program(bench + flags + "9x9_9");
    EXPECT_EQ(unknown.status, 2) << unknown.output;
    EXPECT_NE(unknown.output.find(family.name + " has no row"), std::string::npos)
        << unknown.output;
    if (!family.has_rows) return;
    const std::string last = family.rows(family.settings().front()).back()->row;
    for (const json &r : smoke(flags + last)) EXPECT_EQ(r.at("row"), last);
}

std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const Family &family : families()) result.push_back(family.name);
    return result;
}

INSTANTIATE_TEST_SUITE_P(Bench, EveryFamily, testing::ValuesIn(names()),
                         [](const auto &info) { return info.param; });

// How many results of a family's smoke there are of each kind.
std::map<std::string, int> kinds_of(const json &results) {
    std::map<std::string, int> kinds;
    for (const json &r : results) ++kinds[r.at("kind")];
    return kinds;
}

TEST(Bench, LinesAreRunInEveryVariant) {
    using Kinds = std::map<std::string, int>;
    EXPECT_EQ(kinds_of(smoke("--family topk")),
              (Kinds{{"both", 3}, {"values", 3}, {"indices", 3}}));
    EXPECT_EQ(kinds_of(smoke("--family softmax_cross_entropy")),
              (Kinds{{"both", 2}, {"in_place", 2}, {"loss", 2}}));
    EXPECT_EQ(kinds_of(smoke("--family activate")), (Kinds{{"relu", 2}, {"silu", 2}, {"gelu", 2}}));
    EXPECT_EQ(kinds_of(smoke("--family sgd")), (Kinds{{"momentum", 2}, {"plain", 2}}));
    EXPECT_EQ(kinds_of(smoke("--family tensor_product")),
              (Kinds{{"submanifold", 1}, {"strided", 1}}));
}

TEST(Bench, TopKComparesWithBothAndOnePass) {
    for (const json &r : smoke("--family topk")) {
        EXPECT_GT(r.at("other_layouts").at("one pass").get<double>(), 0);
        const bool both = r.at("kind") == "both";
        EXPECT_EQ(r.at("other_layouts").contains("hk both"), !both);
        // ONNX Runtime makes both: it counts where both are asked for.
        EXPECT_FALSE(r.at("peers").contains("hk both"));
        if (!both) {
            EXPECT_TRUE(r.at("ratio").is_null());
        }
    }
}

TEST(Bench, BatchIsTheFirstExtent) {
    const json rows = smoke("--family topk --no-peers --batch 2 --filter k300");
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows.at(0).at("case"), "2x300_k300");
    EXPECT_EQ(rows.at(0).at("shapes").at("input"), json({2, 300}));
    for (const json &r : smoke("--family softmax_cross_entropy --no-peers --batch 4"))
        EXPECT_EQ(r.at("shapes").at("logits").at(0), 4);
    for (const json &r : smoke("--family pool2d --no-peers --batch 2 --row average"))
        EXPECT_EQ(r.at("shapes").at("input").at(0), 2);
}

TEST(Bench, SparseFamiliesAreComparedWithNumPy) {
    for (const std::string family :
         {"tensor_product", "tensor_product_backward_data", "tensor_product_backward_weight"}) {
        for (const std::string type : {"f32", "bf16", "f64"}) {
            for (const json &r : smoke("--family " + family + " --type " + type)) {
                SCOPED_TRACE(r.dump());
                EXPECT_EQ(r.at("peak").is_null(), type == "f64");
                EXPECT_EQ(r.at("max_error"), 0);
                EXPECT_GT(r.at("other_layouts").at("hk unchecked").get<double>(), 0);
                EXPECT_GT(r.at("other_layouts").at("hk kept maps").get<double>(), 0);
                // NumPy is in requirements.txt; it has no bf16.
                EXPECT_EQ(r.at("peers").contains("NumPy"), type != "bf16");
                EXPECT_EQ(r.at("peers").contains("NumPy blocked"), type != "bf16");
            }
        }
    }
    const json maps = smoke("--family kernel_map");
    ASSERT_EQ(maps.size(), 4u);
    for (const json &r : maps) {
        const double voxels = r.at("shapes").at("coordinates").at(0), ns = r.at("ns");
        EXPECT_DOUBLE_EQ(r.at("rate").get<double>(), 1e3 * voxels / ns);
        EXPECT_DOUBLE_EQ(r.at("ratio").get<double>(), r.at("peers").at("NumPy").get<double>() / ns);
    }
    EXPECT_EQ(maps.at(1).at("case"), "2x2x2_s2");
}

TEST(Bench, GradientsOfConvolutionsAreExactInF32) {
    for (const std::string made : {"input", "weight"}) {
        const std::string family =
            std::string("conv2d_backward_") + (made == "input" ? "data" : "weight");
        for (const json &r : smoke("--family " + family)) {
            EXPECT_EQ(r.at("max_error"), 0);
            EXPECT_TRUE(r.at("shapes").contains("output_gradient"));
            EXPECT_TRUE(r.at("shapes").contains(made + "_gradient"));
            EXPECT_TRUE(r.at("other_layouts").empty());  // both of oneDNN's count
        }
    }
}

TEST(Bench, QuantisedWeightsAreComparedWithOurOwnConvolution) {
    for (const json &r : smoke("--family quantized_conv2d --type f32"))
        EXPECT_GT(r.at("peers").at("hk f32").get<double>(), 0);
}

// Of the maximum's gradient four tensors, of the mean's two.
TEST(Bench, BytesOfPoolingAreThoseOfTheCall) {
    for (const std::string family : {"pool2d", "pool2d_backward"}) {
        const json r = smoke("--family " + family + " --layout nchw").at(0);
        EXPECT_EQ(r.at("case"), "max_n2_9x7_5_3x3_s2");
        EXPECT_EQ(r.at("shapes").at("output"), json({2, 5, 5, 4}));
        const double elements = family == "pool2d" ? 630 + 200 : 2 * (630 + 200);
        EXPECT_NEAR(r.at("rate").get<double>() * r.at("ns").get<double>(), elements * 4,
                    1e-6 * elements);
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
