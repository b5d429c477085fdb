// Flags take numbers, and NaN is none.

#include "apps/program/number.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "apps/program/quote.h"

namespace hk::program {
namespace {

const std::string kLong = "1" + std::string(308, '0'), kLonger = kLong + "0";

TEST(Number, IsInItsRange) {
    struct Check {
        CLI::Validator validator;
        std::vector<std::string> right, wrong;
    };
    const Check checks[] = {
        {finite(),
         {"0", "-1.5", "1e300", "+7", kLong},
         {"nan", "inf", "-inf", kLonger, "", "x", "1x"}},
        {positive(), {"1e-300", "2"}, {"0", "-1", "nan", "-nan", "inf", kLonger}},
        {not_negative(), {"0", "2"}, {"-0.1", "nan", "inf"}},
        {between(0.01, 60), {"0.01", "60"}, {"0.009", "60.1", "nan", "inf", "NaN(1)"}}};
    for (const Check &check : checks) {
        for (std::string text : check.right) EXPECT_EQ(check.validator(text), "") << text;
        for (std::string text : check.wrong) EXPECT_NE(check.validator(text), "") << text;
    }
    std::string text = "nan";
    EXPECT_EQ(between(0.01, 60)(text), "\"nan\" is not a number from 0.01 to 60");
}

TEST(Number, IsNotRepeatedWhereItIsLong) {
    std::string text = kLonger;
    const std::string complaint = positive()(text);
    EXPECT_LT(complaint.size(), 200u);
    EXPECT_NE(complaint.find("(310 characters)"), std::string::npos) << complaint;
    EXPECT_EQ(in_quotes("short"), "\"short\"");
}

}  // namespace
}  // namespace hk::program
