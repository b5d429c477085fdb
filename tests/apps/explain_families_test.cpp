// The program explain on one family after the other: the row that a problem takes, and what it is
// told about it.

#include <map>

#include "tests/apps/explain_program.h"

namespace hk::test {

namespace {

// Types of the input and the output; s8 inputs take the rows of u8.
TEST(Explain, QuantizedConvolution) {
    for (const char *types : {"--type u8 --output-type u8", "--type s8 --output-type s8",
                              "--type u8 --output-type s32", "--type f32 --output-type u8", ""}) {
        const json choices = explain_json(
            std::string("quantized_conv2d --input 1x56x56x256 --weight 512x1x1x256 --stride 2 ") +
            types);
        ASSERT_FALSE(choices.empty());
        for (const json &choice : choices) {
            EXPECT_TRUE(choice.at("row").is_string()) << choice;
            EXPECT_EQ(choice.at("family"), "quantized_conv2d");
            if (choice.at("target") == "cuda") {
                // The sum's own launch comes last, after those that zero points ask for.
                const json &launch = choice.at("launches").back();
                EXPECT_EQ(choice.at("grid"), launch.at("grid")) << choice;
                int64_t threads = 1;
                for (int extent : launch.at("block")) threads *= extent;
                EXPECT_EQ(choice.at("threads"), threads) << choice;
            }
        }
    }
}

TEST(Explain, TopKShowsItsRowAndTheRegionsOfAll) {
    for (const char *flags : {"--k 50", "--k 50 --outputs values", "--k 32000 --outputs indices",
                              "--k 3 --axis 0", "--k 64 --axis -2 --order smallest --type bf16"}) {
        const json choices = explain_json(std::string("topk --input 64x32000 ") + flags);
        std::set<std::string> targets;
        for (const json &choice : choices) {
            SCOPED_TRACE(choice.dump());
            targets.insert(choice.at("target"));
            EXPECT_EQ(choice.at("family").get<std::string>().rfind("topk", 0), 0u);
            std::multiset<std::string> told{choice.at("row")};
            for (const json &rejected : choice.at("rejected")) told.insert(rejected.at("row"));
            // The row that is taken has a region; regions are of rows that were told.
            bool found = false;
            ASSERT_FALSE(choice.at("regions").empty());
            for (const json &region : choice.at("regions")) {
                EXPECT_TRUE(told.contains(region.at("row")));
                EXPECT_FALSE(region.at("conditions").get<std::string>().empty());
                found |= region.at("row") == choice.at("row");
            }
            EXPECT_TRUE(found);
            EXPECT_EQ(choice.at("regions").back().at("conditions"), "all others");
        }
        EXPECT_TRUE(targets.contains("cpu"));
    }
    const Outcome outcome = run_program(explain + "topk --input 64x32000 --k 50");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("topk f32: input [64, 32000], values [64, 50], indices "
                                  "[64, 50]\n"),
              std::string::npos)
        << outcome.output;
    EXPECT_NE(outcome.output.find("  region     "), std::string::npos) << outcome.output;
}

TEST(Explain, ElementwiseTellsRows) {
    const std::pair<const char *, const char *> rows_on_cpu[] = {
        {"activate --input 4x5", "adjacent"},
        {"activate --input 4x5 --elements apart --type bf16", "any"},
        {"activate_backward --input 4x5 --elements adjacent", "adjacent"},
        {"sgd --input 1000", "momentum_adjacent"},
        {"sgd --input 1000 --momentum 0 --elements apart", "plain"}};
    for (const auto &[flags, row] : rows_on_cpu) {
        SCOPED_TRACE(flags);
        bool found = false;
        for (const json &choice : explain_json(flags)) {
            if (choice.at("target") != "cpu") continue;
            EXPECT_EQ(choice.at("row"), row);
            found = true;
        }
        EXPECT_TRUE(found);
    }
}

// The row that each target takes.
std::map<std::string, std::string> rows_by_target(const std::string &flags) {
    std::map<std::string, std::string> rows;
    for (const json &choice : explain_json(flags)) {
        EXPECT_TRUE(choice.at("row").is_string()) << choice;
        rows[choice.at("target")] = choice.value("row", json("")).get<std::string>();
        // What a GPU's row launches: one kernel.
        EXPECT_EQ(choice.at("launches").size(), choice.at("target") == "cpu" ? 0u : 1u) << choice;
    }
    return rows;
}

TEST(Explain, PoolingAndSoftmaxTellRows) {
    struct Problem {
        const char *flags, *on_cpu, *on_gpu;
    };
    const Problem problems[] = {
        {"pool2d --input 1x112x112x64 --kernel 3 --padding 1", "max", "max"},
        {"pool2d --input 1x64x112x112 --layout nchw --type f16", "max_2x2", "max"},
        {"pool2d --input 1x56x57x8 --kernel 2x3", "max", "max"},
        {"pool2d --input 1x7x7x1280 --kernel 7 --stride 1 --pooling average", "average", "average"},
        {"pool2d_backward --input 64x8x8x32 --type bf16", "max_2x2", "max"},
        {"pool2d_backward --input 1x7x7x1280 --kernel 7 --stride 1 --pooling average", "average",
         "average"},
        {"softmax_cross_entropy --input 64x10", "rows", "warp"},
        {"softmax_cross_entropy --input 128x32000 --type f16", "rows", "block"},
        {"softmax_cross_entropy --input 128x32000 --shared-limit 0", "rows", "unstaged"},
        {"pool2d --input 1x64x56x56 --layout nchw --type f16", "max_2x2_narrow", "max"},
        {"pool2d_backward --input 1x64x56x56 --layout nchw --kernel 3", "max", "max"}};
    for (const auto &[flags, on_cpu, on_gpu] : problems) {
        SCOPED_TRACE(flags);
        const std::map<std::string, std::string> rows = rows_by_target(flags);
        EXPECT_EQ(rows.size(), built_targets().size());
        for (const auto &[target, row] : rows) EXPECT_EQ(row, target == "cpu" ? on_cpu : on_gpu);
    }
    const std::pair<const char *, const char *> told[] = {
        {problems[0].flags,
         "pool2d f32 nhwc: input [1, 112, 112, 64], output [1, 56, 56, 64]; kernel 3, padding 1\n"},
        {problems[6].flags,
         "softmax_cross_entropy f32: labels [64], loss [64], logits [64, 10], gradient [64, "
         "10]\n"}};
    for (const auto &[flags, first_line] : told) {
        const Outcome outcome = run_program(explain + flags);
        EXPECT_EQ(outcome.output.rfind(first_line, 0), 0u) << outcome.output;
    }
}

const std::string sparse_case =
    "tensor_product --type f32 --rows 125000 --pairs 30000 --offsets 27 --c 64 --m 64 ";

TEST(Explain, TensorProductTellsRowsAndArithmetic) {
    for (const std::string &flags :
         {sparse_case + "--mode atomic", sparse_case + "--mode deterministic --output-rows 7",
          sparse_case + "--groups 4",
          std::string("tensor_product --type bf16 --c 3 --m 5 --rows 0 --pairs 0")}) {
        const json choices = explain_json(flags);
        std::set<std::string> targets;
        for (const json &choice : choices) {
            SCOPED_TRACE(choice.dump());
            targets.insert(choice.at("target"));
            EXPECT_EQ(choice.at("family").get<std::string>().rfind("tensor_product", 0), 0u);
            EXPECT_TRUE(choice.at("arithmetic").at("bytes").is_number());
        }
        EXPECT_TRUE(targets.contains("cpu"));
    }
    const json arithmetic = explain_json(sparse_case).at(0).at("arithmetic");
    EXPECT_EQ(arithmetic.at("operations"), 2.0 * 27 * 30000 * 64 * 64);
    EXPECT_EQ(arithmetic.at("gathered_bytes"), 27.0 * 30000 * 64 * 4);
    const json grouped = explain_json(sparse_case + "--groups 4").at(0).at("arithmetic");
    EXPECT_EQ(grouped.at("operations"), 2.0 * 27 * 30000 * 64 * 64 / 4);
    const Outcome outcome = run_program(explain + sparse_case + "--mode atomic");
    EXPECT_EQ(outcome.status, 0);
    for (const char *told :
         {"tensor_product f32: input [125000, 64], weight [27, 64, 64], output [125000, 64]; ",
          "pairs 30000, mode atomic\n6.636 GFLOP; ", "  row        wide4 (",
          "  region     wide2: vectors 2\n", "  not wide1: "}) {
        EXPECT_NE(outcome.output.find(told), std::string::npos) << told << outcome.output;
    }
}

// 512 floats of the weight, 32 channels of the output by 16 of the input; then none.
TEST(Explain, AtomicTensorProductStages512Floats) {
    for (const json &choice : explain_json(sparse_case + "--mode atomic")) {
        if (choice.at("target") == "cpu") continue;
        SCOPED_TRACE(choice.dump());
        EXPECT_EQ(choice.at("family"), "tensor_product_atomic");
        EXPECT_EQ(choice.at("shared_bytes"), 2048);
        ASSERT_GE(choice.at("ladder").size(), 2u);
        EXPECT_EQ(choice.at("ladder").back().at("shared_bytes"), 0);
        EXPECT_EQ(choice.at("rung"), 0);
        if (choice.at("stack_bytes").is_number()) {
            EXPECT_EQ(choice.at("stack_bytes"), 0);
        }
    }
}

}  // namespace

}  // namespace hk::test
