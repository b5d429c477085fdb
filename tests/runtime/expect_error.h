#pragma once
// Expectations on the library's exceptions: their type, and what their message says.

#include <gtest/gtest.h>

#include <string>

#include "hk/error.h"

namespace hk::tests {

// The message of the exception of type E that f throws; a test failure where it throws none.
template<typename E, typename F>
std::string message_of(F &&f) {
    try {
        f();
    } catch (const E &error) {
        return error.what();
    } catch (const std::exception &error) {
        ADD_FAILURE() << "another exception: " << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no exception";
    return "";
}

inline bool has(const std::string &text, const std::string &part) {
    return text.find(part) != text.npos;
}

}  // namespace hk::tests

#define EXPECT_ERROR(type, part, ...)                                                   \
    do {                                                                                \
        const std::string message_ = hk::tests::message_of<type>([&] { __VA_ARGS__; }); \
        EXPECT_TRUE(hk::tests::has(message_, part)) << message_;                        \
    } while (false)
#define EXPECT_INVALID(part, ...) EXPECT_ERROR(hk::InvalidArgument, part, __VA_ARGS__)
