// Which accesses of a warp's lanes bar.warp.sync puts in order. Exact, where race_cell.h knows the
// last thread only; takes longer, and is there in programs that have such barriers.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "software_cuda/ptx/program.h"

namespace software_cuda {

// Of a block. Time goes up where lanes meet.
class WarpOrder {
public:
    explicit WarpOrder(uint32_t warps) : before_(warps) {}

    // All that was done so far is before all that follows.
    void begin_interval() { accesses_.clear(); }
    // These lanes of a warp wait for one another.
    void meet(uint32_t warp, uint32_t lanes);
    // Notes an access to a byte, of a kind of race_cell.h. 0, or `cell`, the byte's before it, with
    // the kinds in the interval and the thread of accesses that conflict with this one and are not
    // before it.
    uint64_t race(uint64_t cell, uint64_t byte, bool shared, uint64_t kind, uint64_t thread);

private:
    // Of lanes of one warp, those that nothing later makes needless to know.
    struct Accesses {
        uint32_t warp = 0;
        bool several_warps = false;
        std::array<uint32_t, 3> lanes{};  // that read, wrote, did atomic operations
        std::array<uint64_t, 3> times{};  // of the first of them
    };
    // [lane][other]: what the other did at earlier times than this is before what the lane does
    // now.
    using Matrix = std::array<std::array<uint64_t, kLanes>, kLanes>;

    uint32_t unordered(const Accesses &of, size_t kind, uint32_t lane) const;

    uint64_t time_ = 0;
    std::vector<Matrix> before_;
    std::unordered_map<uint64_t, Accesses> accesses_;
};

}  // namespace software_cuda
