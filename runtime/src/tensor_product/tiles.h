#pragma once
// The pairs of a tensor product, sorted into the tiles of generators/tensor_product.h.
//
// The sort is stable: within an output row pairs stay in the order of offsets and positions, which
// is the order of their sum. Two passes over the maps, offsets side by side on all threads: one
// counts the pairs of each offset and block, one puts them where they belong.

#include <optional>

#include "HalideRuntime.h"
#include "block_cache.h"
#include "call_context.h"
#include "hk/tensor_product.h"

namespace hk::detail {

// What a compiled kernel says of its tiles.
struct TileSizes {
    explicit TileSizes(const KernelInfo &kernel);

    int64_t channels = 0, rows = 0;  // of the output, of a block
    int64_t pairs = 0, group = 0;    // of a tile; tiles of a group
    int64_t depth = 0;               // channels of the input are filled up to a multiple of it

    int64_t tiles(int64_t of_pairs) const { return (of_pairs + pairs - 1) / pairs; }
    int64_t whole_groups(int64_t tiles) const { return (tiles + group - 1) / group * group; }
};

class TensorProductTiles {
public:
    // Throws InvalidArgument for starts that are none, for an index out of range where
    // options.check_maps is set, and for more tiles than a kernel counts; OutOfMemory.
    TensorProductTiles(const TensorProductProblem &problem, const Tensor &imap, const Tensor &omap,
                       const TensorProductOptions &options, const TileSizes &sizes,
                       CallContext &context);
    TensorProductTiles(const TensorProductTiles &) = delete;
    TensorProductTiles &operator=(const TensorProductTiles &) = delete;

    // Buffers for a kernel; not where there are no pairs.
    bool empty() const { return first_.dims[0].extent == 0; }
    halide_buffer_t *source() { return &source_.buffer; }
    halide_buffer_t *target() { return &target_.buffer; }
    halide_buffer_t *offset() { return &offset_.buffer; }
    halide_buffer_t *first() { return &first_.buffer; }
    int32_t most() const { return most_; }  // groups of a block

private:
    struct Buffer {
        halide_buffer_t buffer{};
        halide_dimension_t dims[2]{};

        void open(int32_t *data, int64_t inner, int64_t outer);
    };

    struct Arrays;

    template<typename Lists>
    void sort(const Lists &lists, const TensorProductProblem &problem,
              const TensorProductOptions &options, const TileSizes &sizes, CallContext &context);
    Arrays allocate(int64_t tiles, int64_t blocks, const TileSizes &sizes);

    std::optional<Scratch> memory_;
    Buffer source_, target_, offset_, first_;
    int32_t most_ = 0;
};

}  // namespace hk::detail
