#include "bases.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "compiled.h"
#include "hk/error.h"
#include "on_demand.h"

namespace hk::explorer {

using nlohmann::json;

namespace {

bool is_named(const Candidate &candidate, const std::vector<std::string> &names) {
    return std::any_of(names.begin(), names.end(), [&](const std::string &name) {
        return name == candidate.schedule || name == candidate.algorithm + "/" + candidate.schedule;
    });
}

std::string in_project(const std::string &file) {
    const std::string folder = HK_SOURCES "/";
    return file.starts_with(folder) ? file.substr(folder.size()) : file;
}

// What the schedule says of its knobs; where the chooser's own don't go together, those of a row.
void listen(BaseOfCase &entry) {
    std::vector<std::string> tries = {""};
    tries.insert(tries.end(), entry.base.starts.begin(), entry.base.starts.end());
    std::string reason;
    for (const std::string &knobs : tries) {
        Candidate candidate = entry.candidate;
        candidate.knobs = knobs;
        try {
            const schedules::KnobSpace space = knob_space(candidate);
            entry.base.knobs = space.knobs;
            if (!space.file.empty())
                entry.chooser = in_project(space.file) + ":" + std::to_string(space.line);
            return;
        } catch (const std::exception &error) {
            if (reason.empty()) reason = error.what();
        }
    }
    entry.refused = reason;
}

BaseOfCase &entry_of(std::vector<BaseOfCase> &bases, Candidate candidate) {
    candidate.knobs.clear();
    const std::string name = candidate.base();
    for (BaseOfCase &entry : bases)
        if (entry.base.name == name) return entry;
    BaseOfCase &entry = bases.emplace_back();
    entry.base.name = name;
    entry.candidate = candidate;
    entry.refused = "none of its rows was asked";
    return entry;
}

void add_rows(CaseSpace &space, const Subject &subject, const json &seen,
              const std::vector<std::string> &schedules) {
    const std::vector<const KernelInfo *> rows = subject.family.rows(subject.settings);
    for (size_t i = 0; i < rows.size(); i++) {
        const Candidate candidate = Candidate::of(*rows[i]);
        if (schedules.empty() ? candidate.schedule == "root" : !is_named(candidate, schedules))
            continue;
        BaseOfCase &entry = entry_of(space.bases, candidate);
        const std::string why = seen["refused"].value(std::to_string(i), "");
        const bool first_that_takes = why.empty() && !entry.refused.empty();
        if (first_that_takes) {
            entry.candidate.where = candidate.where;
            entry.candidate.family = candidate.family;
            entry.refused.clear();
        } else if (entry.rows.empty()) {
            entry.refused = why;
        }
        entry.rows += (entry.rows.empty() ? "" : ", ") + std::string(rows[i]->row);
        entry.base.starts.push_back(
            schedules::knobs_for(Halide::Target(candidate.target()), candidate.knobs));
    }
}

void add_others(CaseSpace &space, const Subject &subject,
                const std::vector<std::string> &schedules) {
    const Candidate chosen = Candidate::of(*space.row);
    std::vector<std::string> names = schedules;
    if (names.empty()) names = autoschedulers(subject.settings.device.type());
    for (const std::string &name : names) {
        if (std::any_of(space.bases.begin(), space.bases.end(),
                        [&](const BaseOfCase &entry) { return is_named(entry.candidate, {name}); }))
            continue;
        Candidate candidate = chosen;
        if (name == "root")
            candidate.schedule = "root";
        else
            candidate = base_of(subject, *space.row, name, "");
        entry_of(space.bases, candidate).refused.clear();
    }
}

}  // namespace

CaseSpace space_of(Prepared &prepared, const std::vector<std::string> &schedules,
                   const Cores &cores, const Limits &limits) {
    const Subject &subject = prepared.subject();
    load_all(subject.family.rows(subject.settings));
    json seen;
    try {
        seen = Workers::run(cores, limits, [&](Parent &) { return survey(prepared); });
    } catch (const Failure &failure) {
        throw InvalidArgument(failure.what());
    }
    CaseSpace space;
    space.work = seen["work"];
    space.shapes = seen["shapes"];
    for (const auto &[name, shape] : space.shapes.items()) {
        double elements = 1;
        for (const double extent : shape) elements *= extent;
        space.bytes += elements * static_cast<double>(size_of(subject.settings.type));
    }
    const std::vector<const KernelInfo *> rows = subject.family.rows(subject.settings);
    for (size_t i = 0; i < rows.size(); i++)
        if (!seen["refused"].contains(std::to_string(i))) space.taking.push_back(rows[i]);
    space.row = rows[seen["row"].get<size_t>()];
    if (seen.contains("sizes")) space.sizes = sizes_of(seen["sizes"]);
    add_rows(space, subject, seen, schedules);
    add_others(space, subject, schedules);
    for (BaseOfCase &entry : space.bases)
        if (entry.refused.empty() && !is_autoscheduler(entry.candidate.schedule)) listen(entry);
    return space;
}

bool is_legal(Candidate candidate, const std::string &knobs, double excess) {
    if (is_autoscheduler(candidate.schedule)) return true;
    candidate.knobs = knobs;
    try {
        const schedules::KnobSpace space = knob_space(candidate);
        return std::all_of(
            space.estimates.begin(), space.estimates.end(), [&](const schedules::Estimate &e) {
                return static_cast<double>(e.uses) <= excess * static_cast<double>(e.has);
            });
    } catch (const std::exception &) {
        return false;
    }
}

json to_json(const CaseSpace &space, const std::string &name) {
    const Candidate row = Candidate::of(*space.row);
    json bases = json::array();
    for (const BaseOfCase &entry : space.bases) {
        if (!entry.refused.empty()) continue;
        json knobs = json::array();
        for (const schedules::Knob &knob : entry.base.knobs)
            knobs.push_back({{"name", knob.name}, {"value", knob.value}, {"legal", knob.legal}});
        std::string where;
        for (const Constraint &c : entry.candidate.where) {
            const char *relations[] = {"=", ">=", "<=", "%"};
            where += (where.empty() ? "" : " ") + std::string(c.field) +
                     relations[static_cast<int>(c.relation)] + std::to_string(c.value) +
                     (c.relation == Constraint::Relation::multiple_of ? "=0" : "");
        }
        bases.push_back({{"name", entry.base.name},
                         {"family", entry.candidate.family},
                         {"algorithm", entry.candidate.algorithm},
                         {"schedule", entry.candidate.schedule},
                         {"rows", entry.rows},
                         {"where", where},
                         {"chooser", entry.chooser},
                         {"knobs", knobs}});
    }
    return {{"name", name},
            {"work", space.work},
            {"shapes", space.shapes},
            {"bytes", space.bytes},
            {"row",
             {{"name", space.row->row},
              {"candidate", row.name()},
              {"base", row.base()},
              {"knobs", row.knobs}}},
            {"bases", bases}};
}

std::string needed_knobs(Candidate candidate, const std::string &full) {
    const auto values_of = [&](const std::string &knobs) {
        candidate.knobs = knobs;
        return knob_values(candidate);
    };
    std::vector<std::string> kept;
    std::istringstream in(full);
    for (std::string knob; std::getline(in, knob, ',');) kept.push_back(knob);
    const auto join = [](const std::vector<std::string> &knobs) {
        std::string text;
        for (const std::string &knob : knobs) text += (text.empty() ? "" : ",") + knob;
        return text;
    };
    const auto wanted = values_of(full);
    for (size_t i = kept.size(); i-- > 0;) {
        std::vector<std::string> fewer = kept;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        try {
            if (values_of(join(fewer)) == wanted) kept = fewer;
        } catch (const std::exception &) {
        }
    }
    return join(kept);
}

}  // namespace hk::explorer
