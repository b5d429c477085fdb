#include "software_cuda/machine/block_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace software_cuda {

namespace {

constexpr size_t kCacheLine = 64;

// A vector's bytes from a multiple of a cache line.
template<typename T>
T *aligned_data(std::vector<T> &bytes, size_t count) {
    if (bytes.size() < count + kCacheLine / sizeof(T)) bytes.resize(count + kCacheLine / sizeof(T));
    const auto address = reinterpret_cast<uintptr_t>(bytes.data());
    return reinterpret_cast<T *>((address + kCacheLine - 1) / kCacheLine * kCacheLine);
}

bool has_warp_barriers(const Program &program) {
    return std::any_of(program.code.begin(), program.code.end(),
                       [](const Instruction &i) { return i.op == Op::warp_barrier; });
}

uint32_t full_warps(uint32_t threads) { return (threads + kLanes - 1) / kLanes; }

}  // namespace

Frame frame_of(BlockState &block, uint32_t warp) {
    return {{block.rows + size_t{warp} * block.program->warp_bytes, block.uniform}, &block, warp};
}

BlockRunner::BlockRunner(const Launch &launch, const Memory &memory, const Settings &settings,
                         Findings &findings, Storage &storage, LaunchNumbers numbers,
                         bool shares_cells)
    : launch_(launch),
      settings_(settings),
      program_(*launch.entry->program),
      interpreter_(interpreter_of(settings.instruction_set)),
      storage_(storage),
      numbers_(numbers),
      observer_(memory, findings, settings) {
    block_.program = &program_;
    block_.memory = memory.windows();
    block_.threads = static_cast<uint32_t>(launch.block.count());
    block_.shared_bytes = launch.entry->shared_bytes + launch.dynamic_shared_bytes;
    const uint32_t warps = full_warps(block_.threads);
    block_.rows = aligned_data(storage.rows, size_t{warps} * program_.warp_bytes);
    block_.uniform = aligned_data(storage.uniform, program_.uniform_bytes);
    block_.shared = aligned_data(storage.shared, block_.shared_bytes);
    block_.shared_written = aligned_data(storage.shared_written, block_.shared_bytes);
    if (settings.check >= Check::kAll)
        block_.shared_cells = aligned_data(storage.shared_cells, block_.shared_bytes);
    block_.sites.resize(program_.sites);
    block_.counts.resize(program_.blocks.size());
    block_.most_steps = settings.steps ? settings.steps : UINT64_MAX;
    block_.observer = &observer_;
    block_.counted_launch = numbers.counted;
    block_.observes = settings.check != Check::kNone || settings.count || settings.read_only;
    if (settings.check >= Check::kAll && has_warp_barriers(program_))
        block_.warp_order = &warp_order_.emplace(warps);
    if (!program_.copies.empty())
        block_.copies =
            &copies_.emplace(warps * kLanes, block_.shared_bytes, settings.check >= Check::kMemory);
    observer_.share_cells(shares_cells);
    write_uniform_rows();
    write_thread_rows();
    // Units: lanes of a warp that run in lockstep.
    units_.resize(size_t{warps} * (kLanes / settings.lanes));
    order_.resize(units_.size());
    std::iota(order_.begin(), order_.end(), 0);
    if (settings.order == Order::kDescending) std::reverse(order_.begin(), order_.end());
}

void BlockRunner::write_uniform_rows() {
    for (const UniformRow &uniform : program_.uniform_rows) write_uniform_row(uniform);
}

void BlockRunner::write_uniform_row(const UniformRow &uniform) {
    const Dim3 &index = block_.index, &threads = launch_.block, &blocks = launch_.grid;
    const uint32_t of_launch[] = {index.x,   index.y,  index.z,  threads.x, threads.y,
                                  threads.z, blocks.x, blocks.y, blocks.z};  // from kBlockX on
    uint64_t value = uniform.value;
    if (uniform.kind == UniformRow::kParameter) {
        value = 0;
        std::memcpy(&value, launch_.parameters.data() + uniform.value, uniform.bytes);
        const unsigned unused = 64 - 8u * uniform.bytes;
        if (uniform.is_signed)
            value = static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
    } else if (uniform.kind >= UniformRow::kBlockX) {
        value = of_launch[uniform.kind - UniformRow::kBlockX];
    }
    uint8_t *const row = block_.uniform + uniform.place;
    if (uniform.width == Width::kPredicate) {
        std::memcpy(row, &value, sizeof(uint32_t));
        return;
    }
    for (uint32_t lane = 0; lane < kLanes; lane++) {
        if (uniform.kind == UniformRow::kLaneId) value = lane;
        if (uniform.width == Width::kWide)
            reinterpret_cast<uint64_t *>(row)[lane] = value;
        else
            reinterpret_cast<uint32_t *>(row)[lane] = static_cast<uint32_t>(value);
    }
}

void BlockRunner::write_thread_rows() {
    const uint32_t sizes[3] = {launch_.block.x, launch_.block.y, launch_.block.z};
    for (uint32_t warp = 0; warp < full_warps(block_.threads); warp++) {
        const Frame frame = frame_of(block_, warp);
        for (uint32_t lane = 0; lane < kLanes; lane++) {
            uint32_t rest = warp * kLanes + lane;
            for (int dimension = 0; dimension < 3; dimension++) {
                const uint32_t place = program_.thread_rows[dimension];
                if (place != kNone)
                    reinterpret_cast<uint32_t *>(frame.bases[0] + place)[lane] =
                        rest % sizes[dimension];
                rest /= sizes[dimension];
            }
        }
    }
}

void BlockRunner::start_block(uint64_t number, Dim3 index) {
    block_.index = index;
    for (const UniformRow &uniform : program_.uniform_rows) {
        if (uniform.kind >= UniformRow::kBlockX && uniform.kind <= UniformRow::kBlockZ)
            write_uniform_row(uniform);
    }
    const uint32_t lanes = settings_.lanes, per_warp = kLanes / lanes;
    for (uint32_t n = 0; n < units_.size(); n++) {
        Unit &unit = units_[n];
        const uint32_t warp = n / per_warp, first = n % per_warp * lanes;
        const uint32_t threads = std::min(block_.threads - warp * kLanes, kLanes);
        const uint32_t end = std::min(threads, first + lanes);
        unit.warp = warp;
        unit.alive =
            end <= first ? 0 : static_cast<uint32_t>((uint64_t{1} << end) - (uint64_t{1} << first));
        unit.steps = 0;
        unit.ready.clear();
        unit.at_barrier.clear();
        unit.at_warp_operation.clear();
        if (unit.alive) unit.ready.put(0, unit.alive);
    }
    // What a block before this one left must not look like this one's.
    std::memset(block_.shared, 0xff, block_.shared_bytes);
    if (settings_.check >= Check::kMemory)
        std::memset(block_.shared_written, 0, block_.shared_bytes);
    if (settings_.check >= Check::kAll && ++storage_.shared_owner == race_cell::kOwners) {
        std::fill(storage_.shared_cells.begin(), storage_.shared_cells.end(), 0);
        storage_.shared_owner = 1;
    }
    block_.shared_owner = storage_.shared_owner;
    block_.owner = uint64_t{numbers_.checked} << race_cell::kBlocksShift |
                   (number & ((1u << race_cell::kBlocksShift) - 1));
    block_.interval = 1;
    if (block_.warp_order) block_.warp_order->begin_interval();
    if (block_.copies) block_.copies->begin_block();
    block_.loaded.clear();
    if (settings_.order == Order::kRandom) random_.seed(settings_.seed + number);
}

void BlockRunner::run(uint64_t number, Dim3 index) {
    start_block(number, index);
    do {
        if (settings_.order == Order::kRandom) std::shuffle(order_.begin(), order_.end(), random_);
        do run_units();
        while (!block_.stopped && run_warp_operations());
    } while (!block_.stopped && release_barrier());
}

void BlockRunner::run_units() {
    for (const uint32_t n : order_) {
        if (!units_[n].ready.empty()) interpreter_.run(block_, units_[n]);
        if (block_.stopped) return;
    }
}

// Shuffles, votes and instructions on matrices whose threads are in several units, or come one
// after another. False where nobody waits for one.
bool BlockRunner::run_warp_operations() {
    bool waiting = false, done = false;
    for (const Unit &unit : units_) waiting |= !unit.at_warp_operation.empty();
    if (!waiting) return false;
    for (const bool force : {false, true}) {
        for (uint32_t warp = 0; warp < full_warps(block_.threads); warp++)
            done |= run_warp_operation(warp, force);
        if (done) break;
    }
    return true;
}

bool BlockRunner::run_warp_operation(uint32_t warp, bool force) {
    const uint32_t per_warp = kLanes / settings_.lanes;
    Unit *const units = &units_[warp * per_warp];
    uint32_t lowest = ~0u, lanes = 0, alive = 0;
    for (uint32_t n = 0; n < per_warp; n++)
        lowest = std::min(lowest, units[n].at_warp_operation.lowest_block());
    if (lowest == ~0u) return false;
    for (uint32_t n = 0; n < per_warp; n++) {
        alive |= units[n].alive;
        if (units[n].at_warp_operation.lowest_block() == lowest)
            lanes |= units[n].at_warp_operation[0].lanes;
    }
    const Instruction &i = program_.code[program_.blocks[lowest].first];
    Frame frame = frame_of(block_, warp);
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    const uint32_t members = reinterpret_cast<const uint32_t *>(frame.bases[i.members >> 31] +
                                                                (i.members & ~kUniform))[lane];
    if ((members & ~lanes) != 0) {
        // Threads that ended never come, nor do those that wait elsewhere when nobody else can run.
        if (!force && (members & ~lanes & alive) != 0) return false;
        if (i.op == Op::matrix_product || i.op == Op::load_matrix) {
            observer_.end_partial_warp(block_, i, warp, lanes);
            return true;
        }
        observer_.find(Finding::kDeadlock, block_, i, warp * kLanes + lane,
                       [] { return ", which waits for threads of its warp that do not come"; });
    }
    interpreter_.run_warp_operation(frame, i, lanes);
    for (uint32_t n = 0; n < per_warp; n++) {
        if (units[n].at_warp_operation.lowest_block() != lowest) continue;
        const Fragment fragment = units[n].at_warp_operation.take_lowest();
        units[n].ready.put(lowest + 1, fragment.lanes);
    }
    return true;
}

// The instruction that ends the basic block before.
const Instruction &BlockRunner::before(uint32_t basic_block) const {
    return program_.code[program_.blocks[basic_block - 1].end - 1];
}

// All threads wait or have ended. False where none waits.
bool BlockRunner::release_barrier() {
    uint32_t place = ~0u;
    bool ended = false;
    for (Unit &unit : units_) {
        uint32_t waiting = 0;
        for (uint32_t n = 0; n < unit.at_barrier.size(); n++) {
            const Fragment &fragment = unit.at_barrier[n];
            const uint32_t thread =
                unit.warp * kLanes + static_cast<uint32_t>(std::countr_zero(fragment.lanes));
            waiting |= fragment.lanes;
            if (place == ~0u) place = fragment.block;
            if (fragment.block != place) {
                observer_.find(
                    Finding::kDivergentBarrier, block_, before(fragment.block), thread,
                    [&] { return ", others wait in line " + std::to_string(before(place).line); });
            }
        }
        unit.ready = unit.at_barrier;
        unit.at_barrier.clear();
    }
    if (place == ~0u) return false;
    uint32_t alive = 0;
    for (const Unit &unit : units_) alive += static_cast<uint32_t>(std::popcount(unit.alive));
    ended = alive != block_.threads;
    if (ended)
        observer_.find(Finding::kDivergentBarrier, block_, before(place), 0,
                       [] { return ", others have ended"; });
    block_.barriers++;
    if (block_.warp_order) block_.warp_order->begin_interval();
    block_.interval = block_.interval == race_cell::kIntervalMask || block_.interval == 0
                          ? 0
                          : block_.interval + 1;
    return true;
}

void add_block(const Program &program, uint32_t block, const BlockCounts &entered, Counts &counts) {
    const BasicBlock &basic = program.blocks[block];
    for (uint32_t at = basic.first; at < basic.end; at++) {
        const auto kind = static_cast<size_t>(program.code[at].kind);
        counts.thread_instructions[kind] += entered.lanes;
        counts.warp_instructions[kind] += entered.warps;
    }
    if (program.code[basic.end - 1].op == Op::branch) counts.branches += entered.warps;
    counts.divergent_branches += entered.splits;
}

void BlockRunner::add_counts(Outcome &outcome) const {
    Counts &counts = outcome.counts;
    outcome.basic_blocks.resize(block_.counts.size());
    counts.add(observer_.counts());
    counts.barriers += block_.barriers;
    for (size_t n = 0; n < block_.counts.size(); n++) {
        const BlockCounts &count = block_.counts[n];
        outcome.basic_blocks[n].add(count);
        add_block(program_, static_cast<uint32_t>(n), count, counts);
        if (!settings_.count) continue;
        const BasicBlock &basic = program_.blocks[n];
        uint32_t line = 0;
        for (uint32_t at = basic.first; at < basic.end; at++) {
            if (program_.code[at].line == line) continue;
            line = program_.code[at].line;
            counts.lines[line] += count.lanes;
        }
    }
}

}  // namespace software_cuda
