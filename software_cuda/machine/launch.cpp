#include <algorithm>
#include <atomic>
#include <bit>
#include <cfenv>
#include <chrono>

#include "software_cuda/machine/block_runner.h"
#include "software_cuda/machine/pool.h"

namespace software_cuda {

namespace {

// Rounds to nearest and keeps subnormals, whatever the thread that launches has set.
class DefaultRounding {
public:
    DefaultRounding() {
        std::fegetenv(&environment_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultRounding() { std::fesetenv(&environment_); }
    DefaultRounding(const DefaultRounding &) = delete;
    DefaultRounding &operator=(const DefaultRounding &) = delete;

private:
    std::fenv_t environment_;
};

// The n-th block to run.
class BlockOrder {
public:
    BlockOrder(uint64_t blocks, const Settings &settings)
        : blocks_(blocks),
          order_(settings.order),
          seed_(settings.seed),
          mask_(std::bit_ceil(blocks) - 1) {}

    uint64_t operator()(uint64_t n) const {
        if (order_ == Order::kAscending) return n;
        if (order_ == Order::kDescending) return blocks_ - 1 - n;
        // A permutation of the next power of two, walked until it is inside.
        do {
            n = (n * 0x9e3779b97f4a7c15 + seed_) & mask_;
            n ^= n >> ((std::bit_width(mask_) + 1) / 2);
            n = (n * 0xbf58476d1ce4e5b9 + 1) & mask_;
        } while (n >= blocks_);
        return n;
    }

private:
    const uint64_t blocks_;
    const Order order_;
    const uint64_t seed_, mask_;
};

unsigned workers_of(const Settings &settings, uint64_t blocks) {
    const unsigned threads =
        settings.threads ? settings.threads : std::max(1u, std::thread::hardware_concurrency());
    return static_cast<unsigned>(std::min<uint64_t>(threads, blocks));
}

Storage &storage_of_thread() {
    static thread_local Storage storage;
    return storage;
}

}  // namespace

Outcome run(const Launch &launch, Memory &memory, const Settings &settings) {
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t blocks = launch.grid.count();
    const unsigned workers = workers_of(settings, blocks);
    const BlockOrder order(blocks, settings);
    const LaunchNumbers numbers{
        settings.check >= Check::kAll ? memory.next_launch() : 0,
        settings.count || settings.read_only ? memory.next_counted_launch() : 0};
    Findings findings(launch);
    Outcome outcome;
    std::atomic<uint64_t> next = 0;
    std::atomic<bool> stopped = false;
    std::mutex mutex;
    Pool::get().run(workers, [&](unsigned) {
        const DefaultRounding rounding;
        BlockRunner runner(launch, memory, settings, findings, storage_of_thread(), numbers,
                           workers > 1);
        for (uint64_t n; !stopped && (n = next++) < blocks;) {
            const uint64_t block = order(n);
            const Dim3 &grid = launch.grid;
            runner.run(block, {static_cast<uint32_t>(block % grid.x),
                               static_cast<uint32_t>(block / grid.x % grid.y),
                               static_cast<uint32_t>(block / grid.x / grid.y)});
            if (runner.stopped()) stopped = true;
        }
        const std::lock_guard lock(mutex);
        if (outcome.status == Outcome::kDone) outcome.status = runner.status();
        runner.add_counts(outcome);
    });
    outcome.findings = findings.take();
    outcome.counts.blocks = blocks;
    outcome.counts.threads = blocks * launch.block.count();
    outcome.counts.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return outcome;
}

}  // namespace software_cuda
