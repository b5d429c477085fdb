#pragma once
// The pairs of a tensor product, sorted into the blocks and slots, or tiles, of
// generators/tensor_product/tensor_product_stationary.h.
//
// Rows are put in the order of the offsets that they have, as a Gray code of them, so that a block
// needs few slots beyond what each of its rows needs; more places stayed empty in the order of the
// offsets as bits of a number, and most with rows as they stand. Within a row pairs stay in the
// order of offsets and positions, which is the order of their sum. All rows of the output are in
// some block, those without pairs too. Deterministic, whatever the number of threads.

#include <optional>

#include "memory/scratch.h"
#include "tensor_product/maps.h"

namespace hk::detail {

class TensorProductSlots {
public:
    // `rows` of a block, at most 512; `pairs` of a tile, 0: slots. Throws InvalidArgument for more
    // slots than a kernel counts, OutOfMemory.
    TensorProductSlots(const char *operation, const PairMaps &maps, int64_t rows,
                       int64_t pairs = 0);

    // Blocks of tiles have fewer rows, and places of `row` that are none, where the output has few.
    //
    // Arrays: source [slot, row of the block], offset [slot], first [block + 1], row [block, row of
    // the block]; of tiles source and target [tile, pair], offset [tile].
    const int32_t *source() const { return source_; }
    const int32_t *target() const { return target_; }
    const int32_t *offset() const { return offset_; }
    const int32_t *first() const { return first_; }
    const int32_t *row() const { return row_; }
    int64_t slots() const { return slots_; }  // or tiles
    int64_t blocks() const { return blocks_; }
    int32_t most() const { return most_; }  // slots of a block

private:
    int64_t used_rows(int64_t all_rows) const;
    template<typename Index>
    void sort(const char *operation, const PairMaps &maps);

    const int64_t rows_, pairs_;
    std::optional<Scratch> of_blocks_, of_slots_;
    int32_t *source_ = nullptr, *target_ = nullptr, *offset_ = nullptr;
    int32_t *first_ = nullptr, *row_ = nullptr;
    int64_t slots_ = 0, blocks_ = 0;
    int32_t most_ = 0;
};

}  // namespace hk::detail
