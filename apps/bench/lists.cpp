#include "lists.h"

#include <sstream>

#include "hk/error.h"
#include "program/file.h"
#include "program/quote.h"

namespace hk::bench {

namespace {

std::vector<std::string> split(const std::string &line) {
    std::vector<std::string> result;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) result.push_back(cell);
    if (line.ends_with(',')) result.emplace_back();
    return result;
}

// Of rows=64,k=5: the columns, and a line of their values.
std::string line_of(const std::string &sizes) {
    std::string columns, values;
    for (const std::string &size : split(sizes)) {
        const size_t equals = size.find('=');
        if (equals == std::string::npos)
            throw InvalidArgument(program::in_quotes(size) + " in " + program::shortened(sizes) +
                                  " is not COLUMN=VALUE");
        columns += (columns.empty() ? "" : ",") + size.substr(0, equals);
        values += (values.empty() ? "" : ",") + size.substr(equals + 1);
    }
    return columns + "\n" + values + "\n";
}

std::map<std::string, std::string> cells_of(const std::vector<std::string> &header,
                                            const std::string &line) {
    const std::vector<std::string> cells = split(line);
    if (cells.size() != header.size()) {
        throw InvalidArgument("shape list: " + std::to_string(cells.size()) + " columns where " +
                              std::to_string(header.size()) +
                              " are named: " + program::shortened(line));
    }
    std::map<std::string, std::string> result;
    for (size_t i = 0; i < cells.size(); ++i) {
        if (!result.emplace(header[i], cells[i]).second)
            throw InvalidArgument("shape list: column \"" + header[i] + "\" is there twice");
    }
    return result;
}

}  // namespace

std::vector<std::string> embedded_lists(std::string_view folder) {
    std::vector<std::string> names;
    for (const EmbeddedList &list : embedded) {
        if (list.folder == folder) names.emplace_back(list.name);
    }
    return names;
}

std::vector<std::string> list_names(const std::string &text) {
    std::vector<std::string> names;
    bool in_case = false;
    for (const std::string &part : split(text)) {
        const bool is_size = part.find('=') != std::string::npos;
        if (is_size && in_case)
            names.back() += "," + part;
        else
            names.push_back(part);
        in_case = is_size;
    }
    return names;
}

std::string_view embedded_csv(std::string_view folder, std::string_view name) {
    for (const EmbeddedList &list : embedded) {
        if (list.folder == folder && list.name == name) return list.text;
    }
    return {};
}

std::string list_text(std::string_view folder, const std::string &name) {
    if (name.find('=') != std::string::npos) return line_of(name);
    if (name.ends_with(".csv")) {
        try {
            return program::read_file(name);
        } catch (const program::FileError &error) {
            throw InvalidArgument(error.what());
        }
    }
    const std::string_view text = embedded_csv(folder, name);
    if (!text.empty()) return std::string(text);
    std::string names;
    for (const std::string &known : embedded_lists(folder)) names += " " + known;
    throw InvalidArgument("no list \"" + name + "\"; there are:" + names);
}

std::vector<std::map<std::string, std::string>> list_lines(std::string_view csv) {
    std::stringstream stream{std::string(csv)};
    std::vector<std::string> header;
    std::vector<std::map<std::string, std::string>> result;
    for (std::string line; std::getline(stream, line);) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty() || line[0] == '#') continue;
        if (header.empty()) {
            header = split(line);
        } else {
            result.push_back(cells_of(header, line));
        }
    }
    if (result.empty()) throw InvalidArgument("shape list: no shapes in it");
    return result;
}

}  // namespace hk::bench
