#pragma once
// The sizes and options of a problem by their names, which are those of the public headers. Lists
// of shapes have them as columns, explain as flags: stride_y is --stride-y there.

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "hk/conv2d.h"

namespace hk::bench {

struct Field {
    std::string name, help;
    std::string text;  // of the default
    // Into the problem that the field is of. Throws InvalidArgument with the name and the text.
    std::function<void(const std::string &text)> read;
    bool is_switch = false;  // a flag without a value, 0 or 1 in a list
    bool required = false;
    bool in_lists = true;  // else only explain asks for it: bench does not run it
};

// A field of a variable, whose value is the default.
Field field(std::string name, int64_t &value, std::string help);
Field field(std::string name, float &value, std::string help);
Field field(std::string name, bool &value, std::string help);
// "1x64x512x512"; of `rank` extents where that is not 0.
Field field(std::string name, Shape &value, size_t rank, std::string help);
// "2" for both directions, "2x1" for y and x.
Field field(std::string name, std::array<int64_t, 2> &value, std::string help);
// "1" for all sides, "0x1" for y and x, "0,1,2,3" for top, bottom, left, right.
Field field(std::string name, Padding &value, std::string help);
// One of the names.
Field field(std::string name, std::string &value, std::vector<std::string> names, std::string help);

Field required(Field field);
Field not_in_lists(Field field);

// One of the values of an enumeration that has name_of().
template<typename E>
Field field(std::string name, E &value, const std::vector<E> &values, std::string help) {
    std::vector<std::string> names;
    for (const E each : values) names.emplace_back(name_of(each));
    auto text = std::make_shared<std::string>(name_of(value));
    Field result = field(std::move(name), *text, names, std::move(help));
    result.read = [read = result.read, text, &value, values](const std::string &given) {
        read(given);
        for (const E each : values) {
            if (name_of(each) == *text) value = each;
        }
    };
    return result;
}

}  // namespace hk::bench
