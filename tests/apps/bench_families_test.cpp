// The families of the program bench, in their types and layouts.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "family.h"
#include "program/file.h"
#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::bench {

namespace {

using nlohmann::json;
using test::Outcome;
using test::run_program;

const std::string bench = std::string("'") + HK_BENCH + "' ";

json smoke(const std::string &flags) {
    const std::string path = test::own_file("smoke.json");
    const Outcome outcome =
        run_program(bench + "--list smoke --seconds 0.01 --json '" + path + "' " + flags);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return json::parse(program::read_file(path), nullptr, false);
}

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

}  // namespace

}  // namespace hk::bench
