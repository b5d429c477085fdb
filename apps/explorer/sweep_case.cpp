#include "sweep_case.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace hk::explorer {

using nlohmann::json;

// FNV-1a: std::hash may differ between libraries.
bool SweepOptions::is_ours(const std::string &candidate) const {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : candidate) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return static_cast<int>((hash >> 32) % static_cast<uint64_t>(parts)) == part - 1;
}

CaseSearch::CaseSearch(const CaseSpace &space, const SweepOptions &options) {
    std::vector<Base> bases;
    for (const BaseOfCase &entry : space.bases) {
        if (!entry.refused.empty()) continue;
        bases_.push_back(entry.candidate);
        bases.push_back(entry.base);
    }
    const auto legal = [this, options](const Point &point) {
        const Candidate candidate = at(point);
        return options.is_ours(candidate.name()) &&
               is_legal(candidate, candidate.knobs, options.excess);
    };
    order_ = Search::of(options.strategy, std::move(bases), legal, options.seed);
}

Candidate CaseSearch::at(const Point &point) const {
    Candidate candidate = bases_[point.base];
    candidate.knobs = knobs_of(order_->bases()[point.base], point);
    return candidate;
}

CaseSweep::CaseSweep(const std::string &name, const CaseSpace &space, const SweepOptions &options,
                     const Cores &cores, bool alone, Evaluate evaluate, Journal &journal)
    : name_(name),
      space_(space),
      options_(options),
      evaluate_(std::move(evaluate)),
      journal_(journal),
      workers_(cores, options.limits, alone),
      search_(space, options) {}

double CaseSweep::elapsed() const {
    return before_ +
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void CaseSweep::resume() {
    for (const Record &record : journal_.records()) {
        if (record.of != name_) continue;
        before_ = std::max(before_, record.at);
        if (record.status == "does not take") continue;
        done_++;
        failed_ += record.failed();
        if (record.ok() && (!best_ || record.ratio() > best_->ratio())) best_ = record;
        for (size_t base = 0; base < search_.bases().size(); base++) {
            const Candidate &candidate = search_.bases()[base];
            if (candidate.algorithm != record.algorithm || candidate.schedule != record.schedule ||
                candidate.fixed_text() != record.fixed)
                continue;
            const auto point = point_of(search_.order().bases(), base, record.knobs);
            if (!point) continue;
            tell(*point, record);
        }
    }
}

void CaseSweep::record_refused() {
    for (const BaseOfCase &entry : space_.bases) {
        if (entry.refused.empty()) continue;
        const auto &records = journal_.records();
        if (std::any_of(records.begin(), records.end(), [&](const Record &record) {
                return record.of == name_ && record.candidate == entry.base.name;
            }))
            continue;
        journal_.append({.of = name_,
                         .candidate = entry.base.name,
                         .algorithm = entry.candidate.algorithm,
                         .schedule = entry.candidate.schedule,
                         .fixed = entry.candidate.fixed_text(),
                         .knobs = "",
                         .status = "does not take",
                         .reason = entry.refused,
                         .at = elapsed(),
                         .part = options_.part_name()});
    }
}

// A base whose candidates fail three times in a row is left, its time better spent on others; each
// that worked before is worth one more failure.
void CaseSweep::tell(const Point &point, const Record &record) {
    constexpr int patience = 3;
    search_.order().tell(point, record.ok() ? 1 / record.ratio() : Search::failed);
    failures_[point.base] = record.ok() ? 0 : failures_[point.base] + 1;
    worked_[point.base] += record.ok();
    if (failures_[point.base] >= patience + worked_[point.base]) search_.order().leave(point.base);
}

void CaseSweep::finish(const Finished &finished) {
    const Point point = running_.at(finished.id);
    running_.erase(finished.id);
    const Candidate candidate = search_.at(point);
    Record record{.of = name_,
                  .candidate = candidate.name(),
                  .algorithm = candidate.algorithm,
                  .schedule = candidate.schedule,
                  .fixed = candidate.fixed_text(),
                  .knobs = candidate.knobs,
                  .status = finished.status,
                  .reason = finished.reason,
                  .compile_seconds = finished.compile_seconds,
                  .seconds = finished.seconds,
                  .at = elapsed(),
                  .part = options_.part_name()};
    if (record.ok()) {
        record.ns = finished.result["ns"];
        record.table_ns = finished.result["table_ns"];
        record.max_error = finished.result["max_error"];
        record.rate = space_.work / record.ns;
    }
    journal_.append(record);
    done_++;
    failed_ += record.failed();
    tell(point, record);
    if (record.ok() && (!best_ || record.ratio() > best_->ratio())) best_ = record;
}

void CaseSweep::start_more() {
    while (!exhausted_ && workers_.has_room() && elapsed() < options_.budget) {
        const auto point = search_.order().next();
        if (!point) {
            exhausted_ = true;
            return;
        }
        const size_t id = started_++;
        running_.emplace(id, *point);
        const Candidate candidate = search_.at(*point);
        workers_.start(id, [&](Parent &parent) { return evaluate_(candidate, parent); });
    }
}

// On a terminal a line that changes; else one every ten seconds.
void CaseSweep::show(bool last) {
    const bool terminal = isatty(STDERR_FILENO);
    const auto now = std::chrono::steady_clock::now();
    const double since = std::chrono::duration<double>(now - shown_).count();
    if (!last && since < (terminal ? 0.2 : 10)) return;
    shown_ = now;
    const double part = std::min(1.0, elapsed() / options_.budget);
    const double left = std::max(0.0, options_.budget - elapsed());
    std::string line = name_ + " ";
    if (terminal) {
        constexpr int width = 20;
        for (int i = 0; i < width; i++) line += i < part * width ? "█" : "░";
    }
    char text[512];
    std::snprintf(text, sizeof text, " %zu done, %zu failed, ", done_, failed_);
    line += text;
    if (best_) {
        std::snprintf(text, sizeof text, "best %.4f ms, %.3f of the table's speed (%s), ",
                      best_->ns * 1e-6, best_->ratio(), best_->candidate.c_str());
        line += text;
    }
    std::snprintf(text, sizeof text, "%d:%02d left", static_cast<int>(left) / 60,
                  static_cast<int>(left) % 60);
    line += text;
    std::fprintf(stderr, terminal ? "\r\033[K%s%s" : "%s%s", line.c_str(),
                 !terminal || last ? "\n" : "");
}

void CaseSweep::run() {
    start_ = shown_ = std::chrono::steady_clock::now();
    resume();
    record_refused();
    while (elapsed() < options_.budget) {
        start_more();
        if (workers_.size() == 0) break;
        const double left = options_.budget - elapsed();
        for (const Finished &finished : workers_.wait(std::clamp(left, 0.0, 0.2))) finish(finished);
        show(false);
    }
    workers_.stop();
    while (workers_.size() > 0)
        for (const Finished &finished : workers_.wait(1)) finish(finished);
    show(true);
}

}  // namespace hk::explorer
