#include "memory/free_blocks.h"

#include <algorithm>
#include <bit>

namespace hk::detail {

void FreeBlocks::insert(Block &block) noexcept {
    const SizeClass size = SizeClass::within(block.bytes);
    Block *&first = lists_[size.row][size.step];
    block.previous = nullptr;
    block.next = first;
    if (first) first->previous = &block;
    first = &block;
    steps_[size.row] |= uint32_t{1} << size.step;
    rows_ |= uint64_t{1} << size.row;
}

void FreeBlocks::remove(Block &block) noexcept {
    if (block.next) block.next->previous = block.previous;
    if (block.previous) {
        block.previous->next = block.next;
        return;
    }
    const SizeClass size = SizeClass::within(block.bytes);
    lists_[size.row][size.step] = block.next;
    if (block.next) return;
    steps_[size.row] &= ~(uint32_t{1} << size.step);
    if (!steps_[size.row]) rows_ &= ~(uint64_t{1} << size.row);
}

Block *FreeBlocks::first(SizeClass from) const noexcept {
    int row = from.row;
    uint32_t steps = steps_[row] & (~uint32_t{0} << from.step);
    if (!steps) {
        const uint64_t rows = rows_ & ~((uint64_t{2} << row) - 1);
        if (!rows) return nullptr;
        row = std::countr_zero(rows);
        steps = steps_[row];
    }
    return lists_[row][std::countr_zero(steps)];
}

Block *FreeBlocks::largest() const noexcept {
    if (!rows_) return nullptr;
    const int row = std::bit_width(rows_) - 1;
    Block *best = lists_[row][std::bit_width(steps_[row]) - 1];
    for (Block *block = best; block; block = block->next) {
        if (block->bytes > best->bytes) best = block;
    }
    return best;
}

}  // namespace hk::detail
