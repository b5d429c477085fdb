// The line that a sweep offers to the table.

#include "verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "candidate.h"
#include "compiler/setup.h"
#include "hk/conv2d.h"

namespace hk::explorer {
namespace {

using nlohmann::json;

// A sweep of one case, which the row staged takes.
class Verdict : public testing::Test {
protected:
    Verdict() { compiler::set_up_halide(); }

    static const KernelInfo &row() {
        const auto rows = conv2d_kernels();
        return *std::find_if(rows.begin(), rows.end(), [](const KernelInfo &row) {
            return std::string(row.name) == "conv2d_staged_f32_nhwc_cpu";
        });
    }

    Record measured(double ratio, const std::string &knobs,
                    const std::string &schedule = "broadcast") {
        return {.of = "one",
                .candidate = knobs,
                .algorithm = row_.algorithm,
                .schedule = schedule,
                .fixed = row_.fixed_text(),
                .knobs = knobs,
                .status = "ok",
                .reason = "",
                .ns = 100,
                .table_ns = 100 * ratio};
    }

    std::string line_of(std::vector<Record> records) {
        json sweep = {
            {"family", "conv2d"},
            {"settings", {{"type", "f32"}, {"layout", "nhwc"}, {"device", "cpu"}}},
            {"cases",
             {{{"name", "one"},
               {"row", {{"name", "staged"}, {"base", row_.base()}, {"knobs", row_.knobs}}},
               {"bases",
                {{{"name", row_.base()},
                  {"family", "conv2d"},
                  {"rows", "staged"},
                  {"where", ""}}}}}}}};
        note_lines(sweep, records);
        return sweep["cases"][0].value("line", "");
    }

    const Candidate row_ = Candidate::of(row());
};

TEST_F(Verdict, NamesTheKnobsOfTheBest) {
    EXPECT_EQ(line_of({measured(1.1, "tile_x:5"), measured(1.2, "tile_x:6")}),
              "row(cpu staged … tile_x:6 …)  # kernels/conv2d.cmake");
    EXPECT_EQ(line_of({measured(1.01, "tile_x:6")}), "");
}

// What is compiled here may be faster than the same in the library: that is not the knobs' gain.
TEST_F(Verdict, HoldsTheBestAgainstTheRowAsACandidate) {
    const Record row = measured(1.15, row_.knobs);
    EXPECT_EQ(line_of({row}), "");
    EXPECT_EQ(line_of({row, measured(1.16, "tile_x:6")}), "");
    EXPECT_EQ(line_of({row, measured(1.19, "tile_x:6")}),
              "row(cpu staged … tile_x:6 …)  # kernels/conv2d.cmake");
}

TEST_F(Verdict, OffersNoAutoscheduler) {
    EXPECT_EQ(line_of({measured(1.5, "", "Adams2019")}), "");
    EXPECT_EQ(line_of({measured(1.5, "", "Adams2019"), measured(1.2, "tile_x:6")}),
              "row(cpu staged … tile_x:6 …)  # kernels/conv2d.cmake");
}

}  // namespace
}  // namespace hk::explorer
