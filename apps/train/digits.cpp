#include "digits.h"

#include <array>
#include <charconv>
#include <sstream>

#include "program/file.h"

namespace hk::train {
namespace {

constexpr int kInk = 16;  // of a pixel that is all ink
constexpr int kTestEvery = 5;

struct Row {
    std::array<float, kPixels> pixels;
    int32_t label = 0;
};

// The next number of the row, from 0 to `most`.
int number(const char *&at, const char *end, int most, const std::string &place) {
    int value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > most) {
        throw DigitError(place + ": expected a number from 0 to " + std::to_string(most));
    }
    at = next;
    return value;
}

Row row_of(const std::string &line, const std::string &place) {
    Row row;
    const char *at = line.data(), *end = at + line.size();
    for (float &pixel : row.pixels) {
        pixel = static_cast<float>(number(at, end, kInk, place)) / kInk;
        if (at == end || *at++ != ',') throw DigitError(place + ": expected 65 numbers");
    }
    row.label = number(at, end, kClasses - 1, place);
    if (at != end && *at != '\r') throw DigitError(place + ": expected 65 numbers");
    return row;
}

}  // namespace

DigitSets read_digits(const std::string &file) {
    std::istringstream stream(program::read_file(file));
    DigitSets sets;
    std::array<int, kClasses> seen{};
    std::string line;
    for (int number = 1; std::getline(stream, line); number++) {
        if (line.empty()) continue;
        const Row row = row_of(line, file + ":" + std::to_string(number));
        const bool test = seen[static_cast<size_t>(row.label)]++ % kTestEvery == kTestEvery - 1;
        Digits &digits = test ? sets.test : sets.train;
        digits.pixels.insert(digits.pixels.end(), row.pixels.begin(), row.pixels.end());
        digits.labels.push_back(row.label);
    }
    if (sets.test.count() == 0) throw DigitError(file + ": it has no digits to test on");
    return sets;
}

}  // namespace hk::train
