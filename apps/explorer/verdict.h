#pragma once
// The lines that a sweep has found for the table.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "record.h"

namespace hk::explorer {

// The least ratio that is worth a line.
constexpr double kMargin = 1.02;

// That line of a schedule by hand: of the row that selection takes, or of a new one before it, a
// GPU's with its budget. Empty where the ratio is below `margin`.
std::string line_for_table(const nlohmann::json &sweep, const nlohmann::json &of,
                           const Record &best, double margin = kMargin);

// Adds the line for the best to each case of the sweep, for the report. Where the row was a
// candidate too, the best is also compared with the row as compiled here: code placement alone
// shifts timings.
void note_lines(nlohmann::json &sweep, const std::vector<Record> &records);

}  // namespace hk::explorer
