#pragma once
// Bad input: a call that is right, spoilt in one place, is refused before any kernel runs.

#include <functional>

#include "tests/runtime/expect_error.h"

namespace hk::test {

// `Arguments` has run(), kOperation, which its messages begin with, or kPrefix, which `part` follows
// at once, and, where kernels are counted, calls().
template<typename Arguments>
void expect_refused(const std::string &part, const std::function<void(Arguments &)> &spoil) {
    Arguments arguments;
    spoil(arguments);
    const auto calls = []() -> size_t {
        if constexpr (requires { Arguments::calls(); }) return Arguments::calls();
        return 0;
    };
    const int before = calls();
    const std::string message = tests::message_of<InvalidArgument>([&] { arguments.run(); });
    if constexpr (requires { Arguments::kPrefix; }) {
        EXPECT_TRUE(message.starts_with(Arguments::kPrefix + part)) << message;
    } else {
        EXPECT_TRUE(message.starts_with(Arguments::kOperation)) << message;
        EXPECT_TRUE(tests::has(message, part)) << message;
    }
    EXPECT_EQ(calls(), before) << part;
}

}  // namespace hk::test

// EXPECT_REFUSED_BY(Forward, "input is undefined", a.input = {}), of arguments a; and of those of a
// file with one call, which are named Arguments.
#define EXPECT_REFUSED_BY(Arguments, part, ...) \
    hk::test::expect_refused<Arguments>(part, [&]([[maybe_unused]] Arguments &a) { __VA_ARGS__; })
#define EXPECT_REFUSED(part, ...) EXPECT_REFUSED_BY(Arguments, part, __VA_ARGS__)
