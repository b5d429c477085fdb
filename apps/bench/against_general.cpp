#include "against_general.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "hk/error.h"

namespace hk::bench {

namespace {

// A case, and the rows that take it, the first of them the one that selection gives it to.
struct Candidate {
    CaseInfo info;
    double work;
    std::vector<const KernelInfo *> rows;
};

std::vector<const KernelInfo *> rows_that_take(const Problem &problem) {
    const Settings &settings = problem.settings();
    std::vector<const KernelInfo *> rows;
    for (const Rung &rung :
         problem.select(settings.device.type(), limits_of(settings), true).ladder) {
        if (rung.shortage.empty()) rows.push_back(rung.kernel);
    }
    return rows;
}

// By row, in the table's order; of a row in the order of their work.
std::vector<std::vector<Candidate>> candidates(const Family &family,
                                               const std::vector<std::string> &lists,
                                               const std::string &filter,
                                               const Settings &settings) {
    std::map<const KernelInfo *, std::vector<Candidate>> by_row;
    std::set<std::string> seen;
    for (const std::string &list : lists) {
        for (CaseInfo &info : family.cases(list, settings)) {
            if (info.name.find(filter) == std::string::npos) continue;
            if (!seen.insert(info.name).second) continue;
            const std::unique_ptr<Problem> problem = info.problem();
            const std::vector<const KernelInfo *> rows = rows_that_take(*problem);
            if (rows.size() > 1)
                by_row[rows.front()].push_back({std::move(info), problem->work(), rows});
        }
    }
    std::vector<std::vector<Candidate>> result;
    for (const KernelInfo *row : family.rows(settings)) {
        const auto found = by_row.find(row);
        if (found == by_row.end() || (!settings.row.empty() && row->row != settings.row)) continue;
        std::ranges::stable_sort(found->second, {}, &Candidate::work);
        result.push_back(std::move(found->second));
    }
    return result;
}

// The first, the middle and the last.
std::vector<Candidate> three_of(std::vector<Candidate> all) {
    if (all.size() <= 3) return all;
    return {all.front(), all[all.size() / 2], all.back()};
}

// Throws Error where the row's result is wrong.
Work checked(Case &one, const KernelInfo *row) {
    one.use(row);
    const Check check = one.check();
    if (!check.failure.empty()) throw Error(std::string(row->row) + ": " + check.failure);
    return [&one, row](int count) {
        one.use(row);
        one.run(count);
    };
}

RowCase compare(const Candidate &candidate, const MeasureOptions &how) {
    const std::vector<const KernelInfo *> &rows = candidate.rows;
    RowCase result;
    result.row = rows.front()->row;
    result.name = candidate.info.name;
    try {
        const std::unique_ptr<Case> one = candidate.info.prepare();
        std::vector<Work> works;
        std::vector<double> rough;
        for (const KernelInfo *row : rows) {
            works.push_back(checked(*one, row));
            rough.push_back(probe(works.back()));
        }
        // The row itself, and of the others those that may be the fastest.
        const double best = *std::min_element(rough.begin() + 1, rough.end());
        std::vector<Work> measured = {works.front()};
        std::vector<const KernelInfo *> names = {rows.front()};
        for (size_t i = 1; i < rows.size(); ++i) {
            if (rough[i] > 1.3 * best) continue;
            measured.push_back(works[i]);
            names.push_back(rows[i]);
        }
        const std::vector<double> times = measure(measured, how);
        const auto fastest = std::min_element(times.begin() + 1, times.end());
        result.ns = times.front();
        result.general = names[static_cast<size_t>(fastest - times.begin())]->row;
        result.general_ns = *fastest;
    } catch (const Error &error) {
        result.failure = error.what();
    }
    return result;
}

std::vector<std::vector<RowCase>> by_row(const std::vector<RowCase> &cases) {
    std::vector<std::vector<RowCase>> rows;
    for (const RowCase &one : cases) {
        if (rows.empty() || rows.back().front().row != one.row) rows.emplace_back();
        rows.back().push_back(one);
    }
    return rows;
}

}  // namespace

std::vector<RowCase> against_general(const Family &family, const std::vector<std::string> &lists,
                                     const std::string &filter, const Settings &settings,
                                     const MeasureOptions &how,
                                     const std::function<void(const RowCase &)> &tell) {
    std::vector<RowCase> result;
    for (std::vector<Candidate> &row : candidates(family, lists, filter, settings)) {
        for (const Candidate &candidate : three_of(std::move(row))) {
            result.push_back(compare(candidate, how));
            tell(result.back());
        }
    }
    return result;
}

std::string verdict(const std::vector<RowCase> &cases) {
    std::vector<RowCase> timed = cases;
    std::erase_if(timed, [](const RowCase &one) { return !one.failure.empty(); });
    if (timed.empty()) return "not timed";
    const RowCase &most = *std::ranges::max_element(timed, {}, &RowCase::gain);
    double logs = 0;
    for (const RowCase &one : timed) logs += std::log(one.gain());
    char text[64];
    std::snprintf(text, sizeof text,
                  "%.2f on the mean: ", std::exp(logs / static_cast<double>(timed.size())));
    if (most.gain() < kLeastGain) return text + std::string("should go");
    char where[256];
    std::snprintf(where, sizeof where, "%s should be mended, %.2f times as long at %s",
                  most.general.c_str(), most.gain(), most.name.c_str());
    return std::string(text) + where;
}

void print_header() {
    std::printf("%-28s %-36s %11s  %-24s %11s %6s\n", "row", "case", "us", "later row", "us",
                "ratio");
}

void print_line(const RowCase &one) {
    std::printf("%-28s %-36s ", one.row.c_str(), one.name.c_str());
    if (one.failure.empty()) {
        std::printf("%11.1f  %-24s %11.1f %6.2f%s\n", one.ns / 1e3, one.general.c_str(),
                    one.general_ns / 1e3, one.gain(), one.gain() < kLeastGain ? " *" : "");
    } else {
        std::printf("FAILED: %s\n", one.failure.c_str());
    }
    std::fflush(stdout);
}

void print_verdicts(const std::vector<RowCase> &cases) {
    std::printf("* the row gains less than %.0f %%\n\n", 100 * (kLeastGain - 1));
    for (const std::vector<RowCase> &row : by_row(cases))
        std::printf("%-28s %s\n", row.front().row.c_str(), verdict(row).c_str());
}

nlohmann::json to_json(const std::vector<RowCase> &cases, const Run &run) {
    nlohmann::json result = nlohmann::json::array();
    for (const RowCase &one : cases) {
        result.push_back({{"row", one.row},
                          {"case", one.name},
                          {"ns", one.ns},
                          {"general", one.general},
                          {"general_ns", one.general_ns},
                          {"failure", one.failure},
                          {"type", name_of(run.settings.type)},
                          {"layout", name_of(run.settings.layout)},
                          {"threads", run.settings.threads},
                          {"cpu", run.cpu},
                          {"abilities", run.abilities},
                          {"date", run.date},
                          {"command", run.command}});
    }
    return result;
}

}  // namespace hk::bench
