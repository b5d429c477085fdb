#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "cloud.h"
#include "program/file.h"
#include "program/quote.h"

namespace hk::pointcloud {

using program::in_quotes;
using program::shortened;

namespace {

[[noreturn]] void fail(const std::string &name, const std::string &what) {
    throw CloudError(name + ": " + what);
}

constexpr bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';'; }

// The words of a text, line by line.
class Lines {
public:
    explicit Lines(std::string_view text) : text_(text) {}

    bool next(std::string_view &line) {
        if (at_ >= text_.size()) return false;
        const size_t end = std::min(text_.find('\n', at_), text_.size());
        line = text_.substr(at_, end - at_);
        at_ = end + 1;
        number_++;
        return true;
    }
    size_t at() const { return std::min(at_, text_.size()); }
    int64_t number() const { return number_; }

private:
    std::string_view text_;
    size_t at_ = 0;
    int64_t number_ = 0;
};

std::string_view next_word(std::string_view &line) {
    size_t first = 0;
    while (first < line.size() && blank(line[first])) first++;
    size_t end = first;
    while (end < line.size() && !blank(line[end])) end++;
    const std::string_view word = line.substr(first, end - first);
    line.remove_prefix(end);
    return word;
}

// What is too large for a double is infinite, what is too small 0.
std::optional<double> number_of(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (end != word.data() + word.size()) return {};
    if (error == std::errc::result_out_of_range) return std::strtod(std::string(word).c_str(), {});
    if (error != std::errc()) return {};
    return value;
}

// A whole number from 0, in digits alone.
std::optional<int64_t> count_of(std::string_view word) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 0) return {};
    return value;
}

double checked(double value, const std::string &name, const std::string &where) {
    if (!std::isfinite(value)) fail(name, where + " has a coordinate that is not finite");
    return value;
}

// A number type of a binary file.
struct Scalar {
    const char *names[3];
    size_t size;
    double (*read)(const char *);
};

template<typename T>
double read_as(const char *bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(value);
}

constexpr Scalar kScalars[] = {
    {{"char", "int8", "i1"}, 1, read_as<int8_t>},
    {{"uchar", "uint8", "u1"}, 1, read_as<uint8_t>},
    {{"short", "int16", "i2"}, 2, read_as<int16_t>},
    {{"ushort", "uint16", "u2"}, 2, read_as<uint16_t>},
    {{"int", "int32", "i4"}, 4, read_as<int32_t>},
    {{"uint", "uint32", "u4"}, 4, read_as<uint32_t>},
    {{"float", "float32", "f4"}, 4, read_as<float>},
    {{"double", "float64", "f8"}, 8, read_as<double>},
};

const Scalar *scalar_of(std::string_view name) {
    for (const Scalar &scalar : kScalars) {
        for (const char *known : scalar.names) {
            if (name == known) return &scalar;
        }
    }
    return nullptr;
}

// Points whose coordinates lie at fixed places of records of `size` bytes.
struct Records {
    size_t first = 0, size = 0;
    int64_t count = 0;
    std::array<const Scalar *, 3> type{};
    std::array<size_t, 3> place{};
};

Points read_records(std::string_view content, const Records &records, const std::string &name) {
    const size_t there = content.size() - records.first;
    if (static_cast<uint64_t>(records.count) > there / records.size) {
        fail(name, "its header tells of " + std::to_string(records.count) + " points of " +
                       std::to_string(records.size) + " bytes, there are " + std::to_string(there) +
                       " bytes");
    }
    Points points(static_cast<size_t>(records.count));
    const char *record = content.data() + records.first;
    for (size_t i = 0; i < points.size(); i++, record += records.size) {
        for (size_t a = 0; a < 3; a++) {
            points[i][a] = checked(records.type[a]->read(record + records.place[a]), name,
                                   "point " + std::to_string(i));
        }
    }
    return points;
}

struct PlyHeader {
    bool binary = false;
    int64_t vertices = -1;
    std::vector<std::pair<std::string, const Scalar *>> properties;  // of a vertex
    size_t end = 0;
};

PlyHeader ply_header(std::string_view content, const std::string &name) {
    PlyHeader header;
    Lines lines(content);
    std::string_view line;
    bool in_vertex = false, ended = false, formatted = false;
    while (!ended && lines.next(line)) {
        const std::string_view word = next_word(line);
        if (word == "format") {
            const std::string_view format = next_word(line);
            formatted = true;
            header.binary = format == "binary_little_endian";
            if (!header.binary && format != "ascii") {
                fail(name, "its format is " + shortened(format) +
                               ", only ascii and binary_little_endian are read");
            }
        } else if (word == "element") {
            const std::string_view element = next_word(line);
            in_vertex = element == "vertex";
            if (in_vertex) {
                const std::string_view vertices = next_word(line);
                const auto count = count_of(vertices);
                if (!count) fail(name, in_quotes(vertices) + " is no number of vertices");
                header.vertices = *count;
            } else if (header.vertices < 0) {
                fail(name, "element " + shortened(element) + " comes before element vertex");
            }
        } else if (word == "property" && in_vertex) {
            const std::string_view type = next_word(line);
            const Scalar *scalar = scalar_of(type);
            if (!scalar) fail(name, "property of type " + shortened(type) + " in a vertex");
            header.properties.emplace_back(next_word(line), scalar);
        } else if (word == "end_header") {
            ended = true;
        }
    }
    if (!ended || !formatted || header.vertices < 0) {
        fail(name, std::string("its PLY header has no ") + (!ended       ? "end_header"
                                                            : !formatted ? "format"
                                                                         : "element vertex"));
    }
    header.end = lines.at();
    return header;
}

Points read_text(std::string_view content, const std::string &name, int64_t count,
                 const std::array<size_t, 3> &columns) {
    Points points;
    Lines lines(content);
    std::string_view line;
    const size_t last = *std::max_element(columns.begin(), columns.end());
    while (static_cast<int64_t>(points.size()) < count && lines.next(line)) {
        std::string_view rest = line, word = next_word(rest);
        if (word.empty() || word.starts_with('#')) continue;
        Point point{};
        const std::string where = "line " + std::to_string(lines.number());
        for (size_t column = 0; column <= last; column++, word = next_word(rest)) {
            const auto value = number_of(word);
            if (!value) {
                fail(name, where + " has " + in_quotes(word) + " where number " +
                               std::to_string(column + 1) + " of a point should be");
            }
            for (size_t a = 0; a < 3; a++) {
                if (columns[a] == column) point[a] = checked(*value, name, where);
            }
        }
        points.push_back(point);
    }
    return points;
}

Points read_ply(std::string_view content, const std::string &name) {
    const PlyHeader header = ply_header(content, name);
    Records records{header.end, 0, header.vertices, {}, {}};
    std::array<size_t, 3> columns{};
    for (size_t p = 0; p < header.properties.size(); p++) {
        const auto &[property, type] = header.properties[p];
        for (size_t a = 0; a < 3; a++) {
            if (property != std::string(1, "xyz"[a])) continue;
            records.type[a] = type;
            records.place[a] = records.size;
            columns[a] = p;
        }
        records.size += type->size;
    }
    for (size_t a = 0; a < 3; a++) {
        if (!records.type[a]) fail(name, std::string("its vertices have no property ") + "xyz"[a]);
    }
    if (header.binary) return read_records(content, records, name);
    Points points = read_text(content.substr(header.end), name, header.vertices, columns);
    if (static_cast<int64_t>(points.size()) < header.vertices) {
        fail(name, "its header tells of " + std::to_string(header.vertices) +
                       " points, there are " + std::to_string(points.size()));
    }
    return points;
}

// The value of a key of the dictionary in a .npy's header, up to the comma or bracket that ends it.
std::string npy_value(std::string_view header, const std::string &key, const std::string &name) {
    const size_t at = header.find("'" + key + "':");
    if (at == std::string_view::npos) fail(name, "its .npy header has no " + key);
    std::string_view value = header.substr(at + key.size() + 3);
    while (value.starts_with(' ')) value.remove_prefix(1);
    const size_t end = value.find_first_of(value.starts_with('(') ? ")" : ",}");
    return std::string(value.substr(0, end));
}

// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
Points read_npy(std::string_view content, const std::string &name) {
    if (content.size() < 12) fail(name, "its .npy header is cut off");
    const bool wide = content[6] >= 2;  // from version 2.0 on lengths have 4 bytes
    const size_t begin = wide ? 12 : 10;
    const auto length = static_cast<size_t>(wide ? read_as<uint32_t>(content.data() + 8)
                                                 : read_as<uint16_t>(content.data() + 8));
    if (content.size() < begin + length) fail(name, "its .npy header is cut off");
    const std::string_view header = content.substr(begin, length);
    const std::string type = npy_value(header, "descr", name);
    const Scalar *scalar =
        type == "'<f4'" || type == "'<f8'" ? scalar_of(type.substr(2, 2)) : nullptr;
    if (!scalar)
        fail(name, "its elements are " + shortened(type) + ", only '<f4' and '<f8' are read");
    if (npy_value(header, "fortran_order", name) != "False") {
        fail(name, "it is in Fortran order, only C order is read");
    }
    const std::string shape = npy_value(header, "shape", name);
    std::string_view rest = shape;
    const bool is_tuple = rest.starts_with('(');
    if (is_tuple) rest.remove_prefix(1);
    const auto rows = count_of(next_word(rest)), columns = count_of(next_word(rest));
    if (!is_tuple || !rows || !columns || !next_word(rest).empty() || *columns < 3 ||
        *columns > 1'000'000) {
        fail(name, "its shape is " + shortened(shape) + (is_tuple ? ")" : "") +
                       ", it must be (N, 3) or wider");
    }
    const size_t size = scalar->size;
    return read_records(content,
                        {begin + length,
                         size * static_cast<size_t>(*columns),
                         *rows,
                         {scalar, scalar, scalar},
                         {0, size, 2 * size}},
                        name);
}

}  // namespace

Points parse_points(std::string_view content, const std::string &name) {
    if (content.starts_with("\x93NUMPY")) return read_npy(content, name);
    if (content.starts_with("ply\n") || content.starts_with("ply\r")) {
        return read_ply(content, name);
    }
    return read_text(content, name, std::numeric_limits<int64_t>::max(), {0, 1, 2});
}

Points read_points(const std::string &path) { return parse_points(program::read_file(path), path); }

}  // namespace hk::pointcloud
