#include "verdict.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bases.h"
#include "compiled.h"

namespace hk::explorer {

using nlohmann::json;

namespace {

std::string base_of(const Record &record) {
    return record.algorithm + "/" + record.schedule +
           (record.fixed.empty() ? "" : " " + record.fixed);
}

const json *find_base(const json &of, const Record &record) {
    for (const json &base : of["bases"])
        if (base["name"] == base_of(record)) return &base;
    return nullptr;
}

// What the compiler would need to compile it again.
Candidate candidate_of(const json &sweep, const json &base, const Record &record) {
    Candidate candidate{
        .family = base["family"],
        .algorithm = record.algorithm,
        .schedule = record.schedule,
        .knobs = record.knobs,
        .fixed = {},
        .type = data_type_of(sweep["settings"]["type"].get<std::string>()),
        .layout = Layout::any,
        .device = Device::parse(sweep["settings"]["device"].get<std::string>()).type(),
        .where = {}};
    const std::string layout = sweep["settings"]["layout"];
    if (layout != "any") candidate.layout = layout_of(layout);
    std::istringstream fixed(record.fixed);
    for (std::string item; fixed >> item;) {
        const size_t equals = item.find('=');
        candidate.fixed[item.substr(0, equals)] = std::stoll(item.substr(equals + 1));
    }
    return candidate;
}

std::vector<Record> fastest_of(const std::vector<Record> &records, const std::string &name) {
    std::vector<Record> result;
    for (const Record &record : records)
        if (record.of == name && record.ok()) result.push_back(record);
    std::sort(result.begin(), result.end(),
              [](const Record &a, const Record &b) { return a.ratio() > b.ratio(); });
    return result;
}

// An autoscheduler makes a schedule for the sizes of one case alone: none for the table.
const Record *first_by_hand(const std::vector<Record> &fastest) {
    const auto found = std::find_if(fastest.begin(), fastest.end(), [](const Record &record) {
        return !is_autoscheduler(record.schedule);
    });
    return found == fastest.end() ? nullptr : &*found;
}

// Is it what the table ships, as a candidate?
bool is_row(const json &sweep, const json &of, const Record &record) {
    if (of["row"]["base"] != base_of(record)) return false;
    const json *base = find_base(of, record);
    if (!base) return false;
    const Candidate candidate = candidate_of(sweep, *base, record);
    try {
        return needed_knobs(candidate, record.knobs) ==
               needed_knobs(candidate, of["row"].value("knobs", ""));
    } catch (const std::exception &) {  // of another version of the schedules
        return false;
    }
}

}  // namespace

std::string line_for_table(const json &sweep, const json &of, const Record &best, double margin) {
    if (best.ratio() < margin) return "";
    const json *base = find_base(of, best);
    if (!base) return "";
    const Candidate candidate = candidate_of(sweep, *base, best);
    const bool is_cpu = candidate.device == DeviceType::cpu;
    std::string knobs = best.knobs, budget;
    try {
        knobs = needed_knobs(candidate, best.knobs);
        budget = budget_of(candidate);
    } catch (const std::exception &) {  // of another version of the schedules
    }
    const std::string columns =
        (knobs.empty() ? "-" : knobs) + (budget.empty() ? "" : " " + budget);
    const std::string family = (*base)["family"], row = of["row"]["name"];
    const std::string file = "kernels/" + family + ".cmake";
    // A GPU's row has a budget for all its types and layouts: what is found for one is a row of its
    // own.
    if (is_cpu && of["row"]["base"] == base_of(best))
        return "row(cpu " + row + " … " + columns + " …)  # " + file;
    const std::string rows = (*base)["rows"], where = (*base)["where"];
    std::string name = rows.substr(0, rows.find(',')) + "_" + file_name_of(of["name"]);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
    const json &settings = sweep["settings"];
    const std::string layout = settings["layout"], device = settings["device"];
    return "row(" + device.substr(0, device.find(':')) + " " + name + " " + best.algorithm + " " +
           best.schedule + " " + settings["type"].get<std::string>() + " " + layout + " " +
           columns + (where.empty() ? "" : " " + where) + ")  # " + file + ", before " + row;
}

void note_lines(json &sweep, const std::vector<Record> &records) {
    for (json &of : sweep["cases"]) {
        const std::vector<Record> fastest = fastest_of(records, of["name"]);
        double margin = kMargin;
        for (const Record &record : fastest) {
            if (record.ratio() <= 1) break;
            if (!is_row(sweep, of, record)) continue;
            margin = kMargin * record.ratio();
            break;
        }
        const Record *best = first_by_hand(fastest);
        const std::string line = best ? line_for_table(sweep, of, *best, margin) : "";
        if (line.empty())
            of.erase("line");
        else
            of["line"] = line;
    }
}

}  // namespace hk::explorer
