#pragma once
// Rows of a tensor product that more pairs reach than f32 adds up well, one after the other.
//
// The pairs of such a row are split, in the order of the maps, into parts of at most 4096. A part
// is a row of its own: one more product computes them all, and their sums are added up in f64. So
// the error does not grow with the number of pairs, and parts run side by side. Rejected: one call
// for each part, which adds to the row. Atomic kernels would still add all pairs one after the
// other, and stationary ones would take as long for one part as for a block of 64.

#include <optional>
#include <vector>

#include "tensor_product/maps.h"

namespace hk::detail {

class TensorProductLongRows : public TensorProductMaps::Impl::Form {
public:
    using Direction = TensorProductMaps::Impl::Direction;

    static constexpr int64_t kMostPairs = 32768;  // of a row that is not long
    static constexpr int64_t kPart = 4096;        // pairs of a part, at most

    struct Key {
        Direction direction;
        int64_t
            most;  // pairs of a row that is not long, at most kMostPairs; a part has no more either

        bool operator==(const Key &) const = default;
    };

    // Throws OutOfMemory.
    TensorProductLongRows(const TensorProductMaps::Impl &maps, const Key &key);

    const Key &key() const { return key_; }
    size_t bytes() const override;

    // Whether there are none; what follows is for those that there are.
    bool empty() const { return rows_.empty(); }

    // The maps, with padding in place of the pairs to long rows.
    const TensorProductMaps &others() const { return *others_; }

    // The maps with parts in place of the long rows, and padding in place of other rows' pairs.
    const TensorProductMaps &parts() const { return *parts_; }
    int64_t count() const { return rows_.back().end; }  // of parts

    // Adds parts [count, channels] to the rows of the result, on any device, each row rounded once.
    // Work on either that is not on the library's own queue must be done.
    void add(const Tensor &parts, const Tensor &result) const;

private:
    struct LongRow {
        int64_t row, first, end;  // parts
    };

    template<typename Index>
    void find(const PairMaps &maps, std::vector<int64_t> &counts);
    template<typename Index>
    void split(const TensorProductMaps::Impl &maps, const PairMaps &pairs,
               std::vector<int64_t> &next);

    const Key key_;
    const int64_t part_;
    std::vector<LongRow> rows_;
    std::optional<TensorProductMaps> others_, parts_;
    size_t bytes_ = 0;  // of the maps' own
};

}  // namespace hk::detail
