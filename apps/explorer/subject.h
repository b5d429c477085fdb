#pragma once
// What is compiled and measured: a family of the benchmark, its settings, and cases by their names.

#include <string>
#include <vector>

#include "candidate.h"
#include "choice.h"

#include "program/flags.h"

namespace hk::explorer {

// Flags that say which.
struct SubjectFlags {
    bench::Choice choice;
    std::vector<std::string>
        shapes;  // cases of the family's lists, lists, .csv files, or input=1x56x56x64,…
    int threads = 1;

    void add_to(program::Flags &flags);
};

// Where its candidates are measured. On another machine nothing here asks for the device, which has
// the usual limits.
enum class Place { here, elsewhere };

struct Subject {
    bench::Family family;
    bench::Settings settings;
    std::vector<bench::CaseInfo> cases;
    Place place;

    // Throws InvalidArgument, with the names that there are, and where the device should be here
    // and is not. This process opens no driver: children may.
    explicit Subject(const SubjectFlags &flags, Place place = Place::here);

    // All ways of the table to run the case: its rows, in the table's order, as candidates.
    std::vector<Candidate> rows() const;
};

// The candidate to start from: the row of that name, or else the first that has the schedule,
// written ALGORITHM/SCHEDULE or just SCHEDULE, before others the row `selected`; an autoscheduler
// has the row's algorithm. Throws InvalidArgument with the schedules or rows that there are.
Candidate base_of(const Subject &subject, const KernelInfo &selected, const std::string &schedule,
                  const std::string &row);

}  // namespace hk::explorer
