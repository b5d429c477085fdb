// The program explain on one family after the other: the row that a problem takes, and what it is
// told about it.

#include <map>

#include "family.h"
#include "lists.h"
#include "tests/apps/explain_program.h"

namespace hk::test {

namespace {

// A line of a list as flags. Its shapes are in nhwc.
std::string flags_of(const std::map<std::string, std::string> &line, Layout layout) {
    std::string flags;
    for (const auto &[name, value] : line) {
        flags += " --" + name + " ";
        const bool is_image = name == "input" || name == "weight";
        const size_t last = value.rfind('x'), first = value.find('x');
        flags += layout == Layout::nchw && is_image ? value.substr(0, first) + value.substr(last) +
                                                          value.substr(first, last - first)
                                                    : value;
    }
    return flags;
}

// The launches of a row's own kernel on CUDA come last: quantised sums have others before.
void expect_launches(const json &choice) {
    if (choice.at("target") == "cpu") {
        EXPECT_TRUE(choice.at("launches").empty());
        return;
    }
    ASSERT_FALSE(choice.at("launches").empty());
    const json &launch = choice.at("launches").back();
    EXPECT_EQ(choice.at("grid"), launch.at("grid"));
    int64_t threads = 1;
    for (int extent : launch.at("block")) threads *= extent;
    EXPECT_GT(threads, 0);
}

class EveryVerb : public testing::TestWithParam<std::string> {};

// The first line of a family's smoke: the row on each target, in its first type and layout and its
// last.
TEST_P(EveryVerb, TellsTheRowThatSelectionTakes) {
    bench::Family family = bench::family_named(GetParam());
    family.variants.clear();
    const auto line = bench::list_lines(bench::list_text(family.folder, "smoke")).front();
    const std::vector<bench::Settings> all = family.settings();
    for (bench::Settings settings : {all.front(), all.back()}) {
        std::string flags = family.name + flags_of(line, settings.layout) + " --type " +
                            std::string(name_of(settings.type));
        if (settings.layout != Layout::any)
            flags += " --layout " + std::string(name_of(settings.layout));
        if (family.output_types)
            flags += " --output-type " + std::string(name_of(settings.output_type));
        std::set<std::string> targets;
        for (const json &choice : explain_json(flags)) {
            SCOPED_TRACE(flags + "\n" + choice.dump());
            settings.device = Device::parse(choice.at("target") == "cpu"
                                                ? "cpu"
                                                : choice.at("target").get<std::string>() + ":0");
            EXPECT_EQ(choice.at("row"), family.cases("smoke", settings).front().select()->row);
            expect_launches(choice);
            targets.insert(choice.at("target"));
        }
        EXPECT_EQ(targets, built_targets());
    }
}

std::vector<std::string> verbs() {
    std::vector<std::string> names;
    for (const bench::Family &family : bench::families())
        if (family.has_rows) names.push_back(family.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Explain, EveryVerb, testing::ValuesIn(verbs()),
                         [](const auto &info) { return info.param; });

TEST(Explain, TopKShowsItsRowAndTheRegionsOfAll) {
    for (const char *flags : {"--k 50", "--k 32000 --outputs indices",
                              "--k 64 --axis -2 --order smallest --type bf16"}) {
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

TEST(Explain, TellsTheProblemFirst) {
    const std::pair<const char *, const char *> told[] = {
        {"pool2d --input 1x112x112x64 --kernel 3 --padding 1",
         "pool2d f32 nhwc: input [1, 112, 112, 64], output [1, 56, 56, 64]; kernel 3, padding 1\n"},
        {"softmax_cross_entropy --input 64x10",
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
