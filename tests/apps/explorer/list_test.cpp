// explorer list: all that was built, beside what CMake wrote of it.

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/apps/explorer/explorer_program.h"

namespace hk::test {

namespace {

using nlohmann::json;

std::vector<std::string> split(const std::string &text, char at) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, at);) parts.push_back(part);
    return parts;
}

const std::vector<std::string> &families() {
    static const std::vector<std::string> names = split(HK_FAMILIES, ' ');
    return names;
}

// Lines of a family's rows.txt, in columns.
std::vector<std::vector<std::string>> built(const std::string &family) {
    std::vector<std::vector<std::string>> rows;
    std::ifstream in(HK_KERNELS "/" + family + "/rows.txt");
    for (std::string line; std::getline(in, line);) rows.push_back(split(line, '|'));
    return rows;
}

json listed(const std::string &family) {
    const Outcome outcome = run_program(explorer + "list " + family + " --json", false);
    EXPECT_EQ(outcome.status, 0) << family;
    return json::parse(outcome.output, nullptr, false);
}

TEST(ExplorerList, HasEveryKernelOnce) {
    const json all = listed("");
    std::map<std::string, int> kernels;
    for (const json &row : all)
        for (const json &name : row.at("kernels")) kernels[name.get<std::string>()]++;
    size_t expected = 0;
    for (const std::string &family : families()) {
        for (const auto &columns : built(family)) {
            expected++;
            EXPECT_EQ(kernels[columns[0]], 1) << columns[0];
        }
    }
    EXPECT_GT(expected, 0u);
    EXPECT_EQ(kernels.size(), expected);
}

TEST(ExplorerList, SaysWhatTheTableSays) {
    for (const std::string &family : families()) {
        std::map<std::string, std::vector<std::string>> by_name;
        for (const auto &columns : built(family)) by_name[columns[0]] = columns;
        for (const json &row : listed(family)) {
            SCOPED_TRACE(row.dump());
            EXPECT_EQ(row.at("family"), family);
            std::set<std::string> types, layouts, targets;
            int registers = -1;
            uintmax_t bytes = 0;
            double seconds = 0;
            for (const json &name : row.at("kernels")) {
                const auto &columns = by_name.at(name);
                EXPECT_EQ(row.at("row"), columns[2]);
                EXPECT_EQ(row.at("algorithm"), columns[3]);
                EXPECT_EQ(row.at("schedule"), columns[4]);
                EXPECT_EQ(row.at("knobs"), columns[5]);
                EXPECT_EQ(row.at("where"), columns[9]);
                types.insert(columns[6]);
                if (columns[7] != "any") layouts.insert(columns[7]);
                targets.insert(columns[8]);
                const std::string base = HK_KERNELS "/" + family + "/" + columns[0];
                bytes += std::filesystem::file_size(base + ".a");
                const json report = json::parse(std::ifstream(base + ".json"));
                registers = std::max(registers, report.value("registers", -1));
                seconds += report.at("seconds").get<double>();
            }
            EXPECT_EQ(row.at("types").get<std::set<std::string>>(), types);
            EXPECT_EQ(row.at("layouts").get<std::set<std::string>>(), layouts);
            EXPECT_EQ(row.at("targets").get<std::set<std::string>>(), targets);
            EXPECT_EQ(row.at("library_bytes"), bytes);
            EXPECT_GT(seconds, 0);
            EXPECT_NEAR(row.at("compile_seconds").get<double>(), seconds, 1e-6);
            EXPECT_EQ(row.at("registers"), registers < 0 ? json() : json(registers));
        }
    }
}

TEST(ExplorerList, SortsByTimeAndSize) {
    for (const auto &[by, field] :
         {std::pair{"compile-time", "compile_seconds"}, {"size", "library_bytes"}}) {
        const json rows = listed(std::string("--sort ") + by);
        ASSERT_EQ(rows.size(), listed("").size());
        for (size_t i = 1; i < rows.size(); i++)
            EXPECT_GE(rows[i - 1].at(field).get<double>(), rows[i].at(field).get<double>()) << by;
    }
    const Outcome other = run_program(explorer + "list --sort age");
    EXPECT_EQ(other.status, 2);
    EXPECT_NE(other.output.find("age not in {compile-time,size}"), std::string::npos);
}

TEST(ExplorerList, FitsAScreen) {
    const Outcome outcome = run_program(explorer + "list", false);
    ASSERT_EQ(outcome.status, 0);
    const Outcome sorted = run_program(explorer + "list --sort compile-time", false);
    for (const std::string &line : split(outcome.output + sorted.output, '\n')) {
        const auto characters =
            std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
        EXPECT_LE(characters, 140) << line;
    }
    for (const std::string &family : families())
        EXPECT_NE(outcome.output.find(family + ": "), std::string::npos) << family;
}

TEST(ExplorerList, NamesTheFamilies) {
    expect_refused("list conv3d", "no family \"conv3d\"; there are: " + families()[0] + ", ");
    for (const std::string &family : families()) expect_refused("list conv3d", family);
}

}  // namespace

}  // namespace hk::test
