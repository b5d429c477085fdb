#include "tensor_product/chunks.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hk/error.h"
#include "tensor_product/operands.h"
#include "tensor_product/pair_sort.h"

namespace hk::detail {

namespace {

constexpr int64_t kMostPairs = std::numeric_limits<int32_t>::max() / int64_t{sizeof(int32_t)};

// Rows of input and output that a block's pairs gather, about as many bytes each, stay in half of
// an L2 cache of 1 MB while offset after offset reads them.
constexpr int64_t kBlockBytes = 128 << 10;

constexpr int64_t kSliceBytes = 64 << 20;  // of all slices' sums
constexpr int64_t kMostSlices = 32;
// A slice's sums are written, read and added up: a twentieth of the time of its products where it
// has a thousand pairs for each offset.
constexpr int64_t kPairsOfOffset = 1024, kPairsOfSlice = 4096;

}  // namespace

ChunkSizes::ChunkSizes(const KernelInfo &kernel, const TensorProductProblem &problem)
    : channels(kernel.extent("output", 0)),
      depth(kernel.extent("output", 2)),
      pairs(kernel.extent("source", 0)) {
    const auto whole = [](int64_t size, int64_t of) { return (size + of - 1) / of * of; };
    const int64_t bytes = problem.type == DataType::f64 ? 8 : 4;
    const int64_t widest = std::max(problem.input_channels, problem.output_channels);
    rows = std::clamp<int64_t>(kBlockBytes / bytes / std::max<int64_t>(widest, 1), 64, 2048);
    const double sums = static_cast<double>(whole(problem.output_channels, channels)) *
                        static_cast<double>(whole(problem.input_channels, depth)) *
                        static_cast<double>(std::max<int64_t>(problem.offsets, 1)) *
                        static_cast<double>(bytes);
    const auto fit = static_cast<int64_t>(kSliceBytes / std::max(sums, 1.0));
    const int64_t worth = problem.pairs / std::max(kPairsOfSlice, kPairsOfOffset * problem.offsets);
    slices = std::clamp<int64_t>(std::min(fit, worth), 1, kMostSlices);
    chunks = std::min(kMostPairs, most_additions(problem.type));
    at_once = std::clamp<int64_t>(fit, 1, kMostSlices);
}

TensorProductChunks::TensorProductChunks(const char *operation, const TensorProductMaps::Impl &maps,
                                         const Key &key)
    : key_(key) {
    const PairMaps pairs = maps.pairs(TensorProductMaps::Impl::Direction::forward);
    if (maps.imap.type() == DataType::s64) {
        sort<int64_t>(operation, pairs);
    } else {
        sort<int32_t>(operation, pairs);
    }
}

template<typename Index>
void TensorProductChunks::sort(const char *operation, const PairMaps &maps) {
    const int64_t blocks = (maps.target.rows + key_.rows - 1) / key_.rows;
    const auto lay_out = [&](const BlockLists &lists) {
        for (int64_t b = 0; b < blocks; b++) {
            for (const BlockPairs *of_block : lists.of(b)) {
                pairs_ += of_block->place;
                chunks_ += (of_block->place + key_.pairs - 1) / key_.pairs;
            }
        }
        if (pairs_ == 0) return false;
        allocate(operation);
        this->lay_out(lists, blocks, maps.offsets);
        return true;
    };
    const auto put = [&](const PairList<Index> &list, int64_t from, int64_t to, int64_t,
                         int64_t place) {
        for (int64_t p = from; p < to; p++) {
            source_[place + p - from] = static_cast<int32_t>(list.source(p));
            target_[place + p - from] = static_cast<int32_t>(list.target(p));
        }
    };
    sort_pairs<Index>(maps, key_.rows, lay_out, put, [](int64_t) {});
}

// Slices of about as many pairs each, but for those that end early.
void TensorProductChunks::lay_out(const BlockLists &lists, int64_t blocks, int64_t offsets) {
    int64_t pair = 0, chunk = 0, equal = 0;
    std::vector<int64_t> of_slice(static_cast<size_t>(offsets));  // chunks
    const auto end = [&] {
        end_slice(chunk);
        std::fill(of_slice.begin(), of_slice.end(), 0);
    };
    first_[0] = 0;
    for (int64_t b = 0; b < blocks; b++) {
        for (BlockPairs *of_block : lists.of(b)) {
            const int64_t last = pair + of_block->place;
            of_block->place = pair;
            int64_t &of_offset = of_slice[static_cast<size_t>(of_block->offset)];
            for (; pair < last; pair = std::min(pair + key_.pairs, last)) {
                if (of_offset == key_.chunks) end();
                of_offset++;
                begin_[chunk] = static_cast<int32_t>(pair);
                offset_[chunk++] = of_block->offset;
            }
        }
        if (pair * key_.slices >= pairs_ * (equal + 1) && chunk > first_[slices_]) {
            equal++;
            end();
        }
    }
    begin_[chunk] = static_cast<int32_t>(pair);
}

void TensorProductChunks::end_slice(int64_t chunk) {
    most_ = std::max(most_, static_cast<int32_t>(chunk) - first_[slices_]);
    first_[++slices_] = static_cast<int32_t>(chunk);
}

void TensorProductChunks::allocate(const char *operation) {
    if (pairs_ > kMostPairs) {
        throw InvalidArgument(std::string(operation) + ": there are " + std::to_string(pairs_) +
                              " pairs, a kernel takes at most " + std::to_string(kMostPairs));
    }
    const int64_t slices = key_.slices + chunks_ / key_.chunks;
    const int64_t numbers = 2 * pairs_ + 2 * chunks_ + 1 + slices + 1;
    bytes_ = static_cast<size_t>(numbers) * sizeof(int32_t);
    memory_ = std::make_unique<Scratch>(bytes_);
    source_ = memory_->required_as<int32_t>(operation);
    target_ = source_ + pairs_;
    begin_ = target_ + pairs_;
    offset_ = begin_ + chunks_ + 1;
    first_ = offset_ + chunks_;
}

}  // namespace hk::detail
