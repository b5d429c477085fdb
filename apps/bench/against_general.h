#pragma once
// Rows of the table against the more general rows after them, each on its own shapes: those of the
// lists that selection gives to it.

#include <nlohmann/json_fwd.hpp>

#include "results.h"

namespace hk::bench {

// A row on one of its shapes.
struct RowCase {
    std::string row, name;
    double ns = 0;
    std::string general;  // the fastest later row that takes the shape too
    double general_ns = 0;
    std::string failure;  // empty: both were timed

    double gain() const { return general_ns / ns; }  // above 1: the row is worth its place
};

// A special row has to be so much faster than what would run without it.
constexpr double kLeastGain = 1.1;

// Of the lists' cases whose name contains the filter up to three for each row: least, middle and
// most work. Rows that no later one could stand in for are left out. Only settings.row where that
// is named. `tell`: gets each as soon as it is there.
std::vector<RowCase> against_general(const Family &family, const std::vector<std::string> &lists,
                                     const std::string &filter, const Settings &settings,
                                     const MeasureOptions &how,
                                     const std::function<void(const RowCase &)> &tell);

// Of the cases of one row: the row should go, or the general one should be mended, and where.
std::string verdict(const std::vector<RowCase> &cases);

void print_header();  // of lines for cases
void print_line(const RowCase &one);
void print_verdicts(const std::vector<RowCase> &cases);  // a line for each row

nlohmann::json to_json(const std::vector<RowCase> &cases, const Run &run);

}  // namespace hk::bench
