#pragma once
// The sweep of one case: candidates until the time is up, each in a child, each result kept at
// once.

#include <optional>

#include "bases.h"
#include "record.h"

namespace hk::explorer {

struct SweepOptions {
    std::string strategy = "evolve";
    double budget = 600;  // seconds of a case
    uint64_t seed = 1;
    double excess = 1;  // estimates above so many times what there is are dropped
    int part = 1, parts = 1;
    double measure_seconds = 0.3;
    Limits limits;

    std::string part_name() const { return std::to_string(part) + "/" + std::to_string(parts); }
    // Whether a candidate is one of the part's: the same on every machine.
    bool is_ours(const std::string &candidate) const;
};

// The candidates of one case that are to be measured, in the strategy's order.
class CaseSearch {
public:
    CaseSearch(const CaseSpace &space, const SweepOptions &options);
    CaseSearch(const CaseSearch &) = delete;
    CaseSearch &operator=(const CaseSearch &) = delete;

    Candidate at(const Point &point) const;
    const std::vector<Candidate> &bases() const { return bases_; }  // without knobs
    Search &order() const { return *order_; }

private:
    std::vector<Candidate> bases_;
    std::unique_ptr<Search> order_;
};

// What a child does with a candidate: evaluate(), or what a test puts there.
using Evaluate = std::function<nlohmann::json(const Candidate &, Parent &)>;

class CaseSweep {
public:
    // Goes on after what the journal has of the case.
    CaseSweep(const std::string &name, const CaseSpace &space, const SweepOptions &options,
              const Cores &cores, bool alone, Evaluate evaluate, Journal &journal);

    void run();

    int64_t dropped() const { return search_.order().dropped(); }

private:
    void record_refused();
    void resume();
    void finish(const Finished &finished);
    void tell(const Point &point, const Record &record);
    void start_more();
    void show(bool last);
    double elapsed() const;

    std::string name_;
    const CaseSpace &space_;
    SweepOptions options_;
    Evaluate evaluate_;
    Journal &journal_;
    Workers workers_;
    CaseSearch search_;
    std::map<size_t, Point> running_;
    std::map<size_t, int> failures_, worked_;  // of a base: failures in a row, and all that worked
    std::optional<Record> best_;
    size_t started_ = 0, done_ = 0, failed_ = 0;
    bool exhausted_ = false;
    double before_ = 0;  // seconds of earlier runs
    std::chrono::steady_clock::time_point start_, shown_;
};

}  // namespace hk::explorer
