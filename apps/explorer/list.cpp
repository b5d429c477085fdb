// explorer list: the rows of the table.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "row_files.h"
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

// Of all its kernels: the largest of registers and shared bytes, -1 where no target has them, and
// the sums of bytes and seconds. Nothing where one is not built.
struct Figures {
    int registers = -1, shared_bytes = -1;
    int64_t bytes = 0;
    double seconds = 0;
};

std::optional<Figures> figures_of(const Row &row) {
    Figures figures;
    for (const KernelInfo *kernel : row.kernels) {
        const std::optional<LastBuild> built = last_build_of(*kernel);
        if (!built) return {};
        figures.registers = std::max(figures.registers, built->resources.registers);
        figures.shared_bytes = std::max(figures.shared_bytes, built->resources.shared_bytes());
        figures.bytes += built->bytes;
        figures.seconds += built->seconds;
    }
    return figures;
}

struct Listed {
    Row row;
    std::optional<Figures> figures;
};

std::vector<Listed> listed(const Table &table) {
    std::vector<Listed> rows;
    for (Row &row : rows_of(table)) {
        const std::optional<Figures> figures = figures_of(row);
        rows.push_back({std::move(row), figures});
    }
    return rows;
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

Line line_of(const Listed &listed) {
    const Row &row = listed.row;
    const KernelInfo &first = row.first();
    const auto &f = listed.figures;
    return {first.row,
            words(types(row)),
            words(layouts(row)),
            std::string(first.algorithm) + "/" + first.schedule,
            words(targets(row)),
            f ? figure(f->registers) : "?",
            f ? figure(f->shared_bytes) : "?",
            f ? kilobytes(f->bytes) : "?",
            f ? tenths(f->seconds) : "?",
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

void print(const std::string &title, const std::vector<Listed> &rows, bool with_family) {
    std::vector<Line> lines = {{"row", "types", "layouts", "algorithm/schedule", "targets", "regs",
                                "shared", "KB", "s", "knobs"}};
    size_t kernels = 0, missing = 0;
    Figures sums;
    for (const Listed &one : rows) {
        lines.push_back(line_of(one));
        if (with_family)
            lines.back()[0] = std::string(one.row.first().family) + "/" + lines.back()[0];
        kernels += one.row.kernels.size();
        missing += !one.figures;
        sums.bytes += one.figures.value_or(Figures()).bytes;
        sums.seconds += one.figures.value_or(Figures()).seconds;
    }
    std::printf("%s: %zu rows, %zu kernels, %s KB, %.1f s of a core to compile", title.c_str(),
                rows.size(), kernels, kilobytes(sums.bytes).c_str(), sums.seconds);
    std::puts(
        missing == 0
            ? ""
            : (", without " + std::to_string(missing) + " rows (?) that are not built").c_str());
    print(lines);
}

// The largest first.
void sort(std::vector<Listed> &rows, bool by_time) {
    const auto size = [&](const Listed &one) {
        const Figures figures = one.figures.value_or(Figures());
        return by_time ? figures.seconds : static_cast<double>(figures.bytes);
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Listed &a, const Listed &b) { return size(a) > size(b); });
}

nlohmann::ordered_json json_of(const Listed &listed) {
    const Row &row = listed.row;
    const KernelInfo &first = row.first();
    const auto known = [&](auto Figures::*figure) {
        return listed.figures && (*listed.figures).*figure >= 0
                   ? nlohmann::ordered_json((*listed.figures).*figure)
                   : nlohmann::ordered_json();
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
            {"registers", known(&Figures::registers)},
            {"shared_bytes", known(&Figures::shared_bytes)},
            {"library_bytes", known(&Figures::bytes)},
            {"compile_seconds", known(&Figures::seconds)},
            {"kernels", distinct(row, [](const KernelInfo &k) { return k.name; })}};
}

class ListVerb : public Verb {
public:
    void add_to(program::Flags &flags) override {
        command_ = &flags.add_verb(
            "list",
            "the rows of the table: types, schedule, targets, registers a thread and shared bytes "
            "a block of the largest of their kernels, size, time of a core to compile them");
        command_->add("family", family_, "of kernels; all of them");
        command_->add("--sort", sort_, "all rows, the largest first: compile-time or size")
            .check(program::one_of({"compile-time", "size"}));
        command_->add("--json", json_, "write JSON, with conditions, budgets and kernels");
    }

    int run() override {
        std::vector<Table> chosen = tables();
        if (!family_.empty()) chosen = {table_of(family_)};
        std::vector<Listed> all;
        for (const Table &table : chosen)
            for (Listed &row : listed(table)) all.push_back(std::move(row));
        if (!sort_.empty()) sort(all, sort_ == "compile-time");
        if (json_) {
            nlohmann::ordered_json list = nlohmann::ordered_json::array();
            for (const Listed &row : all) list.push_back(json_of(row));
            std::cout << list.dump(1) << '\n';
        } else if (!sort_.empty()) {
            print(family_.empty() ? "all families" : family_, all, true);
        } else {
            for (const Table &table : chosen) {
                if (&table != &chosen.front()) std::puts("");
                print(table.family, listed(table), false);
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
