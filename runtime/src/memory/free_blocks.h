#pragma once
// A pool's free blocks, in a list for each size class; the lists that hold something are found by
// their bits.

#include <array>
#include <cstdint>

#include "memory/block.h"
#include "memory/size_class.h"

namespace hk::detail {

class FreeBlocks {
public:
    void insert(Block &block) noexcept;
    void remove(Block &block) noexcept;

    // The first block of the smallest class, at least `from`, that has one; null where none has.
    // The lists' blocks hold at least their class's bytes. The one freed last is first: it is most
    // likely in a cache.
    Block *first(SizeClass from) const noexcept;

    Block *largest() const noexcept;  // of the largest class that has one

    // f(block) from the largest class downwards, until it returns false. f may remove its block,
    // and insert smaller ones.
    template<typename F>
    void each_from_largest(F &&f) {
        for (int row = SizeClass::kRows - 1; row >= 0; row--) {
            for (int step = SizeClass::kSteps - 1; steps_[row] && step >= 0; step--) {
                for (Block *block = lists_[row][step]; block;) {
                    Block *const next = block->next;
                    if (!f(*block)) return;
                    block = next;
                }
            }
        }
    }

private:
    std::array<std::array<Block *, SizeClass::kSteps>, SizeClass::kRows> lists_{};
    std::array<uint32_t, SizeClass::kRows> steps_{};  // bit i: list i of the row has blocks
    uint64_t rows_ = 0;
};

}  // namespace hk::detail
