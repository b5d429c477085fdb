// Trains for very many steps and fails where memory grows after the first epoch.

#include <algorithm>
#include <cstdio>
#include <optional>

#include "program/program.h"
#include "progress.h"
#include "soak.h"

namespace hk::train {
namespace {

constexpr int64_t kResidentGrowth = 2 << 20;  // of the process, that is allowed

void print(const char *when, const SoakReport &report) {
    std::printf(
        "%-12s %7lld steps %7.1f s  loss %.4f  in use %lld in %lld blocks, reserved %lld, "
        "resident %lld KB\n",
        when, static_cast<long long>(report.steps), report.seconds, report.loss,
        static_cast<long long>(report.pool.in_use), static_cast<long long>(report.pool.blocks),
        static_cast<long long>(report.pool.reserved),
        static_cast<long long>(report.resident / 1024));
}

int run(const std::string &data, const SoakOptions &options) {
    std::optional<SoakReport> first;
    SoakReport last, worst;
    ProgressBar bar;
    soak(read_digits(data), options, [&](const SoakReport &report) {
        bar.show("soak", report.steps, options.steps, "loss " + std::to_string(report.loss));
        if (!first) {
            first = worst = report;
            bar.clear();
            print("first epoch", report);
        }
        worst.pool.in_use = std::max(worst.pool.in_use, report.pool.in_use);
        worst.pool.blocks = std::max(worst.pool.blocks, report.pool.blocks);
        worst.pool.reserved = std::max(worst.pool.reserved, report.pool.reserved);
        worst.resident = std::max(worst.resident, report.resident);
        last = report;
    });
    bar.clear();
    print("last epoch", last);
    const int64_t used = worst.pool.in_use - first->pool.in_use;
    const int64_t blocks = worst.pool.blocks - first->pool.blocks;
    const int64_t reserved = worst.pool.reserved - first->pool.reserved;
    const int64_t resident = worst.resident - first->resident;
    std::printf(
        "grown at most by %lld bytes in use, %lld blocks, %lld bytes reserved, %lld KB resident; "
        "%lld allocations, %lld of them from memory that was there\n",
        static_cast<long long>(used), static_cast<long long>(blocks),
        static_cast<long long>(reserved), static_cast<long long>(resident / 1024),
        static_cast<long long>(last.pool.allocations), static_cast<long long>(last.pool.hits));
    const bool flat = used == 0 && blocks == 0 && reserved == 0 && resident <= kResidentGrowth;
    std::printf("%s\n", flat ? "flat" : "GROWN");
    return flat ? 0 : 1;
}

}  // namespace
}  // namespace hk::train

int main(int argc, char **argv) {
    hk::train::SoakOptions options;
    std::string data = HK_DIGITS, device = "cpu";
    hk::program::Flags flags(
        "Trains for very many steps of mixed batch sizes; fails where memory grows.");
    flags.add("--data", data).show_default();
    flags.add("--device", device).show_default();
    flags.add("--steps", options.steps).check(hk::program::range(1, 1000000000)).show_default();
    flags.add("--batch", options.largest_batch, "The largest")
        .check(hk::program::range(1, 1442))
        .show_default();
    flags.add("--seed", options.seed).show_default();
    return hk::program::run("train_soak", flags, argc, argv, [&] {
        options.device = hk::Device::parse(device);
        return hk::train::run(data, options);
    });
}
