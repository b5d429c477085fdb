#include "evaluate.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "HalideRuntime.h"
#include "compiled.h"
#include "hk/error.h"
#include "measure.h"

namespace hk::explorer {

using nlohmann::json;

Prepared::Prepared(const Subject &subject, const bench::CaseInfo &info)
    : subject_(subject), info_(info) {
    halide_set_num_threads(1);  // nothing starts a thread before the children are made
    if (subject.settings.device.is_cpu()) case_ = info.prepare();
}

bench::Case &Prepared::get() {
    if (!case_) case_ = info_.prepare();
    return *case_;
}

const KernelInfo &Prepared::selected() {
    const KernelInfo *row = info_.row;
    if (!row) {
        get().use(nullptr);
        row = get().kernel();
    }
    if (!row) throw InvalidArgument("no row of " + subject_.family.name + " takes " + info_.name);
    return *row;
}

json survey(Prepared &prepared) {
    bench::Case &test = prepared.get();
    const KernelInfo &selected = prepared.selected();
    const std::vector<const KernelInfo *> rows =
        prepared.subject().family.rows(prepared.subject().settings);
    const auto at = std::find(rows.begin(), rows.end(), &selected);
    if (at == rows.end()) throw Error(std::string("the table has no row ") + selected.row);
    json refused = json::object();
    for (size_t i = 0; i < rows.size(); i++) {
        try {
            arguments_of(*rows[i], [&](const KernelInfo &listener) {
                test.use(&listener);
                test.run(1);
            });
        } catch (const std::exception &error) {
            refused[std::to_string(i)] = error.what();
        }
    }
    return {{"work", test.work()},
            {"shapes", test.shapes()},
            {"row", at - rows.begin()},
            {"refused", refused}};
}

json evaluate(Prepared &prepared, const Candidate &candidate, double seconds, Parent &parent) {
    bench::Case &test = prepared.get();
    const KernelInfo &selected = prepared.selected();
    CallArguments sizes;
    if (is_autoscheduler(candidate.schedule)) {
        sizes = arguments_of(selected, [&](const KernelInfo &listener) {
            test.use(&listener);
            test.run(1);
        });
        sizes.threads = prepared.subject().settings.threads;
    }
    const Compiled compiled(candidate, sizes);
    parent.say_compiled();
    test.use(&compiled.kernel());
    if (prepared.subject().settings.device.is_cpu())
        halide_set_num_threads(prepared.subject().settings.threads);
    const bench::Check check = test.check();
    if (!check.failure.empty()) throw Failure("wrong", check.failure);
    parent.wait_for_turn();
    bench::use_threads(prepared.subject().settings);
    const auto runs = [&test](const KernelInfo *kernel) -> bench::Work {
        return [&test, kernel](int count) {
            test.use(kernel);
            test.run(count);
        };
    };
    const bench::Work ours = runs(&compiled.kernel()), table = runs(&selected);
    // Not worth the rounds.
    constexpr double far_slower = 1.6;
    const double quick = bench::probe(ours), table_quick = bench::probe(table);
    if (quick > far_slower * table_quick)
        return {{"ns", quick}, {"table_ns", table_quick}, {"max_error", check.max_error}};
    bench::MeasureOptions how;
    how.budget_seconds = seconds;
    const std::vector<bench::Work> work = {table, ours};
    const std::vector<double> ns = bench::measure(work, how);
    return {{"ns", ns[1]}, {"table_ns", ns[0]}, {"max_error", check.max_error}};
}

namespace {

// a = b + 3 c, of three arrays of 64 MiB in all threads together; GB/s, three a step counted.
double triad(int threads) {
    constexpr int64_t size = 8 << 20;
    const int64_t part = size / threads;
    using Clock = std::chrono::steady_clock;
    std::vector<double> arrays[3];
    for (auto &array : arrays) array.assign(size, 1);
    double best = 0;
    for (int round = 0; round < 8; round++) {
        const auto work = [&](int64_t first) {
            double *a = arrays[0].data() + first;
            const double *b = arrays[1].data() + first, *c = arrays[2].data() + first;
            for (int64_t i = 0; i < part; i++) a[i] = b[i] + 3 * c[i];
        };
        const auto start = Clock::now();
        std::vector<std::thread> others;
        for (int thread = 1; thread < threads; thread++) others.emplace_back(work, thread * part);
        work(0);
        for (std::thread &thread : others) thread.join();
        const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
        best = std::max(best, 3.0 * sizeof(double) * part * threads / ns);
    }
    return best;
}

}  // namespace

json ceilings(const Subject &subject, Parent &parent) {
    parent.wait_for_turn();
    if (!subject.settings.device.is_cpu())
        return {{"peak", nullptr}, {"peak_of", ""}, {"memory", nullptr}};
    bench::use_threads(subject.settings);
    const bench::Unit unit = subject.family.unit(subject.settings);
    constexpr double seconds = 0.3;
    return {{"peak", unit.peak ? json(unit.peak(seconds)) : json()},
            {"peak_of", unit.peak_of},
            {"memory", triad(subject.settings.threads)}};
}

}  // namespace hk::explorer
