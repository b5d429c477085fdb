#include "measure_case.h"

#include <algorithm>

#include "hk/error.h"
#include "usual_limits.h"

namespace hk::bench {

namespace {

// The fastest variant of each library.
std::vector<Contestant> best_variants(std::vector<Contestant> all) {
    std::vector<Contestant> best;
    for (auto first = all.begin(); first != all.end();) {
        const auto last = std::find_if(
            first, all.end(), [&](const Contestant &c) { return c.library != first->library; });
        auto fastest = first;
        if (last - first > 1) {
            std::vector<double> times;
            for (auto i = first; i != last; ++i) times.push_back(probe(i->work));
            fastest = first + (std::min_element(times.begin(), times.end()) - times.begin());
        }
        best.push_back(std::move(*fastest));
        first = last;
    }
    return best;
}

std::unique_ptr<Case> prepared(const CaseInfo &info) try {
    return info.prepare();
} catch (const InvalidArgument &error) {
    throw BadCase(info.name + ": " + error.what());
}

}  // namespace

DeviceLimits limits_of(const Settings &settings) {
    return settings.limits ? *settings.limits : absent::limits_of(settings.device);
}

Result measure_case(const Family &family, const CaseInfo &info, const Settings &settings,
                    const MeasureOptions &options) {
    Result result;
    result.family = family.name;
    result.list = info.list;
    result.name = info.name;
    result.kind = info.kind;
    result.count = info.count;
    result.fields = info.fields;
    result.type = info.type.value_or(settings.type);
    result.output_type = info.type.value_or(settings.output_type);
    try {
        const std::unique_ptr<Case> ours = prepared(info);
        ours->use(settings.row.empty() ? info.row : &row_named(family, settings));
        if (const KernelInfo *kernel = ours->kernel()) {
            result.kernel = kernel->name;
            result.row = kernel->row;
            if (ours->usual() && ours->usual() != kernel) result.selected = ours->usual()->row;
        } else if (family.has_rows) {
            throw InvalidArgument("no row of " + family.name + " takes this case");
        }
        result.work = ours->work();
        result.shapes = ours->shapes();
        const Check check = ours->check();
        result.max_error = check.max_error;
        result.failure = check.failure;
        if (!check.failure.empty()) return result;

        std::vector<Contestant> peers;
        if (settings.peers) peers = best_variants(ours->peers());
        std::vector<Work> work = {[&](int count) { ours->run(count); }};
        for (const Contestant &peer : peers) work.push_back(peer.work);
        const std::vector<double> times = measure(work, options);
        result.ns = times[0];
        for (size_t i = 0; i < peers.size(); ++i) {
            result.peers[peers[i].library] = {peers[i].variant, times[i + 1], peers[i].same_task};
        }
    } catch (const BadCase &) {
        throw;
    } catch (const InvalidArgument &error) {
        result.failure = error.what();
        result.skipped = !settings.row.empty();
    } catch (const Error &error) {
        result.failure = error.what();
    }
    return result;
}

}  // namespace hk::bench
