#include "flags.h"

#include <charconv>
#include <sstream>

#include "hk/error.h"
#include "program/quote.h"

namespace hk::explain {

namespace {

std::vector<int64_t> numbers(const std::string &flag, const std::string &text, char separator) {
    std::vector<int64_t> result;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        int64_t value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (part.empty() || error != std::errc() || end != part.data() + part.size() || value < 0) {
            const bool is_large = error == std::errc::result_out_of_range;
            throw InvalidArgument(flag + ": " + program::in_quotes(part) + " in " +
                                  program::in_quotes(text) +
                                  (is_large ? " is too large" : " is not a number from 0"));
        }
        result.push_back(value);
    }
    if (text.empty() || text.back() == separator) {
        throw InvalidArgument(flag + ": a number is missing in \"" + text + "\"");
    }
    return result;
}

}  // namespace

Shape parse_shape(const std::string &flag, const std::string &text) {
    return numbers(flag, text, 'x');
}

Shape parse_shape(const std::string &flag, const std::string &text, size_t rank) {
    Shape shape = parse_shape(flag, text);
    if (shape.size() != rank) {
        throw InvalidArgument(flag + ": \"" + text + "\" has " + std::to_string(shape.size()) +
                              " extents, not " + std::to_string(rank));
    }
    return shape;
}

std::array<int64_t, 2> parse_pair(const std::string &flag, const std::string &text) {
    const std::vector<int64_t> values = numbers(flag, text, 'x');
    if (values.size() > 2) {
        throw InvalidArgument(flag + ": \"" + text + "\" is neither one number nor YxX");
    }
    return {values.front(), values.back()};
}

Padding parse_padding(const std::string &text) {
    if (text.find(',') == std::string::npos) {
        const auto [y, x] = parse_pair("--padding", text);
        return {y, y, x, x};
    }
    const std::vector<int64_t> sides = numbers("--padding", text, ',');
    if (sides.size() != 4) {
        throw InvalidArgument("--padding: \"" + text + "\" is not top,bottom,left,right");
    }
    return {sides[0], sides[1], sides[2], sides[3]};
}

}  // namespace hk::explain
