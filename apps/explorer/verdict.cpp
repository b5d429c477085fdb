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

void print_line(FILE *out, const char *what, const Record &record, const std::string &unit) {
    std::fprintf(out, "  %-14s %10.4f ms %9.2f %-8s %6.3f  %s\n", what, record.ns * 1e-6,
                 record.rate, unit.c_str(), record.ratio(), record.candidate.c_str());
}

// Its time as if the row had taken so long in its rounds too: where a machine was slower for a
// while, it was so for both.
Record on_the_clock_of(double table_ns, double work, Record record) {
    record.ns = table_ns / record.ratio();
    record.table_ns = table_ns;
    record.rate = work / record.ns;
    return record;
}

double wasted_share(const std::vector<Record> &records) {
    double all = 0, wasted = 0;
    for (const Record &record : records) {
        all += record.seconds;
        if (record.failed()) wasted += record.seconds;
    }
    return all > 0 ? wasted / all : 0;
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

void print_case(const json &sweep, const json &of, const std::vector<Record> &records, FILE *out) {
    const std::string name = of["name"], unit = sweep["unit"];
    const std::vector<Record> fastest = fastest_of(records, name);
    size_t failed = 0, refused = 0;
    for (const Record &record : records) {
        if (record.of != name) continue;
        failed += record.failed();
        refused += record.status == "does not take";
    }
    std::fprintf(out, "%s %s: %zu measured, %zu failed, %zu bases that don't take it\n",
                 sweep["family"].get<std::string>().c_str(), name.c_str(), fastest.size(), failed,
                 refused);
    if (fastest.empty()) return;
    Record table = fastest.front();
    const double work = of["work"];
    table.ns = table.table_ns;
    table.rate = work / table.ns;
    table.candidate =
        of["row"]["name"].get<std::string>() + ": " + of["row"]["candidate"].get<std::string>();
    print_line(out, "table", table, unit);
    constexpr size_t shown = 5;
    const auto print = [&](const std::string &what, const Record &record) {
        print_line(out, what.c_str(), on_the_clock_of(table.ns, work, record), unit);
    };
    for (size_t i = 0; i < std::min(shown, fastest.size()); i++)
        print(std::to_string(i + 1), fastest[i]);
    const auto automatic = std::find_if(fastest.begin(), fastest.end(), [](const Record &record) {
        return is_autoscheduler(record.schedule);
    });
    if (automatic != fastest.end()) print("autoscheduler", *automatic);
    const std::string line = of.value("line", "");
    if (line.empty()) {
        std::fprintf(out, "  the table is as good as the best of these\n");
        return;
    }
    const json *base = find_base(of, *first_by_hand(fastest));
    std::fprintf(out, "  into the table (chooser: %s):\n    %s\n",
                 (*base)["chooser"].get<std::string>().c_str(), line.c_str());
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

void print_verdict(const json &sweep, const std::vector<Record> &records, FILE *out) {
    for (const json &of : sweep["cases"]) print_case(sweep, of, records, out);
    std::fprintf(out, "%.1f %% of the candidates' time went into those that failed\n",
                 100 * wasted_share(records));
}

}  // namespace hk::explorer
