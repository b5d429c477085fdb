// Checks of asynchronous copies.
#include <bit>

#include "software_cuda/machine/memory_traffic.h"
#include "software_cuda/machine/observer.h"

namespace software_cuda {

namespace {

template<typename F>
void each_lane(uint32_t lanes, F f) {
    for (uint32_t left = lanes; left; left &= left - 1)
        f(static_cast<uint32_t>(std::countr_zero(left)));
}

}  // namespace

uint32_t Observer::lanes_after_copies(BlockState &block, uint32_t warp, const Access &access) {
    const Instruction &i = *access.instruction;
    const uint32_t bytes = uint32_t{i.bytes} * i.vector;
    uint32_t right = access.lanes;
    each_lane(access.lanes, [&](uint32_t lane) {
        const auto [thread, copy] = block.copies->to(*block.program, access.addresses[lane], bytes);
        if (!copy) return;
        right &= ~(1u << lane);
        const uint32_t line = block.program->copies[copy->number].store.line;
        find(Finding::kMissingWait, block, i, warp * kLanes + lane, [&, by = thread] {
            return ", copied by thread " + std::to_string(by) + " in line " + std::to_string(line) +
                   describe(block, i, access.addresses[lane]);
        });
    });
    return right;
}

uint32_t Observer::observe_parts(BlockState &block, uint32_t warp, const Access &access) {
    const Instruction &i = *access.instruction;
    uint32_t right = access.lanes, reading = 0;
    each_lane(access.lanes, [&](uint32_t lane) {
        if (!access.sizes[lane]) return;
        reading |= 1u << lane;
        if (access.addresses[lane] % i.bytes == 0) return;
        fault(Finding::kMisaligned, block, i, warp * kLanes + lane, access.addresses[lane]);
        right &= ~(1u << lane);
    });
    // 13 bytes are 8, then 4, then 1.
    for (uint32_t bytes = i.bytes; bytes; bytes /= 2) {
        Instruction part = i;
        part.bytes = static_cast<uint8_t>(bytes);
        uint64_t addresses[kLanes];
        uint32_t lanes = 0;
        each_lane(right & reading, [&](uint32_t lane) {
            if (!(access.sizes[lane] & bytes)) return;
            lanes |= 1u << lane;
            addresses[lane] = access.addresses[lane] + (access.sizes[lane] & ~(2 * bytes - 1));
        });
        if (!lanes) continue;
        const uint32_t inside = resolve(block, warp, {&part, addresses, lanes});
        right &= ~(lanes & ~inside);
        if (inside) check(block, warp, {&part, addresses, inside});
    }
    block.sites[i.site] = {};  // which holds for as many bytes as the last part has, or fewer
    if (settings_.count) {
        Access counted = access;
        counted.lanes = right & reading;
        count_traffic(block, counted, counts_.global_loads);
    }
    return right;
}

void Observer::note_arrival(BlockState &block, uint32_t thread, uint32_t address,
                            uint32_t bytes) const {
    if (settings_.check < Check::kAll) return;
    const CellAccess access{.owner = block.shared_owner,
                            .launch_shift = 0,
                            .interval = block.interval,
                            .kind = kWrite,
                            .several = false};
    for (uint64_t byte = address; byte < address + bytes; byte++) {
        uint64_t &cell = block.shared_cells[byte];
        // Conflicts were found: before the copy, when it was issued, or while it was under way.
        uint64_t race = 0;
        if (block.warp_order) block.warp_order->race(cell, byte, true, kWrite, thread);
        cell = cell_after(cell, access, thread, race);
    }
}

}  // namespace software_cuda
