// Asynchronous copies of a block that are under way: what they read waits here until the thread
// that issued them waits for them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "software_cuda/ptx/program.h"

namespace software_cuda {

struct CopyUnderWay {
    uint32_t address, number;  // in shared memory; of Program::copies
    uint64_t group;            // of its thread's, counted from 0
    std::array<uint8_t, 16> bytes;
};

class AsyncCopies {
public:
    // `finds`: whether to() is asked.
    AsyncCopies(uint32_t threads, uint32_t shared_bytes, bool finds);

    // Those of the block before never arrive.
    void begin_block();
    // Of `bytes` bytes, aligned to as many; the group is set here.
    void issue(uint32_t thread, CopyUnderWay copy, uint32_t bytes);
    void commit(uint32_t thread) { threads_[thread].committed++; }
    // Takes out all copies, or those in no group but the last `groups` committed ones: `arrive` of
    // each and its bytes, in the order of their issue.
    template<typename Arrive>
    void wait(const Program &program, uint32_t thread, uint32_t groups, Arrive arrive) {
        Thread &of = threads_[thread];
        auto copy = of.pending.begin();
        for (; copy != of.pending.end(); copy++) {
            if (groups != kNone && copy->group + groups >= of.committed) break;
            const uint32_t bytes = program.copies[copy->number].store.bytes;
            mark(copy->address, bytes, 0);
            arrive(*copy, bytes);
        }
        of.pending.erase(of.pending.begin(), copy);
    }

    struct Found {
        uint32_t thread;
        const CopyUnderWay *copy;  // null: there is none
    };
    // A copy to any of these bytes of shared memory.
    Found to(const Program &program, uint64_t address, uint32_t bytes) const;

private:
    static constexpr uint64_t kWord = 4;  // the least that a copy writes
    struct Thread {
        uint64_t committed = 0;             // groups, of blocks before, too
        std::vector<CopyUnderWay> pending;  // the first issued first
    };

    void mark(uint64_t address, uint32_t bytes, uint16_t with);

    std::vector<Thread> threads_;
    std::vector<uint16_t> words_;  // of shared memory: the thread of a copy to it, from 1
};

}  // namespace software_cuda
