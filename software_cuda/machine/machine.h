// Runs kernel entries on the host, checked and counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "software_cuda/machine/counts.h"
#include "software_cuda/machine/memory.h"
#include "software_cuda/ptx/module.h"

namespace software_cuda {

// Bounds, alignment and use after free are always checked.
enum class Check : uint8_t {
    kNone,
    kMemory,  // reads of memory that nobody wrote
    kAll,     // races between threads too
};
// Of the threads of a block between two barriers, and of the blocks of a launch.
enum class Order : uint8_t { kAscending, kDescending, kRandom };

// Of the host, which the machine is compiled for.
enum class InstructionSet : uint8_t { kWidest, kBaseline, kAvx2, kAvx512 };
bool host_has(InstructionSet set);

struct Settings {
    Check check = Check::kNone;
    Order order = Order::kAscending;
    uint64_t seed = 0;       // of a random order
    unsigned lanes = 32;     // threads of a warp that run in lockstep: 1, 16 or 32
    unsigned threads = 0;    // of the host, 0: as many as it has
    bool count = false;      // wavefronts and sectors too, which takes time
    bool read_only = false;  // finds stores to what the launch loads by ld.global.nc
    InstructionSet instruction_set = InstructionSet::kWidest;  // one that the host has
    // Instructions of one block that threads in lockstep may execute, after which the launch ends;
    // 0: any number. As many take a GPU some seconds, after which a driver's watchdog would end it.
    uint64_t steps = 1'000'000'000;
};

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t{x} * y * z; }
};

struct Launch {
    const Entry *entry = nullptr;
    Dim3 grid, block;
    uint32_t dynamic_shared_bytes = 0;
    std::vector<uint8_t> parameters;  // entry->parameter_bytes
};

// What a check found; of one kind and instruction in a launch, the first.
struct Finding {
    enum Kind : uint8_t {
        kOutOfBounds,
        kMisaligned,
        kUninitialized,
        kMissingWait,
        kCopySize,
        kReadAfterWrite,
        kWriteAfterRead,
        kWriteAfterWrite,
        kSameValueWrite,
        kBetweenBlocks,
        kSameValueBetweenBlocks,
        kReadOnly,
        kDivergentBarrier,
        kInactiveLane,
        kPartialWarp,
        kDeadlock,
        kTooManySteps,
    };
    Kind kind;
    bool shared;  // memory
    uint64_t times = 0;
    uint32_t line = 0;    // of the module's text, from 1
    std::string message;  // names kernel, block, thread, line and text of the instruction, address
                          // and what it belongs to
};
const char *kind_name(Finding::Kind kind);

struct Outcome {
    enum Status {
        kDone = 0,
        kIllegalAddress = 700,
        kLaunchTimeout = 702,
        kMisalignedAddress = 716,
        kLaunchFailed = 719
    };
    Status status = kDone;  // a CUresult
    std::vector<Finding> findings;
    Counts counts;
    std::vector<BlockCounts> basic_blocks;  // of the program's
};

// Adds the instructions of a basic block that was entered so often.
void add_block(const Program &program, uint32_t block, const BlockCounts &entered, Counts &counts);

// Runs a launch that is within the limits of its chip, on the calling thread and those of a pool;
// returns when it has ended. Findings that do not end a launch on a GPU do not end it here.
Outcome run(const Launch &launch, Memory &memory, const Settings &settings);

}  // namespace software_cuda
