// explorer list: the rows of the table.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "tables.h"
#include "verb.h"

namespace hk::explorer {

namespace {

using Line = std::vector<std::string>;

constexpr size_t line_width = 140;

// Without repetition, in the table's order.
template<typename Name>
std::vector<std::string> distinct(const Row &row, const Name &name) {
    std::vector<std::string> names;
    for (const KernelInfo *kernel : row.kernels) {
        const std::string next(name(*kernel));
        if (std::find(names.begin(), names.end(), next) == names.end()) names.push_back(next);
    }
    return names;
}

std::vector<std::string> types(const Row &row) {
    return distinct(row, [](const KernelInfo &k) { return name_of(k.type); });
}

std::vector<std::string> layouts(const Row &row) {
    if (row.first().layout == Layout::any) return {};
    return distinct(row, [](const KernelInfo &k) { return name_of(k.layout); });
}

std::vector<std::string> targets(const Row &row) {
    return distinct(row, [](const KernelInfo &k) { return name_of(k.device); });
}

// The largest figure of its kernels; -1: not known.
template<typename Figure>
int largest(const Row &row, const Figure &figure) {
    int result = -1;
    for (const KernelInfo *kernel : row.kernels)
        result = std::max(result, figure(kernel->resources));
    return result;
}

int registers(const Row &row) {
    return largest(row, [](const KernelResources &r) { return r.registers; });
}

int shared_bytes(const Row &row) {
    return largest(row, [](const KernelResources &r) { return r.shared_bytes(); });
}

int64_t library_bytes(const Row &row) {
    int64_t bytes = 0;
    for (const KernelInfo *kernel : row.kernels) bytes += archive_bytes(*kernel);
    return bytes;
}

double row_seconds(const Row &row) {
    double seconds = 0;
    for (const KernelInfo *kernel : row.kernels) seconds += compile_seconds(*kernel);
    return seconds;
}

std::string tenths(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", seconds);
    return text;
}

std::string kilobytes(int64_t bytes) { return std::to_string((bytes + 1023) / 1024); }

std::string words(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names) text += (text.empty() ? "" : " ") + name;
    return text;
}

std::string figure(int value) { return value < 0 ? "" : std::to_string(value); }

Line line_of(const Row &row) {
    const KernelInfo &first = row.first();
    return {first.row,
            words(types(row)),
            words(layouts(row)),
            std::string(first.algorithm) + "/" + first.schedule,
            words(targets(row)),
            figure(registers(row)),
            figure(shared_bytes(row)),
            kilobytes(library_bytes(row)),
            tenths(row_seconds(row)),
            first.knobs};
}

// Characters, which UTF-8 writes as several bytes.
size_t width(const std::string &text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void print(const std::vector<Line> &lines) {
    const size_t columns = lines.front().size();
    const std::set<size_t> figures = {5, 6, 7, 8};
    std::vector<size_t> widths(columns);
    for (const Line &line : lines)
        for (size_t c = 0; c < columns; c++) widths[c] = std::max(widths[c], width(line[c]));
    for (const Line &line : lines) {
        std::string text;
        for (size_t c = 0; c < columns; c++) {
            const std::string padding(widths[c] - width(line[c]), ' ');
            text += "  " + (figures.contains(c) ? padding + line[c] : line[c] + padding);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        // Knobs, which are plain ASCII and stand last, may be cut.
        if (text.size() > line_width) text = text.substr(0, line_width - 1) + "…";
        std::puts(text.c_str());
    }
}

struct Sums {
    size_t rows = 0, kernels = 0;
    int64_t bytes = 0;
    double seconds = 0;

    void add(const Row &row) {
        rows++;
        kernels += row.kernels.size();
        bytes += library_bytes(row);
        seconds += row_seconds(row);
    }
};

void print(const std::string &title, const std::vector<Row> &rows, bool with_family) {
    std::vector<Line> lines = {{"row", "types", "layouts", "algorithm/schedule", "targets", "regs",
                                "shared", "KB", "s", "knobs"}};
    Sums sums;
    for (const Row &row : rows) {
        lines.push_back(line_of(row));
        if (with_family) lines.back()[0] = std::string(row.first().family) + "/" + lines.back()[0];
        sums.add(row);
    }
    std::printf("%s: %zu rows, %zu kernels, %s KB, %.1f s of a core to compile\n", title.c_str(),
                sums.rows, sums.kernels, kilobytes(sums.bytes).c_str(), sums.seconds);
    print(lines);
}

// The largest first.
void sort(std::vector<Row> &rows, bool by_time) {
    const auto size = [&](const Row &row) {
        return by_time ? row_seconds(row) : static_cast<double>(library_bytes(row));
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Row &a, const Row &b) { return size(a) > size(b); });
}

nlohmann::ordered_json json_of(const Row &row) {
    const KernelInfo &first = row.first();
    const auto known = [](int value) {
        return value < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
    };
    return {{"family", first.family},
            {"row", first.row},
            {"algorithm", first.algorithm},
            {"schedule", first.schedule},
            {"knobs", first.knobs},
            {"types", types(row)},
            {"layouts", layouts(row)},
            {"targets", targets(row)},
            {"where", text_of(first).where},
            {"budget", text_of(*row.kernels.back()).budget},
            {"registers", known(registers(row))},
            {"shared_bytes", known(shared_bytes(row))},
            {"library_bytes", library_bytes(row)},
            {"compile_seconds", row_seconds(row)},
            {"kernels", distinct(row, [](const KernelInfo &k) { return k.name; })}};
}

class ListVerb : public Verb {
public:
    void add_to(CLI::App &app) override {
        command_ = app.add_subcommand(
            "list",
            "the rows of the table: types, schedule, targets, registers a thread and shared bytes "
            "a block of the largest of their kernels, size, time of a core to compile them");
        command_->add_option("family", family_, "of kernels; all of them");
        command_->add_option("--sort", sort_, "all rows, the largest first: compile-time or size")
            ->check(CLI::IsMember({"compile-time", "size"}));
        command_->add_flag("--json", json_, "write JSON, with conditions, budgets and kernels");
    }

    int run() override {
        std::vector<Table> chosen = tables();
        if (!family_.empty()) chosen = {table_of(family_)};
        std::vector<Row> all;
        for (const Table &table : chosen)
            for (const Row &row : rows_of(table)) all.push_back(row);
        if (!sort_.empty()) sort(all, sort_ == "compile-time");
        if (json_) {
            nlohmann::ordered_json list = nlohmann::ordered_json::array();
            for (const Row &row : all) list.push_back(json_of(row));
            std::cout << list.dump(1) << '\n';
        } else if (!sort_.empty()) {
            print(family_.empty() ? "all families" : family_, all, true);
        } else {
            for (const Table &table : chosen) {
                if (&table != &chosen.front()) std::puts("");
                print(table.family, rows_of(table), false);
            }
        }
        return 0;
    }

private:
    std::string family_, sort_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> list_verb() { return std::make_unique<ListVerb>(); }

}  // namespace hk::explorer
