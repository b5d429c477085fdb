#pragma once
// The program explorer, as tests run it.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/apps/program.h"
#include "tests/support/folder.h"

namespace hk::test {

inline const std::string explorer = std::string("'") + HK_EXPLORER + "' ";

// What opening the page in a browser finds wrong; `wanted`: flags of browser.py.
inline std::string faults_of(const std::string &page, const std::string &wanted) {
    const Outcome outcome = run_program(HK_BROWSER " '" + page + "' " + wanted);
    return outcome.status == 0 ? "" : outcome.output;
}

// Bad input: one line, which says `part`.
inline void expect_refused(const std::string &arguments, const std::string &part) {
    SCOPED_TRACE(arguments);
    const Outcome outcome = run_program(explorer + arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.output.rfind("explorer: ", 0), 0u) << outcome.output;
    EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1) << outcome.output;
    EXPECT_NE(outcome.output.find(part), std::string::npos) << outcome.output;
}

}  // namespace hk::test
