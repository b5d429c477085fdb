// What interpreter.h includes, before a source chooses the instruction set for it: functions of
// these headers are compiled for any host.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

#include "software_cuda/machine/block_state.h"
#include "software_cuda/machine/observer.h"

#define HOT_LAMBDA __attribute__((always_inline))

namespace software_cuda {

// Of what is rare, in any instruction set.
void do_atomics(Frame &frame, const Instruction &i, const uint64_t *addresses,
                ByAddress<uint8_t> host, uint32_t lanes);
// The bytes that lanes of a copy read. Whether they are all that it writes.
bool find_copy_sizes(Frame &frame, const Instruction &i, uint32_t lanes, uint32_t *sizes);
struct CopyAddresses {
    const uint64_t *from, *to;  // of lanes
    const uint32_t *sizes;
};
void issue_copies(Frame &frame, const Instruction &i, const CopyAddresses &addresses,
                  uint32_t lanes);
void commit_copies(Frame &frame, const Instruction &i, uint32_t lanes);
void wait_for_copies(Frame &frame, const Instruction &i, uint32_t lanes);
void order_lanes(Frame &frame, const Instruction &i, uint32_t lanes);
void note_inactive_lane(Frame &frame, const Instruction &i, uint32_t lane, uint32_t from);

}  // namespace software_cuda
