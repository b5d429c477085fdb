#include "field.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "hk/error.h"
#include "program/quote.h"

namespace hk::bench {

namespace {

std::vector<int64_t> numbers(const std::string &name, const std::string &text, char separator) {
    std::vector<int64_t> result;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        int64_t value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (part.empty() || error != std::errc() || end != part.data() + part.size() || value < 0) {
            const bool is_large = error == std::errc::result_out_of_range;
            throw InvalidArgument(name + ": " + program::in_quotes(part) + " in " +
                                  program::in_quotes(text) +
                                  (is_large ? " is too large" : " is not a number from 0"));
        }
        result.push_back(value);
    }
    if (text.empty() || text.back() == separator) {
        throw InvalidArgument(name + ": a number is missing in \"" + text + "\"");
    }
    return result;
}

std::array<int64_t, 2> pair_of(const std::string &name, const std::string &text) {
    const std::vector<int64_t> values = numbers(name, text, 'x');
    if (values.size() > 2) {
        throw InvalidArgument(name + ": \"" + text + "\" is neither one number nor YxX");
    }
    return {values.front(), values.back()};
}

Padding padding_of(const std::string &name, const std::string &text) {
    if (text.find(',') == std::string::npos) {
        const auto [y, x] = pair_of(name, text);
        return {y, y, x, x};
    }
    const std::vector<int64_t> sides = numbers(name, text, ',');
    if (sides.size() != 4) {
        throw InvalidArgument(name + ": \"" + text + "\" is not top,bottom,left,right");
    }
    return {sides[0], sides[1], sides[2], sides[3]};
}

template<typename T>
T number_of(const std::string &name, const std::string &text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
    const bool is_large = error == std::errc::result_out_of_range;
    throw InvalidArgument(name + ": " + program::in_quotes(text) +
                          (is_large ? " is too large" : " is not a number"));
}

template<typename T>
Field number_field(std::string name, T &value, std::string help) {
    std::ostringstream text;
    text << value;
    const auto read = [name, &value](const std::string &given) {
        value = number_of<T>(name, given);
    };
    return {name, std::move(help), text.str(), read};
}

}  // namespace

Field field(std::string name, int64_t &value, std::string help) {
    return number_field(std::move(name), value, std::move(help));
}

Field field(std::string name, float &value, std::string help) {
    return number_field(std::move(name), value, std::move(help));
}

Field field(std::string name, bool &value, std::string help) {
    const auto read = [name, &value](const std::string &text) {
        if (text != "0" && text != "1") {
            throw InvalidArgument(name + ": " + program::in_quotes(text) + " is not 0 or 1");
        }
        value = text == "1";
    };
    return {name, std::move(help), value ? "1" : "0", read, true};
}

Field field(std::string name, Shape &value, size_t rank, std::string help) {
    const auto read = [name, &value, rank](const std::string &text) {
        value = numbers(name, text, 'x');
        if (rank > 0 && value.size() != rank) {
            throw InvalidArgument(name + ": \"" + text + "\" has " + std::to_string(value.size()) +
                                  " extents, not " + std::to_string(rank));
        }
    };
    return {name, std::move(help), "", read};
}

Field field(std::string name, std::array<int64_t, 2> &value, std::string help) {
    const auto read = [name, &value](const std::string &text) { value = pair_of(name, text); };
    return {name, std::move(help) + ": both directions, or YxX", std::to_string(value[0]), read};
}

Field field(std::string name, Padding &value, std::string help) {
    const auto read = [name, &value](const std::string &text) { value = padding_of(name, text); };
    return {name, std::move(help) + ": all sides, YxX, or top,bottom,left,right",
            std::to_string(value.top), read};
}

Field field(std::string name, std::string &value, std::vector<std::string> names,
            std::string help) {
    std::string all;
    for (const std::string &each : names) {
        all += (all.empty() ? "" : &each == &names.back() ? " or " : ", ") + each;
    }
    const auto read = [name, &value, names, all](const std::string &text) {
        if (std::ranges::find(names, text) == names.end()) {
            throw InvalidArgument(name + ": " + program::in_quotes(text) + " is not " + all);
        }
        value = text;
    };
    return {name, std::move(help) + ": " + all, value, read};
}

Field required(Field field) {
    field.required = true;
    return field;
}

Field not_in_lists(Field field) {
    field.in_lists = false;
    return field;
}

}  // namespace hk::bench
