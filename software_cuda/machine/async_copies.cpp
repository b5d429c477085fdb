#include "software_cuda/machine/async_copies.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "software_cuda/machine/interpreter_prelude.h"

namespace software_cuda {

AsyncCopies::AsyncCopies(uint32_t threads, uint32_t shared_bytes, bool finds)
    : threads_(threads), words_(finds ? (shared_bytes + kWord - 1) / kWord : 0) {}

void AsyncCopies::begin_block() {
    std::fill(words_.begin(), words_.end(), 0);
    for (Thread &thread : threads_) thread.pending.clear();
}

void AsyncCopies::mark(uint64_t address, uint32_t bytes, uint16_t with) {
    if (!words_.empty()) std::fill_n(words_.begin() + address / kWord, bytes / kWord, with);
}

void AsyncCopies::issue(uint32_t thread, CopyUnderWay copy, uint32_t bytes) {
    copy.group = threads_[thread].committed;
    threads_[thread].pending.push_back(copy);
    mark(copy.address, bytes, static_cast<uint16_t>(thread + 1));
}

AsyncCopies::Found AsyncCopies::to(const Program &program, uint64_t address, uint32_t bytes) const {
    const auto first = words_.begin() + address / kWord,
               end = words_.begin() + (address + bytes - 1) / kWord + 1;
    const auto word = std::find_if(first, end, [](uint16_t thread) { return thread != 0; });
    if (word == end) return {0, nullptr};
    const uint64_t at = (word - words_.begin()) * kWord;
    const uint32_t thread = *word - 1u;
    const auto &pending = threads_[thread].pending;
    const auto copy =
        std::find_if(pending.rbegin(), pending.rend(), [&](const CopyUnderWay &candidate) {
            return at - candidate.address < program.copies[candidate.number].store.bytes;
        });
    return {thread, copy == pending.rend() ? nullptr : &*copy};
}

bool find_copy_sizes(Frame &frame, const Instruction &i, uint32_t lanes, uint32_t *sizes) {
    const auto *const row =
        i.c == kNone
            ? nullptr
            : reinterpret_cast<const uint32_t *>(frame.bases[i.c >> 31] + (i.c & ~kUniform));
    bool whole = true;
    for (uint32_t lane = 0; lane < kLanes; lane++) {
        sizes[lane] = row ? row[lane] : i.bytes;
        if (!(lanes >> lane & 1)) continue;
        if (sizes[lane] > i.bytes) {
            frame.block->observer->find(
                Finding::kCopySize, *frame.block, i, frame.warp * kLanes + lane, [&] {
                    return ", " + std::to_string(sizes[lane]) + " of " + std::to_string(i.bytes);
                });
            sizes[lane] = i.bytes;
        }
        whole &= sizes[lane] == i.bytes;
    }
    return whole;
}

void issue_copies(Frame &frame, const Instruction &i, const CopyAddresses &addresses,
                  uint32_t lanes) {
    const BlockState &block = *frame.block;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        CopyUnderWay copy{static_cast<uint32_t>(addresses.to[lane]), i.target, 0, {}};
        // Without bytes to read, the address is any.
        if (addresses.sizes[lane])
            std::memcpy(copy.bytes.data(),
                        block.memory.bytes + (addresses.from[lane] - block.memory.base),
                        addresses.sizes[lane]);
        block.copies->issue(frame.warp * kLanes + lane, copy, i.bytes);
    }
}

void commit_copies(Frame &frame, const Instruction &, uint32_t lanes) {
    if (!frame.block->copies) return;
    for (uint32_t left = lanes; left; left &= left - 1)
        frame.block->copies->commit(frame.warp * kLanes +
                                    static_cast<uint32_t>(std::countr_zero(left)));
}

void wait_for_copies(Frame &frame, const Instruction &i, uint32_t lanes) {
    BlockState &block = *frame.block;
    if (!block.copies) return;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t thread = frame.warp * kLanes + static_cast<uint32_t>(std::countr_zero(left));
        block.copies->wait(*block.program, thread, i.target,
                           [&](const CopyUnderWay &copy, uint32_t bytes) {
                               std::memcpy(block.shared + copy.address, copy.bytes.data(), bytes);
                               block.observer->note_arrival(block, thread, copy.address, bytes);
                           });
    }
}

}  // namespace software_cuda
