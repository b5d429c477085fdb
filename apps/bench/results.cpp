#include "results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

namespace hk::bench {

using nlohmann::json;

double Result::ratio() const {
    double fastest = 0;
    for (const auto &[library, peer] : peers) {
        if (peer.same_task && (fastest == 0 || peer.ns < fastest)) fastest = peer.ns;
    }
    return ns > 0 ? fastest / ns : 0;
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

std::vector<std::string> Run::versions() const {
    std::vector<std::string> result;
    for (const PeerLibrary &library : peers) {
        if (!library.version.empty()) result.push_back(library.version);
    }
    return result;
}

std::vector<std::string> Run::columns() const {
    std::vector<std::string> result;
    for (const PeerLibrary &library : peers) {
        result.insert(result.end(), library.names.begin(), library.names.end());
    }
    return result;
}

namespace {

int width_of(const std::string &column) { return std::max(15, static_cast<int>(column.size())); }

// One line of a summary: of the cases that were timed.
void print_means(const std::string &name, const std::vector<const Result *> &results,
                 const Run &run) {
    double ratios = 0, rates = 0, lowest = 0;
    int timed = 0, compared = 0, behind = 0, failed = 0;
    for (const Result *r : results) {
        if (!r->failure.empty()) {
            ++failed;
            continue;
        }
        ++timed;
        rates += std::log(r->work / r->ns);
        if (r->ratio() > 0) {
            lowest = compared++ == 0 ? r->ratio() : std::min(lowest, r->ratio());
            ratios += std::log(r->ratio());
            behind += r->ratio() < 1;
        }
    }
    std::printf("%s: ", name.c_str());
    if (timed > 0) {
        std::printf("%d cases, geometric mean %.1f %s", timed, std::exp(rates / timed),
                    run.unit.name.c_str());
    }
    if (compared > 0) {
        std::printf(", ratio to the fastest peer %.3f, %.3f at least, slower than it in %d",
                    std::exp(ratios / compared), lowest, behind);
    }
    for (const std::string &column : run.columns()) {
        double sum = 0;
        int count = 0;
        for (const Result *r : results) {
            const auto peer = r->peers.find(column);
            if (peer == r->peers.end()) continue;
            sum += std::log(peer->second.ns / r->ns);
            ++count;
        }
        if (count > 0) {
            std::printf("; to %s %.3f", column.c_str(), std::exp(sum / count));
            if (count < timed) std::printf(" (%d cases)", count);
        }
    }
    if (failed > 0) std::printf("%s%d FAILED", timed > 0 ? ", " : "", failed);
    std::printf("\n");
}

}  // namespace

void print_header(const Run &run) {
    std::printf("%-36s %-28s %11s %9s", "case", "row", "ours, us", run.unit.name.c_str());
    if (run.peak > 0) std::printf(" %6s", "peak");
    for (const std::string &column : run.columns()) {
        std::printf(" %*s", width_of(column), column.c_str());
    }
    std::printf(" %6s\n", run.settings.peers ? "ratio" : "");
}

void print_row(const Result &r, const Run &run) {
    std::printf("%-36s %-28s ", r.name.c_str(), r.row.c_str());
    if (!r.failure.empty()) {
        std::printf("%s: %s\n", r.skipped ? "skipped" : "FAILED", r.failure.c_str());
        std::fflush(stdout);
        return;
    }
    const double rate = r.work / r.ns;
    std::printf("%11.1f %9.1f", r.ns / 1e3, rate);
    if (run.peak > 0) std::printf(" %5.0f%%", 100 * rate / run.peak);
    for (const std::string &column : run.columns()) {
        const auto peer = r.peers.find(column);
        if (peer == r.peers.end()) {
            std::printf(" %*s", width_of(column), "-");
        } else {
            std::printf(" %*.1f", width_of(column), peer->second.ns / 1e3);
        }
    }
    if (r.ratio() > 0) std::printf(" %6.2f", r.ratio());
    if (!r.selected.empty()) std::printf("  selection takes %s", r.selected.c_str());
    std::printf("\n");
    std::fflush(stdout);
}

void print_summary(const std::string &list, const std::vector<Result> &results, const Run &run) {
    std::vector<const Result *> all;
    std::map<std::string, std::vector<const Result *>> kinds;
    std::set<std::string> seen;
    for (const Result &r : results) {
        const bool wanted = list.empty() ? seen.insert(r.name).second : r.list == list;
        if (!wanted || r.skipped) continue;
        all.push_back(&r);
        if (!r.kind.empty()) kinds[r.kind].push_back(&r);
    }
    if (all.empty()) return;
    print_means(list.empty() ? "all lists" : list, all, run);
    if (kinds.size() > 1) {
        for (const auto &[kind, some] : kinds) print_means("  " + kind, some, run);
    }
    std::printf("\n");
    std::fflush(stdout);
}

json to_json(const std::vector<Result> &results, const Run &run) {
    const Settings &s = run.settings;
    const auto number_or_null = [](double value) {
        return value > 0 ? json(value) : json(nullptr);
    };
    json array = json::array();
    for (const Result &r : results) {
        if (r.skipped) continue;
        const double rate = r.ns > 0 ? r.work / r.ns : 0;
        json peers = json::object(), others = json::object(), variants = json::object();
        for (const auto &[library, peer] : r.peers) {
            (peer.same_task ? peers : others)[library] = peer.ns;
            variants[library] = peer.variant;
        }
        array.push_back(
            {{"family", r.family},
             {"list", r.list},
             {"case", r.name},
             {"kind", r.kind},
             {"count", r.count},
             {"shapes", r.shapes},
             {"fields", r.fields},
             {"type", name_of(r.type)},
             {"output_type", name_of(r.output_type)},
             {"allow_tf32", s.allow_tf32},
             {"layout", name_of(s.layout)},
             {"device", s.device.name()},
             {"threads", s.threads},
             {"kernel", r.kernel},
             {"row", r.row},
             {"ns", number_or_null(r.ns)},
             {"unit", run.unit.name},
             {"rate", number_or_null(rate)},
             {"peers", peers},
             {"other_layouts", others},
             {"peer_variants", variants},
             {"ratio", number_or_null(r.ratio())},
             {"peak", number_or_null(run.peak)},
             {"peak_fraction", number_or_null(r.ns > 0 && run.peak > 0 ? rate / run.peak : 0)},
             {"max_error", r.max_error},
             {"failure", r.failure.empty() ? json(nullptr) : json(r.failure)},
             {"peer_versions", run.versions()},
             {"cpu", run.cpu},
             {"abilities", run.abilities},
             {"date", run.date},
             {"command", run.command}});
    }
    return array;
}

}  // namespace hk::bench
