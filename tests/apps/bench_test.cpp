// The program bench: its flags, and what it writes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "hk/conv2d.h"
#include "hk/error.h"
#include "tests/apps/bench_program.h"

namespace hk::bench {

namespace {

TEST(Bench, WritesOneObjectACase) {
    const json results = smoke("");
    ASSERT_TRUE(results.is_array());
    EXPECT_EQ(results.size(), 4u);
    for (const json &r : results) {
        SCOPED_TRACE(r.dump());
        EXPECT_EQ(r.at("family"), "conv2d");
        EXPECT_EQ(r.at("list"), "smoke");
        EXPECT_FALSE(r.at("case").get<std::string>().empty());
        EXPECT_FALSE(r.at("kind").get<std::string>().empty());
        EXPECT_EQ(r.at("type"), "f32");
        EXPECT_EQ(r.at("output_type"), "f32");
        EXPECT_EQ(r.at("unit"), "GFLOP/s");
        EXPECT_EQ(r.at("layout"), "nhwc");
        EXPECT_EQ(r.at("device"), "cpu");
        EXPECT_EQ(r.at("threads"), 1);
        EXPECT_NE(r.at("abilities").get<std::string>().find(" FMA a cycle at "), std::string::npos);
        EXPECT_EQ(r.at("kernel").get<std::string>().rfind("conv2d_", 0), 0u);
        EXPECT_GT(r.at("ns").get<double>(), 0);
        EXPECT_GT(r.at("peak_fraction").get<double>(), 0);
        EXPECT_LT(r.at("peak_fraction").get<double>(), 2);
        EXPECT_GE(r.at("max_error").get<double>(), 0);
        EXPECT_LT(r.at("max_error").get<double>(), 1e-5);
        EXPECT_TRUE(r.at("failure").is_null());
        double fastest = 0;
        for (const auto &[library, ns] : r.at("peers").items()) {
            EXPECT_GT(ns.get<double>(), 0) << library;
            if (fastest == 0 || ns < fastest) fastest = ns;
        }
        if (fastest == 0) {
            EXPECT_TRUE(r.at("ratio").is_null());
        } else {
            EXPECT_DOUBLE_EQ(r.at("ratio").get<double>(), fastest / r.at("ns").get<double>());
        }
    }
}

TEST(Bench, AllListsAreSummedUpEachShapeOnce) {
    const std::string path = own_file("more.csv");
    std::ofstream(path) << "input,weight,groups,passes\n1x8x8x16,32x1x1x16,1,bwd_data|bwd_weight\n"
                           "1x7x7x8,8x5x5x1,8,bwd_weight\n1x7x7x4,4x1x1x4,1,bwd_data\n";
    const Outcome outcome =
        run_program(bench + "--family conv2d_backward_weight --no-peers --seconds 0.01 " +
                    "--list 'smoke," + path + "'");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("all lists: 5 cases"), std::string::npos) << outcome.output;
    const size_t all = outcome.output.find("all lists");
    EXPECT_NE(outcome.output.find("depthwise, larger: 1 cases", all), std::string::npos);
    EXPECT_EQ(outcome.output.find("4-4_1x1"), std::string::npos);
}

TEST(Bench, FilterBatchRowAndFileNarrowTheRun) {
    EXPECT_EQ(smoke("--no-peers --filter depthwise").size(), 1u);
    const json batch = smoke("--no-peers --batch 3 --filter 1x1");
    EXPECT_EQ(batch.at(0).at("shapes").at("input"), json({3, 8, 8, 16}));
    for (const json &r : smoke("--no-peers --row any")) EXPECT_EQ(r.at("row"), "any");

    const std::string path = own_file("own.csv");
    std::ofstream(path) << "input,weight\n1x9x9x6,4x1x1x6\n";
    const Outcome outcome = run_program(bench + "--no-peers --seconds 0.01 --list '" + path + "'");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("9x9_6-4_1x1"), std::string::npos) << outcome.output;
}

TEST(Bench, ReportHasEveryListAndCase) {
    const std::string path = own_file("report.json"), bytes = own_file("bytes.json"),
                      gradients = own_file("gradients.json"), topk = own_file("topk.json"),
                      sparse = own_file("sparse.json"), maps = own_file("maps.json"),
                      list = own_file("list.csv");
    std::ofstream(list) << "input,weight\n1x8x8x16,32x1x1x16\n1x8x8x4,8x1x1x4\n";
    const std::string run = bench + "--list smoke --seconds 0.01 --json '";
    ASSERT_EQ(run_program(run + path + "'").status, 0);
    ASSERT_EQ(run_program(run + bytes + "' --type u8 --output-type f32").status, 0);
    ASSERT_EQ(
        run_program(run + gradients + "' --family conv2d_backward_data --list " + list).status, 0);
    ASSERT_EQ(
        run_program(bench + "--family topk --list smoke --seconds 0.01 --json " + topk).status, 0);
    for (const auto &[family, file] : {std::pair{"tensor_product", sparse}, {"kernel_map", maps}})
        ASSERT_EQ(run_program(run + file + "' --family " + family).status, 0);
    const Outcome outcome =
        run_program(std::string(HK_REPORT) + " '" + path + "' '" + bytes + "' '" + gradients +
                    "' " + topk + " '" + sparse + "' '" + maps + "'");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    for (const char *line :
         {"| conv2d f32 nhwc | smoke | 4 |", "| quantized_conv2d u8 to f32 nhwc | smoke | 4 |",
          "| conv2d_backward_data f32 nhwc | smoke | 4 |", "list.csv | 2 |",
          "| topk f32 | smoke | 9 |", "| tensor_product f32 | smoke | 2 |",
          "| kernel_map s32 | smoke | 4 |", "GOP/s", "hk kept maps"})
        EXPECT_NE(outcome.output.find(line), std::string::npos) << line << '\n' << outcome.output;

    // Every case is in the file of this CPU.
    namespace fs = std::filesystem;
    const fs::path repository = own_file("repository");
    fs::create_directories(repository / "docs");
    std::ofstream(repository / "README.md") << "A README without a headline\n";
    std::ofstream(repository / "docs" / "performance.md") << "";
    std::string files;
    for (const std::string &file : {path, bytes, gradients, topk, sparse, maps})
        files += " '" + file + "'";
    const Outcome written =
        run_program(std::string(HK_REPORT) + " --repository '" + repository.string() + "'" + files);
    ASSERT_EQ(written.status, 0) << written.output;
    std::string cases;
    for (const auto &file : fs::directory_iterator(repository / "docs" / "performance"))
        cases += read(file.path().string());
    for (const std::string &file : {path, bytes, gradients, topk, sparse, maps}) {
        for (const json &r : json::parse(read(file))) {
            const std::string name = r.at("case");
            EXPECT_NE(cases.find("," + name + ","), std::string::npos) << name;
        }
    }
}

struct Mistake {
    const char *name, *arguments, *told;
};

class BadFlags : public testing::TestWithParam<Mistake> {};

TEST_P(BadFlags, AreRefusedWithTheirValue) {
    const Outcome outcome = run_program(bench + GetParam().arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(GetParam().told), std::string::npos) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(
    Bench, BadFlags,
    testing::Values(Mistake{"Unknown", "--colour red", "--colour"},
                    Mistake{"Family", "--family conv9d", "conv9d"},
                    Mistake{"List", "--list resnet51", "resnet51"},
                    Mistake{"Type", "--list smoke --type f8", "f8"},
                    Mistake{"IntegerType", "--list smoke --family conv2d --type s32", "s32"},
                    Mistake{"TypeOfAnother", "--list smoke --family conv2d --type u8", "u8"},
                    Mistake{"OutputType", "--list smoke --type u8 --output-type u16", "u16"},
                    Mistake{"RealOutputOnly", "--list smoke --output-type u8", "u8"},
                    Mistake{"SumOfReals",
                            "--list smoke --family quantized_conv2d --type f32 --output-type s32",
                            "s32"},
                    Mistake{"Layout", "--list smoke --layout hwc", "hwc"},
                    Mistake{"TopKLayout", "--family topk --layout nchw", "nchw"},
                    Mistake{"TopKRow", "--family topk --row 9x9", "9x9"},
                    Mistake{"TopKList", "--family topk --list resnet50", "resnet50"},
                    Mistake{"SparseBatch", "--family tensor_product --batch 3", "--batch is 3"},
                    Mistake{"SparseRow", "--family tensor_product --row 9x9", "9x9"},
                    Mistake{"SparseType", "--family tensor_product --type s8", "s8"},
                    Mistake{"MapBatch", "--family kernel_map --batch 3", "--batch is 3"},
                    Mistake{"MapRow", "--family kernel_map --row any", "--row is any"},
                    Mistake{"Device", "--list smoke --device gpu", "gpu"},
                    Mistake{"AbsentDevice", "--list smoke --device cuda:77", "cuda:77"},
                    Mistake{"Threads", "--list smoke --threads 0", "threads"},
                    Mistake{"Row", "--list smoke --row 9x9", "9x9"},
                    Mistake{"Filter", "--list smoke --filter nothing_like_it", "nothing_like_it"}),
    [](const auto &info) { return info.param.name; });

}  // namespace

}  // namespace hk::bench
