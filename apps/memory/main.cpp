// replay: what the library's memory pool costs and holds, on traces of real programs and on random
// sizes, beside the C library's malloc.
//
// Each workload is run with everything checked before it is timed. The exit status is 1 where a
// check fails, or with --require where the pool costs or holds more than it may; 2 for bad options
// and for what is no trace.

#include <cstdio>

#include "program/program.h"
#include "replay.h"

namespace hk::replay {

namespace {

// What --require asks: nanoseconds of a hit, and of recorded traces the peak of what is reserved to
// that of the live set.
constexpr double kMostHit = 150, kMostReserved = 1.10;

struct Options {
    std::vector<std::string> traces;
    int allocations = 20000, live = 200, rounds = 20;
    uint64_t seed = 1;
    bool require = false;
};

double ratio(size_t a, size_t b) { return static_cast<double>(a) / static_cast<double>(b); }
double megabytes(size_t bytes) { return static_cast<double>(bytes) / 1e6; }

// Prints a line; false where a check failed. `most`: of reserved to the live set's peak.
bool report(const char *name, const Workload &workload, Allocator &allocator, int rounds,
            double most) {
    const Memory memory = check(workload, allocator);
    if (!memory.fault.empty()) {
        std::printf("  %-10s FAILED: %s\n", name, memory.fault.c_str());
        return false;
    }
    const double pair = time_pairs(workload, allocator, rounds, false);
    const double touched = time_pairs(workload, allocator, std::max(rounds / 4, 1), true);
    const double of_live = ratio(memory.peak_reserved, workload.live_peak);
    std::printf("  %-10s %9.0f %9.0f %11.2f %10.3f %13.3f %14.3f\n", name, pair, touched,
                megabytes(memory.peak_reserved), of_live, memory.reserved_to_in_use,
                memory.fragmentation);
    if (of_live <= most) return true;
    std::printf(
        "  %-10s FAILED: reserved %.3f of the live set's peak, at most %.2f are asked for\n", name,
        of_live, most);
    return false;
}

bool report(const Workload &workload, const Options &options, bool recorded) {
    std::printf("%s: %lld allocations, live set's peak %.2f MB\n", workload.name.c_str(),
                static_cast<long long>(workload.allocations()), megabytes(workload.live_peak));
    std::printf("  %-10s %9s %9s %11s %10s %13s %14s\n", "", "ns a pair", "touched", "peak MB",
                "of live", "of allocated", "fragmentation");
    const double most = options.require && recorded ? kMostReserved : 1e9;
    bool good = report("pool", workload, *pool_allocator(true), options.rounds, most);
    good &= report("pool off", workload, *pool_allocator(false), options.rounds, 1e9);
    good &= report("malloc", workload, *malloc_allocator(), options.rounds, 1e9);
    return good;
}

bool report_hits(bool require) {
    std::printf("a hit, ns     %10s %10s\n", "allocate", "free");
    bool good = true;
    for (const size_t bytes : {256, 16 << 10, 1 << 20}) {
        const Hit hit = time_hit(*pool_allocator(true), bytes);
        std::printf("  %8zu B  %10.1f %10.1f\n", bytes, hit.allocate, hit.free);
        if (!require || std::max(hit.allocate, hit.free) <= kMostHit) continue;
        std::printf("  FAILED: at most %.0f ns are asked for\n", kMostHit);
        good = false;
    }
    return good;
}

int run(const Options &options) {
    std::vector<Workload> recorded;
    for (const std::string &path : options.traces) {
        for (Workload &workload : read_trace(path)) recorded.push_back(std::move(workload));
    }
    bool good = report_hits(options.require);
    for (const Workload &workload : recorded) good &= report(workload, options, true);
    good &= report(random_mix(options.seed, options.allocations, options.live), options, false);
    std::printf(
        "ns a pair: of allocate and free; touched: and a byte of each page written. of live: peak\n"
        "reserved to the live set's peak; of allocated: reserved to blocks in use, as rounded up,\n"
        "and fragmentation, 1 - largest free block / free, both on average after the peak.\n");
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    hk::program::Flags flags("Replays memory traces on the library's pool and on malloc.");
    Options options;
    flags.add("trace", options.traces,
              "Traces (hk::MemoryTrace, HK_MEMORY_TRACE), JSON, or that through gzip; the one of "
              "apps/train where none is named");
    flags.add("--allocations", options.allocations, "Of random sizes")
        .check(hk::program::range(1, 100000000))
        .show_default();
    flags.add("--live", options.live, "Blocks of them at a time")
        .check(hk::program::range(1, 1000000))
        .show_default();
    flags.add("--seed", options.seed, "Of random sizes").show_default();
    flags.add("--rounds", options.rounds, "Timed runs of a workload; the shortest counts")
        .check(hk::program::range(1, 1000000))
        .show_default();
    flags.add("--require", options.require,
              "Fail where a hit costs more than 150 ns, or where more than 1.10 of a trace's live "
              "set is reserved");
    return hk::program::run("replay", flags, argc, argv, [&] {
        if (options.traces.empty()) options.traces = {HK_TRAIN_TRACE};
        return run(options);
    });
}

}  // namespace

}  // namespace hk::replay

int main(int argc, char **argv) { return hk::replay::main(argc, argv); }
