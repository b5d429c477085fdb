#pragma once
// The pairs of a tensor product, sorted into the tiles of
// generators/tensor_product/tensor_product.h.
//
// The sort is stable: within an output row pairs stay in the order of offsets and positions, which
// is the order of their sum.

#include "memory/scratch.h"
#include "tensor_product/index_buffer.h"
#include "tensor_product/maps.h"

namespace hk::detail {

class BlockLists;

// What a compiled kernel says of its tiles.
struct TileSizes {
    explicit TileSizes(const KernelInfo &kernel);

    int64_t channels = 0, rows = 0;  // of the output, of a block
    int64_t pairs = 0, group = 0;    // of a tile; tiles of a group
    int64_t depth = 0;               // channels of the input are filled up to a multiple of it

    int64_t tiles(int64_t of_pairs) const { return (of_pairs + pairs - 1) / pairs; }
    int64_t whole_groups(int64_t tiles) const { return (tiles + group - 1) / group * group; }
};

class TensorProductTiles : public TensorProductMaps::Impl::Form {
public:
    using Direction = TensorProductMaps::Impl::Direction;

    struct Key {
        Direction direction;
        int64_t rows, pairs, group;

        bool operator==(const Key &) const = default;
    };

    // Throws InvalidArgument for more tiles than a kernel counts, OutOfMemory.
    TensorProductTiles(const char *operation, const TensorProductMaps::Impl &maps,
                       Direction direction, const TileSizes &sizes);

    const Key &key() const { return key_; }
    size_t bytes() const override { return bytes_; }
    bool empty() const { return tiles_ == 0; }

    // As a kernel reads them; not where there are no pairs.
    IndexBuffer source() const { return {source_, key_.pairs, tiles_}; }
    IndexBuffer target() const { return {target_, key_.pairs, tiles_}; }
    IndexBuffer offset() const { return {offset_, tiles_}; }
    IndexBuffer first() const { return {first_, blocks_ + 1}; }
    int32_t most() const { return most_; }  // groups of a block

private:
    template<typename Index>
    void sort(const char *operation, const PairMaps &maps, const TileSizes &sizes);
    void allocate(const char *operation, int64_t places);
    void lay_out(const BlockLists &lists, const TileSizes &sizes);
    void fill(int64_t from, int64_t to);

    Key key_;
    int64_t blocks_, tiles_ = 0;
    size_t bytes_ = 0;
    std::unique_ptr<Scratch> memory_;
    int32_t *source_ = nullptr, *target_ = nullptr, *offset_ = nullptr, *first_ = nullptr;
    int32_t most_ = 0;
};

}  // namespace hk::detail
