// The program explain on one family after the other: the row that a problem takes.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "family.h"
#include "hk/conv2d.h"
#include "lists.h"
#include "tests/apps/program.h"

namespace hk::test {

namespace {

using nlohmann::json;

json explain_json(const std::string &arguments) {
    const std::string line = std::string("'") + HK_EXPLAIN + "' " + arguments + " --json";
    const Outcome outcome = run_program(line, false);
    EXPECT_EQ(outcome.status, 0) << line << '\n' << outcome.output;
    return json::parse(outcome.output, nullptr, false);
}

std::set<std::string> built_targets() {
    std::set<std::string> result;
    for (const KernelInfo &kernel : conv2d_kernels()) result.emplace(name_of(kernel.device));
    return result;
}

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
    // A row of OpenCL alone has no kernel on CUDA.
    const bool of_opencl = choice.at("target") == "opencl" && choice.at("grid").is_null();
    if (choice.at("target") == "cpu" || of_opencl) {
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

}  // namespace

}  // namespace hk::test
