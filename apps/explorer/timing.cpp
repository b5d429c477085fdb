#include "timing.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "HalideRuntime.h"
#include "choice.h"
#include "cores.h"
#include "measure.h"

namespace hk::explorer {

using nlohmann::json;

namespace {

// "CUDA's driver, libcuda.so.1, is not installed": what the library says after naming the device.
std::string reason_of(const std::string &message) {
    const size_t colon = message.find(": ");
    return colon == std::string::npos ? message : message.substr(colon + 2);
}

}  // namespace

DeviceHere find_device(Device device, const Cores &cores) {
    if (device.is_cpu()) return {device.limits(), device.description()};
    const auto describe = [&](Parent &) -> json {
        const DeviceLimits limits = device.limits();
        return {{"description", device.description()},
                {"limits",
                 {limits.shared_bytes, limits.shared_bytes_opt_in, limits.threads, limits.registers,
                  limits.compute_capability}}};
    };
    try {
        const json found = Workers::run(cores, Limits(), describe);
        const json &limits = found["limits"];
        return {{limits[0], limits[1], limits[2], limits[3], limits[4]}, found["description"]};
    } catch (const Failure &failure) {
        throw DeviceMissing(
            "there is no device " + device.name() + " here: " +
            (failure.status == "compile error" ? reason_of(failure.what()) : failure.what()));
    }
}

json check_and_time(bench::Case &test, const KernelInfo &row, const KernelInfo &candidate,
                    const bench::Settings &settings, double seconds, Parent &parent) {
    test.use(&candidate);
    if (settings.device.is_cpu()) halide_set_num_threads(settings.threads);
    // On a GPU the check would disturb what another child measures.
    const bool is_cpu = settings.device.is_cpu();
    if (!is_cpu) parent.wait_for_turn();
    const bench::Check check = test.check();
    if (!check.failure.empty()) throw Failure("wrong", check.failure);
    if (is_cpu) parent.wait_for_turn();
    bench::use_threads(settings);
    const bench::OneThreadPerCore placed(settings.threads);
    const auto runs = [&test](const KernelInfo *kernel) -> bench::Work {
        return [&test, kernel](int count) {
            test.use(kernel);
            test.run(count);
        };
    };
    const bench::Work ours = runs(&candidate), table = runs(&row);
    // Not worth the rounds.
    constexpr double far_slower = 1.6;
    const double quick = bench::probe(ours), table_quick = bench::probe(table);
    if (quick > far_slower * table_quick)
        return {{"ns", quick}, {"table_ns", table_quick}, {"max_error", check.max_error}};
    bench::MeasureOptions how;
    how.budget_seconds = seconds;
    how.threads = settings.threads;
    const std::vector<bench::Work> work = {table, ours};
    std::vector<double> ns = bench::measure(work, how);
    // The best of many short measurements is the luckiest: what looks faster is measured anew, for
    // longer, and the second one counts.
    constexpr double faster = 1.01, longer = 4;
    if (ns[0] > faster * ns[1]) {
        how.budget_seconds *= longer;
        ns = bench::measure(work, how);
    }
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

json ceilings(const bench::Family &family, const bench::Settings &settings, Parent &parent) {
    parent.wait_for_turn();
    if (!settings.device.is_cpu()) return {{"peak", nullptr}, {"peak_of", ""}, {"memory", nullptr}};
    bench::use_threads(settings);
    const bench::Unit unit = family.unit(settings);
    constexpr double seconds = 0.3;
    return {{"peak", unit.peak ? json(unit.peak(seconds)) : json()},
            {"peak_of", unit.peak_of},
            {"memory", triad(settings.threads)}};
}

}  // namespace hk::explorer
