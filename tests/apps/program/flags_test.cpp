// Flags take numbers, and NaN is none.

#include "apps/program/flags.h"

#include <gtest/gtest.h>

#include "apps/program/quote.h"

namespace hk::program {
namespace {

const std::string kLong = "1" + std::string(308, '0'), kLonger = kLong + "0";

TEST(Number, IsInItsRange) {
    struct Case {
        Check check;
        std::vector<std::string> right, wrong;
    };
    const Case cases[] = {
        {finite(),
         {"0", "-1.5", "1e300", "+7", kLong},
         {"nan", "inf", "-inf", kLonger, "", "x", "1x"}},
        {positive(), {"1e-300", "2"}, {"0", "-1", "nan", "-nan", "inf", kLonger}},
        {not_negative(), {"0", "2"}, {"-0.1", "nan", "inf"}},
        {between(0.01, 60), {"0.01", "60"}, {"0.009", "60.1", "nan", "inf", "NaN(1)"}}};
    for (const Case &c : cases) {
        for (std::string text : c.right) EXPECT_EQ(c.check.complaint(text), "") << text;
        for (std::string text : c.wrong) EXPECT_NE(c.check.complaint(text), "") << text;
    }
    std::string text = "nan";
    EXPECT_EQ(between(0.01, 60).complaint(text), "\"nan\" is not a number from 0.01 to 60");
}

TEST(Number, IsNotRepeatedWhereItIsLong) {
    std::string text = kLonger;
    const std::string complaint = positive().complaint(text);
    EXPECT_LT(complaint.size(), 200u);
    EXPECT_NE(complaint.find("(310 characters)"), std::string::npos) << complaint;
    EXPECT_EQ(in_quotes("short"), "\"short\"");
}

}  // namespace
}  // namespace hk::program
