#pragma once
// What was measured, as a table for people and as JSON for programs.

#include <nlohmann/json_fwd.hpp>

#include "family.h"

namespace hk::bench {

struct PeerTime {
    std::string variant;
    double ns = 0;
    bool same_task = true;  // counts in the ratio
};

struct Result {
    std::string family, list, name, kind;
    int64_t count = 1;
    std::string kernel, row;
    std::string selected;  // the row that selection takes, where another one was asked for
    double work = 0;       // in the run's unit
    std::map<std::string, Shape> shapes;
    std::map<std::string, std::string> fields;  // as CaseInfo has them
    DataType type = DataType::f32, output_type = DataType::f32;
    double ns = 0;  // 0: not timed, see failure
    double max_error = 0;
    std::string failure;
    bool skipped = false;  // a row was asked for that does not take the case; failure says why
    std::map<std::string, PeerTime> peers;

    // The time of the fastest peer that does the same task over ours; 0 without one.
    double ratio() const;
};

// Of the whole run.
struct Run {
    Settings settings;
    std::string command, cpu, abilities, date;  // of the CPU: machine.h
    std::vector<PeerLibrary> peers;
    Unit unit;
    double peak = 0;  // in the unit, a nanosecond; 0 where it has none

    std::vector<std::string> versions() const;  // of the peers
    std::vector<std::string> columns() const;   // all names of contestants
};

std::string today();

void print_header(const Run &run);
void print_row(const Result &result, const Run &run);

// Geometric means of one list, or of all where it is empty, and of its kinds of cases, every
// distinct case weighing the same.
void print_summary(const std::string &list, const std::vector<Result> &results, const Run &run);

nlohmann::json to_json(const std::vector<Result> &results, const Run &run);

}  // namespace hk::bench
