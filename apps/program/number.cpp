#include "number.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>

#include "quote.h"

namespace hk::program {
namespace {

constexpr double kMost = std::numeric_limits<double>::max();

CLI::Validator number(const std::string &words, const std::function<bool(double)> &is_one) {
    const auto check = [=](std::string &text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && is_one(value)) return {};
        return in_quotes(text) + " is not " + words;
    };
    return {check, ""};
}

std::string text_of(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

}  // namespace

CLI::Validator between(double least, double most) {
    return number("a number from " + text_of(least) + " to " + text_of(most),
                  [=](double value) { return least <= value && value <= most; });
}

CLI::Validator finite() {
    return number("a finite number",
                  [](double value) { return -kMost <= value && value <= kMost; });
}

CLI::Validator positive() {
    return number("a finite number above 0",
                  [](double value) { return 0 < value && value <= kMost; });
}

CLI::Validator not_negative() {
    return number("a finite number from 0",
                  [](double value) { return 0 <= value && value <= kMost; });
}

}  // namespace hk::program
