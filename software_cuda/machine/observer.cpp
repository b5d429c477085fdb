#include "software_cuda/machine/observer.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "software_cuda/machine/memory_traffic.h"

namespace software_cuda {

namespace {

const char *access_name(const Instruction &i) {
    return is_load(i) ? "load" : i.op == Op::store ? "store" : "atomic operation";
}

std::string coordinates(uint32_t thread, const Dim3 &of) {
    return "(" + std::to_string(thread % of.x) + "," + std::to_string(thread / of.x % of.y) + "," +
           std::to_string(thread / of.x / of.y) + ")";
}

// Blocks on several threads of the host take turns at the cells of 512 bytes.
class CellLock {
public:
    CellLock(uint64_t address, bool needed)
        : flag_(needed ? &flags[address / 512 % kFlags] : nullptr) {
        while (flag_ && flag_->test_and_set(std::memory_order_acquire)) {
        }
    }
    ~CellLock() {
        if (flag_) flag_->clear(std::memory_order_release);
    }
    CellLock(const CellLock &) = delete;
    CellLock &operator=(const CellLock &) = delete;

private:
    static constexpr size_t kFlags = 4096;
    static std::atomic_flag flags[kFlags];
    std::atomic_flag *flag_;
};
std::atomic_flag CellLock::flags[CellLock::kFlags];

ByAddress<uint64_t> cells_of(const BlockState &block, const Instruction &i) {
    return i.space == Space::kShared ? ByAddress(block.shared_cells)
                                     : ByAddress(block.memory.cells, block.memory.base);
}

}  // namespace

const char *kind_name(Finding::Kind kind) {
    switch (kind) {
        case Finding::kOutOfBounds:
            return "out of bounds";
        case Finding::kMisaligned:
            return "misaligned";
        case Finding::kUninitialized:
            return "read of bytes that nobody wrote";
        case Finding::kMissingWait:
            return "missing wait for an asynchronous copy";
        case Finding::kCopySize:
            return "copy of more bytes than its size";
        case Finding::kReadAfterWrite:
            return "race, read after write";
        case Finding::kWriteAfterRead:
            return "race, write after read";
        case Finding::kWriteAfterWrite:
            return "race, write after write";
        case Finding::kSameValueWrite:
            return "race, write after write of the same value";
        case Finding::kBetweenBlocks:
            return "race between blocks";
        case Finding::kSameValueBetweenBlocks:
            return "race between blocks, write of the same value";
        case Finding::kReadOnly:
            return "store to what the kernel reads by ld.global.nc";
        case Finding::kDivergentBarrier:
            return "divergent barrier";
        case Finding::kInactiveLane:
            return "value of an inactive lane";
        case Finding::kPartialWarp:
            return "part of a warp";
        case Finding::kDeadlock:
            return "deadlock";
        case Finding::kTooManySteps:
            return "too many steps";
    }
    return "";
}

void Findings::add(Finding::Kind kind, const BlockState &block, const Instruction &i,
                   uint32_t thread, const Details &details) {
    const std::lock_guard lock(mutex_);
    Finding &finding = findings_[{kind, i.line}];
    if (finding.times++) return;
    finding.kind = kind;
    finding.shared = i.space == Space::kShared;
    finding.line = i.line;
    const auto &text = *block.program->text;
    std::string source = i.line && i.line <= text.size() ? text[i.line - 1] : "";
    source.erase(0, source.find_first_not_of(" \t"));
    finding.message = std::string(kind_name(kind)) + ": kernel " + block.program->entry +
                      ", block (" + std::to_string(block.index.x) + "," +
                      std::to_string(block.index.y) + "," + std::to_string(block.index.z) +
                      "), thread " + coordinates(thread, launch_.block) + details() + ", line " +
                      std::to_string(i.line) + ": " + source;
}

std::vector<Finding> Findings::take() {
    std::vector<Finding> result;
    for (auto &[key, finding] : findings_) result.push_back(std::move(finding));
    return result;
}

void Observer::find(Finding::Kind kind, BlockState &block, const Instruction &i, uint32_t thread,
                    const Details &details) {
    findings_.add(kind, block, i, thread, details);
}

std::string Observer::describe(const BlockState &block, const Instruction &i,
                               uint64_t address) const {
    const uint32_t bytes = uint32_t{i.bytes} * i.vector;
    const std::string space = i.space == Space::kShared ? "shared" : "global";
    std::string text = ", " + space + " " + access_name(i) + " of " + std::to_string(bytes) +
                       " bytes at " + hexadecimal(address) + ", ";
    if (i.space == Space::kShared)
        return text + "of " + std::to_string(block.shared_bytes) + " bytes of shared memory";
    return text + memory_.describe(address);
}

void Observer::fault(Finding::Kind kind, BlockState &block, const Instruction &i, uint32_t thread,
                     uint64_t address) {
    find(kind, block, i, thread, [&] { return describe(block, i, address); });
    // Accesses outside of shared memory are illegal addresses too.
    if (status_ == Outcome::kDone)
        status_ =
            kind == Finding::kMisaligned ? Outcome::kMisalignedAddress : Outcome::kIllegalAddress;
    block.stopped = true;
}

void Observer::end_endless(BlockState &block, const Unit &unit, const Instruction &i,
                           uint32_t lanes) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    find(Finding::kTooManySteps, block, i, unit.warp * kLanes + lane, [&] {
        return ", more than " + std::to_string(block.most_steps) +
               " instructions in a block (SOFTWARE_CUDA_STEPS)";
    });
    if (status_ == Outcome::kDone) status_ = Outcome::kLaunchTimeout;
    block.stopped = true;
}

void Observer::end_partial_warp(BlockState &block, const Instruction &i, uint32_t warp,
                                uint32_t lanes) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    find(Finding::kPartialWarp, block, i, warp * kLanes + lane, [&] {
        return ", one of " + std::to_string(std::popcount(lanes)) +
               " at an instruction of all 32 threads of a warp";
    });
    if (status_ == Outcome::kDone) status_ = Outcome::kLaunchFailed;
    block.stopped = true;
}

uint32_t Observer::resolve(BlockState &block, uint32_t warp, const Access &access) {
    const Instruction &i = *access.instruction;
    const uint64_t bytes = uint64_t{i.bytes} * i.vector;
    uint32_t right = 0;
    for (uint32_t left = access.lanes; left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        const uint64_t address = access.addresses[lane];
        Site &site = block.sites[i.site];
        if (address % bytes) {
            fault(Finding::kMisaligned, block, i, warp * kLanes + lane, address);
            continue;
        }
        if (!site.holds(address)) {
            if (i.space == Space::kShared) {
                if (address <= block.shared_bytes && bytes <= block.shared_bytes - address)
                    site = {0, block.shared_bytes - bytes + 1};
            } else if (const auto allocation = memory_.find(address)) {
                if (bytes <= allocation->bytes - (address - allocation->base))
                    site = {allocation->base, allocation->bytes - bytes + 1};
            }
            if (!site.holds(address)) {
                fault(Finding::kOutOfBounds, block, i, warp * kLanes + lane, address);
                continue;
            }
        }
        right |= 1u << lane;
    }
    return right;
}

void Observer::observe(BlockState &block, uint32_t warp, const Access &access) {
    if (!access.lanes) return;
    check(block, warp, access);
    if (settings_.read_only) check_read_only(block, warp, access);
    if (!settings_.count) return;
    const bool loads = is_load(*access.instruction);  // atomic operations store
    if (access.instruction->space == Space::kShared)
        count_traffic(block, access, loads ? counts_.shared_loads : counts_.shared_stores);
    else
        count_traffic(block, access, loads ? counts_.global_loads : counts_.global_stores);
}

void Observer::check(BlockState &block, uint32_t warp, const Access &access) {
    if (settings_.check < Check::kMemory) return;
    Access checked = access;
    if (block.copies && access.instruction->space == Space::kShared) {
        checked.lanes = lanes_after_copies(block, warp, access);
        if (checked.lanes != access.lanes) checked.pattern = Pattern::kScattered;
        if (!checked.lanes) return;
    }
    check_written(block, warp, checked);
    if (settings_.check >= Check::kAll) check_races(block, warp, checked);
}

namespace {

template<typename Word>
bool is_set(const uint8_t *bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof(Word));
    return word == static_cast<Word>(0x0101010101010101);
}

// Whether all of so many bytes, a power of two up to 16, are 1.
bool are_set(const uint8_t *bytes, uint32_t count) {
    switch (count) {
        case 1:
            return is_set<uint8_t>(bytes);
        case 2:
            return is_set<uint16_t>(bytes);
        case 4:
            return is_set<uint32_t>(bytes);
        case 8:
            return is_set<uint64_t>(bytes);
        default:
            return is_set<uint64_t>(bytes) && is_set<uint64_t>(bytes + 8);
    }
}

}  // namespace

// Atomic operations read too.
void Observer::check_written(BlockState &block, uint32_t warp, const Access &access) {
    const Instruction &i = *access.instruction;
    const uint32_t bytes = uint32_t{i.bytes} * i.vector;
    const ByAddress<uint8_t> written = i.space == Space::kShared
                                           ? ByAddress(block.shared_written)
                                           : ByAddress(block.memory.written, block.memory.base);
    if (access.pattern == Pattern::kDense) {
        uint8_t *const first = written + access.addresses[0];
        const bool known = i.op == Op::store || !std::memchr(first, 0, kLanes * bytes);
        if (known && !is_load(i)) std::memset(first, 1, kLanes * bytes);
        if (known) return;
    }
    const uint32_t lanes = access.pattern == Pattern::kSame ? 1 : access.lanes;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        uint8_t *const p = written + access.addresses[lane];
        if (i.op != Op::store && !are_set(p, bytes)) {
            find(Finding::kUninitialized, block, i, warp * kLanes + lane,
                 [&] { return describe(block, i, access.addresses[lane]); });
        }
        if (!is_load(i)) std::memset(p, 1, bytes);
    }
}

void Observer::check_races(BlockState &block, uint32_t warp, const Access &access) {
    const Instruction &i = *access.instruction;
    if (i.op == Op::load_matrix) return check_matrix_races(block, warp, access);
    const bool shared = i.space == Space::kShared;
    CellAccess cell{.owner = shared ? block.shared_owner : block.owner,
                    .launch_shift = shared ? 0 : race_cell::kBlocksShift,
                    .interval = block.interval,
                    .kind = i.op == Op::load    ? kRead
                            : i.op == Op::store ? kWrite
                                                : kAtomic,
                    .several = false};
    uint32_t lanes = access.lanes;
    const bool each = block.warp_order;  // notes each lane's access
    if (!each && access.pattern == Pattern::kSame && i.op != Op::store) {
        // Loads of one place do not conflict, nor do atomic operations.
        cell.several = true;
        lanes = 1;
    }
    if (!each && (shared || !shares_cells_)) {
        const uint32_t bytes = uint32_t{i.bytes} * i.vector, first_thread = warp * kLanes;
        const bool dense = access.pattern == Pattern::kDense;
        if (dense && interpreter_.step_cells(cells_of(block, i) + access.addresses[0], bytes, cell,
                                             first_thread))
            return;
        lanes = interpreter_.step_lanes(cells_of(block, i), access.addresses, lanes, bytes, cell,
                                        first_thread);
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        check_race(block, access, warp, static_cast<uint32_t>(std::countr_zero(left)), cell);
    }
}

// A lane reads what it receives, from rows whose addresses other lanes have.
void Observer::check_matrix_races(BlockState &block, uint32_t warp, const Access &access) {
    const Instruction &i = *access.instruction;
    if (std::popcount(access.lanes) != 8 * i.matrices) return;  // what was found of it is enough
    Instruction part = i;
    part.op = Op::load;
    part.bytes = i.transposed ? 2 : 4;
    const uint32_t parts = 4u / part.bytes;
    for (uint32_t n = 0; n < i.matrices * parts; n++) {
        uint64_t addresses[kLanes];
        for (uint32_t lane = 0; lane < kLanes; lane++) {
            const uint32_t row = i.transposed ? lane % 4 * 2 + n % 2 : lane / 4;
            const uint32_t column = i.transposed ? lane / 4 : lane % 4;
            addresses[lane] = access.addresses[n / parts * 8 + row] + column * part.bytes;
        }
        check_races(block, warp, {&part, addresses, ~uint32_t{0}});
    }
}

void Observer::check_race(BlockState &block, const Access &access, uint32_t warp, uint32_t lane,
                          const CellAccess &cell) {
    const Instruction &i = *access.instruction;
    const bool shared = i.space == Space::kShared;
    const uint64_t address = access.addresses[lane];
    const uint32_t bytes = uint32_t{i.bytes} * i.vector;
    uint64_t *const cells = cells_of(block, i) + address;
    WarpOrder *const order = block.warp_order;
    if (shared && i.op == Op::load && !order && !cell.several &&
        was_read_before(cells, bytes, cell, warp * kLanes + lane))
        return;
    uint64_t races = 0, before = 0;
    const uint64_t thread = warp * kLanes + lane;
    {
        const CellLock lock(address, !shared && shares_cells_);
        uint64_t differences = 0;
        for (uint32_t n = 1; n < bytes; n++) differences |= cells[n] ^ cells[0];
        // Bytes that were accessed together so far, as most are, need one step.
        const uint32_t steps = differences == 0 && !order ? 1 : bytes, at_once = bytes / steps;
        for (uint32_t n = 0; n < steps; n++) {
            uint64_t race = 0;
            uint64_t old = cells[n];
            const uint64_t next = cell_after(old, cell, thread, race);
            std::fill_n(cells + n, at_once, next);
            if (order) {
                const uint64_t told = order->race(old, address + n, shared, cell.kind, thread);
                if (!told) race &= ~kRaceInBlock;
                if (race & kRaceInBlock) old = told;
            }
            if (race) before = old;
            races |= race;
        }
    }
    if (races) report_race(block, access, warp, lane, races, before);
}

bool Observer::same_value(const BlockState &block, uint32_t warp, const Access &access,
                          uint32_t lane) const {
    const Instruction &i = *access.instruction;
    if (i.op != Op::store || i.d[0] == kNone) return false;  // a copy's values are unknown
    const uint64_t address = access.addresses[lane];
    const uint8_t *const old = i.space == Space::kShared
                                   ? block.shared + address
                                   : block.memory.bytes + (address - block.memory.base);
    const Frame frame = frame_of(const_cast<BlockState &>(block), warp);
    for (uint32_t v = 0; v < i.vector; v++) {
        const uint8_t *const values = frame.bases[i.d[v] >> 31] + (i.d[v] & ~kUniform);
        if (std::memcmp(old + v * i.bytes, values + lane * (i.wide_value ? 8 : 4), i.bytes) != 0)
            return false;
    }
    return true;
}

void Observer::report_race(BlockState &block, const Access &access, uint32_t warp, uint32_t lane,
                           uint64_t races, uint64_t before) {
    const Instruction &i = *access.instruction;
    const uint32_t thread = warp * kLanes + lane;
    const bool same = same_value(block, warp, access, lane);
    const auto details = [&] { return describe(block, i, access.addresses[lane]); };
    if (races & kRaceInBlock) {
        const bool after_write = before >> race_cell::kNowShift & (kWrite | kAtomic);
        const auto kind = i.op == Op::load ? Finding::kReadAfterWrite
                          : !after_write   ? Finding::kWriteAfterRead
                          : same           ? Finding::kSameValueWrite
                                           : Finding::kWriteAfterWrite;
        find(kind, block, i, thread, [&] {
            return ", other thread " + std::to_string(race_cell::thread_of(before)) + details();
        });
    }
    if (races & kRaceBetweenBlocks) {
        const bool after_write = before & (kWrite | kAtomic);
        find(same && after_write ? Finding::kSameValueBetweenBlocks : Finding::kBetweenBlocks,
             block, i, thread, details);
    }
}

}  // namespace software_cuda
