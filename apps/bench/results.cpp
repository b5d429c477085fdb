#include "results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

namespace hk::bench {

using nlohmann::json;

double Result::ratio() const {
    double fastest = 0;
    for (const auto &[library, peer] : peers) {
        if (peer.same_task && (fastest == 0 || peer.ns < fastest)) fastest = peer.ns;
    }
    return ns > 0 ? fastest / ns : 0;
}

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    std::map<std::string, std::string> fields;
    for (std::string line; std::getline(file, line) && !line.empty();) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos || colon + 2 > line.size()) continue;
        fields[line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1)] =
            line.substr(colon + 2);
    }
    if (fields["model name"].empty()) return "unknown";
    return fields["model name"] + " (family " + fields["cpu family"] + ", model " +
           fields["model"] + ")";
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

void print_header(const Run &run, const std::vector<std::string> &libraries) {
    std::printf("%-36s %-28s %11s %9s %6s", "case", "row", "ours, us", "GFLOP/s", "peak");
    for (const std::string &library : libraries) std::printf(" %15s", library.c_str());
    std::printf(" %6s\n", run.settings.peers ? "ratio" : "");
}

void print_row(const Result &r, const Run &run, const std::vector<std::string> &libraries) {
    std::printf("%-36s %-28s ", r.name.c_str(), r.row.c_str());
    if (!r.failure.empty()) {
        std::printf("%s: %s\n", r.skipped ? "skipped" : "FAILED", r.failure.c_str());
        std::fflush(stdout);
        return;
    }
    const double rate = r.operations / r.ns;
    std::printf("%11.1f %9.1f %5.0f%%", r.ns / 1e3, rate, 100 * rate / run.peak);
    for (const std::string &library : libraries) {
        const auto peer = r.peers.find(library);
        if (peer == r.peers.end()) {
            std::printf(" %15s", "-");
        } else {
            std::printf(" %15.1f", peer->second.ns / 1e3);
        }
    }
    if (r.ratio() > 0) std::printf(" %6.2f", r.ratio());
    std::printf("\n");
    std::fflush(stdout);
}

void print_summary(const std::string &list, const std::vector<Result> &results) {
    double ratios = 0, rates = 0;
    int timed = 0, compared = 0, behind = 0, failed = 0;
    for (const Result &r : results) {
        if (r.list != list || r.skipped) continue;
        if (!r.failure.empty()) {
            ++failed;
            continue;
        }
        ++timed;
        rates += std::log(r.operations / r.ns);
        if (r.ratio() > 0) {
            ++compared;
            ratios += std::log(r.ratio());
            behind += r.ratio() < 1;
        }
    }
    std::printf("%s: ", list.c_str());
    if (timed > 0) {
        std::printf("%d cases, geometric mean %.1f GFLOP/s", timed, std::exp(rates / timed));
    }
    if (compared > 0) {
        std::printf(", ratio to the fastest peer %.3f, slower than it in %d",
                    std::exp(ratios / compared), behind);
    }
    if (failed > 0) std::printf("%s%d FAILED", timed > 0 ? ", " : "", failed);
    std::printf("\n\n");
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
        const double rate = r.ns > 0 ? r.operations / r.ns : 0;
        json peers = json::object(), others = json::object(), variants = json::object();
        for (const auto &[library, peer] : r.peers) {
            (peer.same_task ? peers : others)[library] = peer.ns;
            variants[library] = peer.variant;
        }
        array.push_back({{"family", r.family},
                         {"list", r.list},
                         {"case", r.name},
                         {"count", r.count},
                         {"shapes", r.shapes},
                         {"type", name_of(s.type)},
                         {"layout", name_of(s.layout)},
                         {"device", s.device.name()},
                         {"threads", s.threads},
                         {"kernel", r.kernel},
                         {"row", r.row},
                         {"ns", number_or_null(r.ns)},
                         {"gflops", number_or_null(rate)},
                         {"peers", peers},
                         {"other_layouts", others},
                         {"peer_variants", variants},
                         {"ratio", number_or_null(r.ratio())},
                         {"peak_gflops", number_or_null(run.peak)},
                         {"peak_fraction", number_or_null(r.ns > 0 ? rate / run.peak : 0)},
                         {"max_error", r.max_error},
                         {"failure", r.failure.empty() ? json(nullptr) : json(r.failure)},
                         {"peer_versions", run.versions},
                         {"cpu", run.cpu},
                         {"date", run.date},
                         {"command", run.command}});
    }
    return array;
}

}  // namespace hk::bench
