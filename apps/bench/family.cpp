#include "family.h"

#include <algorithm>
#include <set>

#include "hk/error.h"
#include "lists.h"

namespace hk::bench {

namespace {

using Texts = std::map<std::string, std::string>;  // by the names of fields

// A line of a list, of which several cases may be made.
struct Line {
    std::string passes;
    int64_t count = 1;
    std::optional<DataType> type;
    Texts fields;
};

Line line_of(Texts cells) {
    Line line;
    const auto take = [&](const char *column, auto use) {
        if (const auto cell = cells.extract(column)) use(cell.mapped());
    };
    take("passes", [&](const std::string &text) { line.passes = text; });
    take("count", [&](const std::string &text) { field("count", line.count, "").read(text); });
    take("type", [&](const std::string &text) { line.type = data_type_of(text); });
    line.fields = std::move(cells);
    return line;
}

// The texts of a line for each combination of what it leaves open.
std::vector<Texts> combinations(const Family &family, const Texts &fields) {
    std::vector<Texts> all = {fields};
    for (const auto &[field, values] : family.variants) {
        if (fields.contains(field)) continue;
        std::vector<Texts> more;
        for (const Texts &texts : all) {
            for (const std::string &value : values) {
                more.push_back(texts);
                more.back()[field] = value;
            }
        }
        all = std::move(more);
    }
    return all;
}

// Its fields are read, and it is not prepared.
std::unique_ptr<Problem> problem_of(const Family &family, Texts texts, const Settings &settings) {
    std::unique_ptr<Problem> problem = family.problem();
    problem->set(settings);
    for (const Field &field : problem->fields()) {
        if (!field.in_lists) continue;
        if (const auto text = texts.extract(field.name)) {
            field.read(text.mapped());
        } else if (field.required) {
            throw InvalidArgument("shape list: no column \"" + field.name + "\"");
        }
    }
    if (!texts.empty()) {
        throw InvalidArgument("shape list: unknown column \"" + texts.begin()->first + "\"");
    }
    if (settings.batch > 0) problem->set_batch(settings.batch);
    return problem;
}

CaseInfo case_of(const Family &family, const std::string &list, const Line &line,
                 const Texts &texts, const Settings &settings) {
    const auto make = [family, texts, settings] { return problem_of(family, texts, settings); };
    const auto prepared = [make] {
        std::unique_ptr<Problem> problem = make();
        problem->prepare(Layout::nhwc);
        return problem;
    };
    const std::unique_ptr<Problem> problem = make();
    CaseInfo info{list, problem->name(line.type), problem->kind(), line.count,
                  [prepared] { return std::make_unique<ProblemCase>(prepared); }};
    info.type = line.type;
    info.problem = prepared;
    info.fields = texts;
    if (family.has_rows) {
        info.select = [prepared, settings] {
            return prepared()->select(settings.device.type(), limits_of(settings), false).kernel;
        };
    }
    return info;
}

std::vector<CaseInfo> table_cases(const Family &family, const Settings &settings) {
    std::vector<std::string> lists = family.usual;
    for (const std::string &list : embedded_lists(family.folder)) lists.push_back(list);
    std::map<const KernelInfo *, CaseInfo> first;
    for (const std::string &list : lists) {
        for (CaseInfo &info : family.cases(list, settings)) {
            if (const KernelInfo *row = info.select()) first.try_emplace(row, std::move(info));
        }
    }
    std::vector<CaseInfo> result;
    for (const KernelInfo *row : family.rows(settings)) {
        const auto found = first.find(row);
        if (found == first.end()) continue;
        result.push_back(found->second);
        result.back().list = "table";
        result.back().name = row->row + (" " + found->second.name);
        result.back().row = row;
    }
    return result;
}

}  // namespace

std::vector<std::string> Family::lists() const {
    std::vector<std::string> names = embedded_lists(folder);
    if (has_rows) names.emplace_back("table");
    return names;
}

std::vector<CaseInfo> Family::cases(const std::string &list, const Settings &given) const {
    if (list == "table" && has_rows) return table_cases(*this, given);
    Settings settings = given;
    const auto batch = batches.find(list);
    if (settings.batch == 0 && batch != batches.end()) settings.batch = batch->second;
    std::vector<CaseInfo> result;
    std::set<std::string> seen;
    for (Texts &cells : list_lines(list_text(folder, list))) {
        const Line line = line_of(std::move(cells));
        if (!line.passes.empty() && line.passes.find(pass) == std::string::npos) continue;
        settings.type = line.type.value_or(given.type);
        for (const Texts &texts : combinations(*this, line.fields)) {
            CaseInfo info = case_of(*this, list, line, texts, settings);
            if (seen.insert(info.name).second) result.push_back(std::move(info));
        }
    }
    return result;
}

std::vector<const KernelInfo *> Family::rows(const Settings &settings) const {
    const std::unique_ptr<Problem> any = problem();
    any->set(settings);
    std::vector<const KernelInfo *> result;
    for (const KernelInfo &kernel : any->kernels()) {
        if (kernel.device == settings.device.type() && any->serves(kernel)) {
            result.push_back(&kernel);
        }
    }
    const auto own = [&](const KernelInfo *kernel) { return kernel->layout == settings.layout; };
    std::ranges::stable_partition(result, own);
    return result;
}

std::vector<Settings> Family::settings() const {
    std::vector<Settings> all;
    for (const Layout layout : layouts) {
        for (const DataType type : types) {
            for (const DataType output : output_types ? output_types(type) : std::vector{type}) {
                Settings &one = all.emplace_back();
                one.type = type;
                one.output_type = output;
                one.layout = layout;
            }
        }
    }
    return all;
}

std::string Family::sizes() const {
    std::string text;
    for (const Field &field : problem()->fields()) {
        if (field.required) text += field.name + "=" + field.help + ",";
    }
    return text + "…";
}

Family family_named(const std::string &name) {
    std::string names;
    for (Family &family : families()) {
        if (family.name == name) return std::move(family);
        names += " " + family.name;
    }
    throw InvalidArgument("no family \"" + name + "\"; there are:" + names);
}

const KernelInfo &row_named(const Family &family, const Settings &settings) {
    if (!family.has_rows)
        throw InvalidArgument(family.name + " has no rows, --row is " + settings.row);
    for (const KernelInfo *kernel : family.rows(settings)) {
        if (kernel->row == settings.row) return *kernel;
    }
    std::string types(name_of(settings.type));
    if (settings.layout != Layout::any) types += ", " + std::string(name_of(settings.layout));
    throw InvalidArgument(family.name + " has no row \"" + settings.row + "\" for " + types + ", " +
                          std::string(name_of(settings.device.type())));
}

Unit gigabytes(const Settings &) { return {"GB/s", nullptr, ""}; }

Unit arithmetic(const Settings &settings) {
    const std::string name = size_of(settings.type) == 1 ? "GOP/s" : "GFLOP/s";
    if (!settings.device.is_cpu()) return {name, nullptr, ""};
    return {name,
            [settings](double seconds) {
                return measure_peak(settings.type, settings.threads, seconds);
            },
            "multiply-adds, " + peak_instructions(settings.type)};
}

}  // namespace hk::bench
