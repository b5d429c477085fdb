// Checks accesses, counts what memory does for them, and makes findings.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "software_cuda/machine/block_state.h"

namespace software_cuda {

// What a finding says of its place; asked for once a kind and instruction.
using Details = std::function<std::string()>;

// Findings of a launch, from all threads of the host.
class Findings {
public:
    explicit Findings(const Launch &launch) : launch_(launch) {}

    // One of a kind and instruction is kept and counted.
    void add(Finding::Kind kind, const BlockState &block, const Instruction &instruction,
             uint32_t thread, const Details &details);
    std::vector<Finding> take();

private:
    const Launch &launch_;
    std::mutex mutex_;
    std::map<std::pair<Finding::Kind, uint32_t>, Finding> findings_;
};

// Of one thread of the host.
class Observer {
public:
    Observer(const Memory &memory, Findings &findings, const Settings &settings)
        : memory_(memory),
          findings_(findings),
          settings_(settings),
          interpreter_(interpreter_of(settings.instruction_set)) {}

    // Which of the lanes have an address inside of memory; finds the others, and the allocation of
    // the site.
    uint32_t resolve(BlockState &block, uint32_t warp, const Access &access);
    // Accesses of lanes that are right so far, before they are done.
    void observe(BlockState &block, uint32_t warp, const Access &access);
    // A copy's loads of fewer bytes than it writes, checked as if they were several; lanes that
    // read none have any address. Which of the lanes are right.
    uint32_t observe_parts(BlockState &block, uint32_t warp, const Access &access);
    // A copy is there for its thread: from here on it is a store as any other.
    void note_arrival(BlockState &block, uint32_t thread, uint32_t address, uint32_t bytes) const;
    // A unit of which these lanes have executed more than they may.
    void end_endless(BlockState &block, const Unit &unit, const Instruction &instruction,
                     uint32_t lanes);
    // These lanes of a warp are at an instruction that needs all.
    void end_partial_warp(BlockState &block, const Instruction &instruction, uint32_t warp,
                          uint32_t lanes);
    void find(Finding::Kind kind, BlockState &block, const Instruction &instruction,
              uint32_t thread, const Details &details);

    Outcome::Status status() const { return status_; }
    const Counts &counts() const { return counts_; }
    // Several threads of the host share the cells of global memory.
    void share_cells(bool shared) { shares_cells_ = shared; }

private:
    void fault(Finding::Kind kind, BlockState &block, const Instruction &i, uint32_t thread,
               uint64_t address);
    std::string describe(const BlockState &block, const Instruction &i, uint64_t address) const;
    void check(BlockState &block, uint32_t warp, const Access &access);
    // Those whose bytes no copy is still to write; finds the others.
    uint32_t lanes_after_copies(BlockState &block, uint32_t warp, const Access &access);
    void check_written(BlockState &block, uint32_t warp, const Access &access);
    void check_read_only(BlockState &block, uint32_t warp, const Access &access);
    void check_races(BlockState &block, uint32_t warp, const Access &access);
    void check_matrix_races(BlockState &block, uint32_t warp, const Access &access);
    void check_race(BlockState &block, const Access &access, uint32_t warp, uint32_t lane,
                    const CellAccess &cell);
    void report_race(BlockState &block, const Access &access, uint32_t warp, uint32_t lane,
                     uint64_t races, uint64_t before);
    bool same_value(const BlockState &block, uint32_t warp, const Access &access,
                    uint32_t lane) const;

    const Memory &memory_;
    Findings &findings_;
    const Settings &settings_;
    const Interpreter &interpreter_;
    Outcome::Status status_ = Outcome::kDone;
    Counts counts_;
    bool shares_cells_ = false;
};

}  // namespace software_cuda
