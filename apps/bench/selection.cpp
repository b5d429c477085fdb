#include "selection.h"

#include <algorithm>
#include <array>
#include <map>

#include "family.h"
#include "usual_limits.h"

namespace hk::bench {

namespace {

constexpr std::array<Device, 3> kDevices = {Device::cpu(), Device::cuda(), Device::opencl()};

// One case under one layout and device: the rows, and the types that take each.
class Cell {
public:
    void add(const std::string &type, const KernelInfo *row) {
        const std::string name = row ? "`" + std::string(row->row) + "`" : "none";
        for (auto &[other, types] : rows_) {
            if (other == name) {
                types += ", " + type;
                return;
            }
        }
        rows_.emplace_back(name, type);
    }

    std::string text() const {
        if (rows_.size() == 1) return rows_.front().first;
        std::string text;
        for (const auto &[row, types] : rows_)
            text += (text.empty() ? "" : "; ") + row + " (" + types + ")";
        return text;
    }

private:
    std::vector<std::pair<std::string, std::string>> rows_;
};

// A list's cases by name, in their order, and their cells by column.
struct Page {
    std::vector<std::string> columns, cases;
    std::map<std::pair<std::string, std::string>, Cell> cells;  // by case and column

    void add(const CaseInfo &info, const std::string &column, const std::string &type) {
        if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
        if (std::ranges::find(cases, info.name) == cases.end()) cases.push_back(info.name);
        cells[{info.name, column}].add(type, info.select());
    }

    std::string text() const {
        std::string text = "| case |", line = "|---|";
        for (const std::string &column : columns) {
            text += " " + column + " |";
            line += "---|";
        }
        text += "\n" + line + "\n";
        for (const std::string &name : cases) {
            text += "| " + name + " |";
            for (const std::string &column : columns) {
                const auto cell = cells.find({name, column});
                text += cell == cells.end() ? "  |" : " " + cell->second.text() + " |";
            }
            text += "\n";
        }
        return text;
    }
};

void add_cases(const Family &family, const std::string &list, const Settings &settings,
               Page &page) {
    if (family.rows(settings).empty()) return;  // it has no kernels there
    std::string column(name_of(settings.device.type())), type(name_of(settings.type));
    if (settings.layout != Layout::any) column += " " + std::string(name_of(settings.layout));
    if (settings.output_type != settings.type)
        type += " to " + std::string(name_of(settings.output_type));
    for (const CaseInfo &info : family.cases(list, settings)) {
        if (info.type && *info.type != settings.type) continue;  // a list's own
        if (info.select) page.add(info, column, type);
    }
}

Page page_of(const Family &family, const std::string &list) {
    Page page;
    for (const Device device : kDevices) {
        for (Settings settings : family.settings()) {
            settings.device = device;
            settings.limits = absent::usual_limits(device.type());
            add_cases(family, list, settings, page);
        }
    }
    return page;
}

}  // namespace

std::string selection_page() {
    std::string text =
        "# Selection\n\nThe row of the table that selection takes for every case of bench's lists, "
        "by "
        "device and layout; where types take different rows, the types behind each. Limits of "
        "devices: " +
        absent::whose_limits(DeviceType::cpu) + "'s, CUDA " +
        absent::whose_limits(DeviceType::cuda) + "'s, OpenCL " +
        absent::whose_limits(DeviceType::opencl) +
        ". Written by `make docs`, checked by a test: a change of the table shows here.\n";
    for (const Family &family : families()) {
        if (!family.has_rows) continue;
        text += "\n## " + family.name + "\n";
        for (const std::string &list : family.lists())
            if (list != "table") text += "\n" + list + "\n\n" + page_of(family, list).text();
    }
    return text;
}

}  // namespace hk::bench
