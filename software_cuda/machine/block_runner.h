// Runs blocks of a launch one after another on one thread of the host.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "software_cuda/machine/observer.h"

namespace software_cuda {

// Rows and shared memory, kept from launch to launch.
struct Storage {
    std::vector<uint8_t> rows, uniform, shared, shared_written;
    std::vector<uint64_t> shared_cells;
    uint64_t shared_owner = 0;  // the last block's
};

// Of Memory, for what marks its bytes.
struct LaunchNumbers {
    uint32_t checked = 0, counted = 0;
};

class BlockRunner {
public:
    BlockRunner(const Launch &launch, const Memory &memory, const Settings &settings,
                Findings &findings, Storage &storage, LaunchNumbers numbers, bool shares_cells);

    void run(uint64_t number, Dim3 index);
    bool stopped() const { return block_.stopped; }
    Outcome::Status status() const { return observer_.status(); }
    void add_counts(Outcome &outcome) const;

private:
    void write_uniform_rows();
    void write_uniform_row(const UniformRow &uniform);
    void write_thread_rows();
    void start_block(uint64_t number, Dim3 index);
    void run_units();
    bool run_warp_operations();
    bool run_warp_operation(uint32_t warp, bool force);
    bool release_barrier();
    const Instruction &before(uint32_t basic_block) const;

    const Launch &launch_;
    const Settings &settings_;
    const Program &program_;
    const Interpreter &interpreter_;
    Storage &storage_;
    const LaunchNumbers numbers_;
    BlockState block_;
    Observer observer_;
    std::optional<WarpOrder> warp_order_;
    std::optional<AsyncCopies> copies_;
    std::vector<Unit> units_;
    std::vector<uint32_t> order_;
    std::mt19937_64 random_;
};

}  // namespace software_cuda
