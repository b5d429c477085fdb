#pragma once
// The pairs of a tensor product, sorted into the chunks of
// generators/tensor_product/tensor_product_backward_weight.h: of one block of output rows and one
// offset each, and as many slices of whole blocks as are worth memory for their sums. Where an
// offset has more chunks than f32 adds up, slices are shorter, and a kernel runs for some of them
// after the others.

#include <span>

#include "memory/scratch.h"
#include "tensor_product/index_buffer.h"
#include "tensor_product/maps.h"

namespace hk::detail {

class BlockLists;

// Chosen by the problem alone, for the same sums on any number of threads.
struct ChunkSizes {
    // kernel: its estimates say what channels are filled up to.
    ChunkSizes(const KernelInfo &kernel, const TensorProductProblem &problem);

    int64_t channels = 0, depth = 0;  // of output and input, filled up to multiples of them
    int64_t pairs = 0;                // of a chunk, at most
    int64_t rows = 0;                 // of a block
    int64_t slices = 0;
    int64_t chunks = 0;   // of one offset in a slice, at most
    int64_t at_once = 0;  // slices of a call of the kernel, at most
};

class TensorProductChunks : public TensorProductMaps::Impl::Form {
public:
    struct Key {
        int64_t pairs, rows, slices, chunks;

        bool operator==(const Key &) const = default;
    };

    // Throws InvalidArgument for more pairs than a kernel counts, OutOfMemory.
    TensorProductChunks(const char *operation, const TensorProductMaps::Impl &maps, const Key &key);

    const Key &key() const { return key_; }
    size_t bytes() const override { return bytes_; }
    bool empty() const { return pairs_ == 0; }

    // As a kernel reads them; not where there are no pairs.
    IndexBuffer source() const { return {source_, pairs_}; }
    IndexBuffer target() const { return {target_, pairs_}; }
    IndexBuffer begin() const { return {begin_, chunks_ + 1}; }
    IndexBuffer offset() const { return {offset_, chunks_}; }
    int64_t slices() const { return slices_; }
    IndexBuffer first(int64_t slice, int64_t count) const { return {first_ + slice, count + 1}; }
    int32_t most() const { return most_; }  // chunks of a slice

    std::span<const int32_t> sources() const { return span(source_, pairs_); }
    std::span<const int32_t> targets() const { return span(target_, pairs_); }
    std::span<const int32_t> begins() const { return span(begin_, chunks_ + 1); }
    std::span<const int32_t> offsets() const { return span(offset_, chunks_); }

private:
    static std::span<const int32_t> span(const int32_t *numbers, int64_t count) {
        return {numbers, static_cast<size_t>(count)};
    }

    template<typename Index>
    void sort(const char *operation, const PairMaps &maps);
    void allocate(const char *operation);
    void lay_out(const BlockLists &lists, int64_t blocks, int64_t offsets);
    void end_slice(int64_t chunk);

    Key key_;
    int64_t pairs_ = 0, chunks_ = 0, slices_ = 0;
    size_t bytes_ = 0;
    std::unique_ptr<Scratch> memory_;
    int32_t *source_ = nullptr, *target_ = nullptr, *begin_ = nullptr, *offset_ = nullptr,
            *first_ = nullptr;
    int32_t most_ = 0;
};

}  // namespace hk::detail
