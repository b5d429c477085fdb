// The check of loads by ld.global.nc.
#include <bit>

#include "software_cuda/machine/observer.h"

namespace software_cuda {

// Section "ld.global.nc": what is read so is only read while the kernel runs, by all of its
// threads, whatever is between the load and the store.
void Observer::check_read_only(BlockState &block, uint32_t warp, const Access &access) {
    const Instruction &i = *access.instruction;
    const bool loads = is_load(i);
    if (i.space == Space::kShared || (loads && !i.read_only)) return;
    const uint64_t bytes = uint64_t{i.bytes} * i.vector, now = uint64_t{block.counted_launch} << 32;
    const uint32_t lanes = access.pattern == Pattern::kSame ? 1 : access.lanes;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        // An access is aligned to its size, which is at most 16: it lies in one sector.
        const uint64_t at = access.addresses[lane] - block.memory.base;
        const uint64_t touched = ((uint64_t{1} << bytes) - 1) << at % Memory::kSector;
        auto &uses = block.memory.read_only[at / Memory::kSector];
        std::atomic<uint64_t> &own = uses[!loads], &other = uses[loads];
        for (uint64_t before = own;;) {
            const uint64_t after = (before >> 32 == now >> 32 ? before : now) | touched;
            if (after == before || own.compare_exchange_weak(before, after)) break;
        }
        const uint64_t others = other;
        if (others >> 32 == now >> 32 && (others & touched))
            find(Finding::kReadOnly, block, i, warp * kLanes + lane,
                 [&] { return describe(block, i, access.addresses[lane]); });
    }
}

}  // namespace software_cuda
