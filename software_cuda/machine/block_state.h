// A block of threads while it runs, on one thread of the host: what the interpreter, compiled for
// several instruction sets, and the rest of the machine share.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "software_cuda/machine/async_copies.h"
#include "software_cuda/machine/machine.h"
#include "software_cuda/machine/race_cell.h"
#include "software_cuda/machine/warp_order.h"
#include "software_cuda/ptx/program.h"

namespace software_cuda {

class Observer;

// Threads of a warp at the beginning of one basic block.
struct Fragment {
    uint32_t block, lanes;
};

// Fragments of different basic blocks, in ascending order.
class Fragments {
public:
    bool empty() const { return size_ == 0; }
    uint32_t size() const { return size_; }
    const Fragment &operator[](uint32_t n) const { return items_[n]; }
    uint32_t lowest_block() const { return size_ ? items_[0].block : ~0u; }
    void clear() { size_ = 0; }

    void put(uint32_t block, uint32_t lanes) {
        uint32_t n = 0;
        while (n < size_ && items_[n].block < block) n++;
        if (n < size_ && items_[n].block == block) {
            items_[n].lanes |= lanes;
            return;
        }
        for (uint32_t m = size_++; m > n; m--) items_[m] = items_[m - 1];
        items_[n] = {block, lanes};
    }
    Fragment take_lowest() {
        const Fragment lowest = items_[0];
        size_--;
        for (uint32_t m = 0; m < size_; m++) items_[m] = items_[m + 1];
        return lowest;
    }

private:
    uint32_t size_ = 0;
    Fragment items_[kLanes];
};

// Threads of a warp that run in lockstep where they are at the same place: all, 16, or one.
struct Unit {
    uint32_t warp = 0;
    uint32_t alive = 0;  // lanes that have not ended
    uint64_t steps = 0;  // instructions that it executed
    Fragments ready;     // those at the lowest place run first, so that all meet again
    Fragments at_barrier;
    Fragments at_warp_operation;  // whose other members are in other units, or not there yet
};

// The allocation that an instruction touched last: accesses at `count` addresses from `base` on are
// inside it.
struct Site {
    uint64_t base = 0, count = 0;
    bool holds(uint64_t address) const { return address - base < count; }
};

// What runs on one thread of the host.
struct BlockState {
    const Program *program = nullptr;
    Memory::Windows memory;
    uint8_t *rows = nullptr;     // of all warps
    uint8_t *uniform = nullptr;  // rows of all
    uint8_t *shared = nullptr, *shared_written = nullptr;
    uint64_t *shared_cells = nullptr;
    uint32_t shared_bytes = 0;
    Dim3 index;
    uint32_t threads = 0;  // of a block
    std::vector<Site> sites;
    std::vector<BlockCounts> counts;
    uint64_t barriers = 0;
    uint64_t most_steps = 0;  // of a unit
    Observer *observer = nullptr;
    bool observes = false;                // accesses: they are checked or counted
    bool stopped = false;                 // by a fault
    uint32_t counted_launch = 0;          // its number among those whose accesses are counted
    std::unordered_set<uint64_t> loaded;  // sectors, by the block, where accesses are counted
    // For races. `warp_order`: null where lanes have no barriers of their own.
    uint64_t owner = 0, shared_owner = 0, interval = 1;
    WarpOrder *warp_order = nullptr;
    AsyncCopies *copies = nullptr;  // null in programs without
};

// A warp of it.
struct Frame {
    uint8_t *bases[2];  // its rows, and those of all
    BlockState *block;
    uint32_t warp;
};

// What the addresses of all 32 lanes are to one another: the same, or one after another.
enum class Pattern : uint8_t { kScattered, kSame, kDense };

// Addresses of an access, one a lane, that are inside of memory and aligned.
struct Access {
    const Instruction *instruction;
    const uint64_t *addresses;
    uint32_t lanes;
    Pattern pattern = Pattern::kScattered;
    const uint32_t *sizes = nullptr;  // the bytes of each lane, where they are fewer
};

// The interpreter for one instruction set of the host.
struct Interpreter {
    // Until all threads of the unit wait or have ended, or a fault stops the block.
    void (*run)(BlockState &block, Unit &unit);
    // A shuffle, vote, reduction or barrier of a warp by these lanes, which are at it.
    void (*run_warp_operation)(Frame &frame, const Instruction &instruction, uint32_t lanes);
    // Race cells of a dense access, and of any other; see race_steps.h.
    bool (*step_cells)(uint64_t *cells, uint32_t bytes, const CellAccess &access,
                       uint64_t first_thread);
    uint32_t (*step_lanes)(ByAddress<uint64_t> cells, const uint64_t *addresses, uint32_t lanes,
                           uint32_t bytes, const CellAccess &access, uint64_t first_thread);
};
const Interpreter &baseline_interpreter();
const Interpreter &avx2_interpreter();
const Interpreter &avx512_interpreter();
const Interpreter &interpreter_of(InstructionSet set);

Frame frame_of(BlockState &block, uint32_t warp);

}  // namespace software_cuda
