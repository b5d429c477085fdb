#include "tensor_product/tiles.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hk/error.h"

namespace hk::detail {

namespace {

constexpr int64_t kMostPlaces = std::numeric_limits<int32_t>::max() / int64_t{sizeof(int32_t)};

constexpr int kChunk = 64;  // pairs that are looked at at once

[[noreturn]] void fail(const std::string &what) {
    throw InvalidArgument("tensor_product: " + what);
}

// An index that is out of range: the first one of its offset.
struct Fault {
    int64_t position = -1;  // none
    bool output = false;
    int64_t value = 0;
};

[[noreturn]] void throw_fault(const Fault &fault, int64_t n, const TensorProductProblem &problem) {
    const char *map = fault.output ? "omap" : "imap", *tensor = fault.output ? "output" : "input";
    fail(std::string(map) + " of offset " + std::to_string(n) + " is " +
         std::to_string(fault.value) + " at position " + std::to_string(fault.position) + ", " +
         tensor + " has " +
         std::to_string(fault.output ? problem.output_rows : problem.input_rows) + " rows");
}

// The pairs of an offset.
template<typename Index>
struct PairList {
    const Index *imap, *omap;
    int64_t length, imap_step, omap_step;

    int64_t source(int64_t p) const { return imap[p * imap_step]; }
    int64_t target(int64_t p) const { return omap[p * omap_step]; }
    bool packed() const { return imap_step == 1 && omap_step == 1; }
};

template<typename Index>
class PairLists {
public:
    PairLists(const TensorProductProblem &problem, const Tensor &imap, const Tensor &omap,
              const Tensor &starts)
        : imap_(imap), omap_(omap) {
        if (!starts.defined()) return;
        int64_t least = 0;
        for (int64_t n = 0; n <= problem.offsets; n++) {
            const int64_t at = n * starts.strides()[0];
            const int64_t start = starts.type() == DataType::s64 ? starts.data<int64_t>()[at]
                                                                 : starts.data<int32_t>()[at];
            if (start < least || start > problem.pairs) {
                fail("starts is " + std::to_string(start) + " at position " + std::to_string(n) +
                     ", it must be " + std::to_string(least) + " to " +
                     std::to_string(problem.pairs));
            }
            least = start;
            starts_.push_back(start);
        }
    }

    PairList<Index> operator[](int64_t n) const {
        const auto list = [&](int64_t i, int64_t o, int64_t length, int dim) {
            return PairList<Index>{imap_.data<Index>() + i, omap_.data<Index>() + o, length,
                                   imap_.strides()[dim], omap_.strides()[dim]};
        };
        if (starts_.empty()) {
            return list(n * imap_.strides()[0], n * omap_.strides()[0], imap_.shape()[1], 1);
        }
        return list(starts_[n] * imap_.strides()[0], starts_[n] * omap_.strides()[0],
                    starts_[n + 1] - starts_[n], 0);
    }

private:
    const Tensor &imap_, &omap_;
    std::vector<int64_t> starts_;
};

// On all threads; `one` must not throw.
template<typename One>
void each_offset(int64_t offsets, CallContext &context, One one) {
    const auto task = [](void *, int n, uint8_t *closure) {
        (*reinterpret_cast<One *>(closure))(n);
        return 0;
    };
    halide_do_par_for(&context, task, 0, static_cast<int>(offsets),
                      reinterpret_cast<uint8_t *>(&one));
}

// Whether each of the 64 pairs from p on is one, and reaches a row from least on. Without a branch,
// for vectors.
template<typename Index>
bool all_in_block(const PairList<Index> &list, int64_t p, int64_t least, int64_t rows) {
    using Unsigned = std::make_unsigned_t<Index>;
    const Index *sources = list.imap + p, *targets = list.omap + p;
    const auto from = static_cast<Unsigned>(least), count = static_cast<Unsigned>(rows);
    Unsigned outside = 0;
    for (int i = 0; i < kChunk; i++) {
        outside |= static_cast<Unsigned>(static_cast<Unsigned>(targets[i]) - from) >= count;
        outside |= sources[i] < 0;
    }
    return outside == 0;
}

// Calls run(b, first, end) for positions of pairs that reach rows of block b, without padding.
template<typename Index, typename Run>
void each_run(const PairList<Index> &list, int64_t rows, const Run &run) {
    for (int64_t p = 0; p < list.length;) {
        const int64_t row = list.target(p);
        if (row < 0 || list.source(p) < 0) {
            p++;
            continue;
        }
        const auto block = static_cast<uint32_t>(row) / static_cast<uint32_t>(rows);
        const int64_t first = p, least = block * rows;
        const auto here = [&](int64_t at) {
            return static_cast<uint64_t>(list.target(at) - least) < static_cast<uint64_t>(rows) &&
                   list.source(at) >= 0;
        };
        p++;
        while (list.packed() && p + kChunk <= list.length && here(p + kChunk - 1) &&
               all_in_block(list, p, least, rows)) {
            p += kChunk;
        }
        while (p < list.length && here(p)) p++;
        run(block, first, p);
    }
}

// Whether an index is neither of a row nor -1. Without a branch, for vectors.
template<typename Index>
bool any_outside(const Index *map, int64_t length, int64_t step, int64_t rows) {
    using Unsigned = std::make_unsigned_t<Index>;
    const auto limit = static_cast<Unsigned>(rows);
    const auto outside = [&](Index index) {
        return static_cast<Unsigned>(static_cast<Unsigned>(index) + 1) > limit;
    };
    Unsigned any = 0;
    if (step == 1) {
        for (int64_t p = 0; p < length; p++) any |= outside(map[p]);
    } else {
        for (int64_t p = 0; p < length; p++) any |= outside(map[p * step]);
    }
    return any;
}

template<typename Index>
Fault fault_of(const PairList<Index> &list, const TensorProductProblem &problem) {
    if (!any_outside(list.imap, list.length, list.imap_step, problem.input_rows) &&
        !any_outside(list.omap, list.length, list.omap_step, problem.output_rows)) {
        return {};
    }
    const auto outside = [](int64_t index, int64_t rows) { return index < -1 || index >= rows; };
    int64_t p = 0;
    for (;; p++) {
        if (outside(list.source(p), problem.input_rows)) return {p, false, list.source(p)};
        if (outside(list.target(p), problem.output_rows)) return {p, true, list.target(p)};
    }
}

// How many pairs each offset has in each block, [block, offset]; later where its next one goes.
class Places {
public:
    Places(int64_t blocks, int64_t offsets)
        : blocks_(blocks),
          offsets_(offsets),
          memory_(static_cast<size_t>(blocks * offsets + 1) * sizeof(int64_t)) {
        if (!begin()) throw OutOfMemory("tensor_product: no memory left to count pairs");
        std::fill(begin(), begin() + blocks * offsets, 0);
    }

    int64_t &of(int64_t block, int64_t offset) { return begin()[block * offsets_ + offset]; }

    // Of all pairs, with whole groups in each block.
    int64_t tiles(const TileSizes &sizes) {
        int64_t tiles = 0;
        for (int64_t b = 0; b < blocks_; b++) {
            for (int64_t n = 0; n < offsets_; n++) tiles += sizes.tiles(of(b, n));
            tiles = sizes.whole_groups(tiles);
        }
        return tiles;
    }

private:
    int64_t *begin() { return memory_.as<int64_t>(); }

    int64_t blocks_, offsets_;
    Scratch memory_;
};

}  // namespace

TileSizes::TileSizes(const KernelInfo &kernel) {
    const halide_filter_metadata_t &metadata = *kernel.metadata();
    for (int i = 0; i < metadata.num_arguments; i++) {
        const halide_filter_argument_t &argument = metadata.arguments[i];
        // A minimum and an extent of each dimension.
        if (argument.name == std::string_view("output")) {
            channels = *argument.buffer_estimates[1];
            rows = *argument.buffer_estimates[3];
        }
        if (argument.name == std::string_view("weight")) depth = *argument.buffer_estimates[3];
        if (argument.name == std::string_view("source")) {
            pairs = *argument.buffer_estimates[1];
            group = *argument.buffer_estimates[3];
        }
    }
}

void TensorProductTiles::Buffer::open(int32_t *data, int64_t inner, int64_t outer) {
    dims[0] = {0, static_cast<int32_t>(inner), 1, 0};
    dims[1] = {0, static_cast<int32_t>(outer), static_cast<int32_t>(inner), 0};
    buffer.type = {halide_type_int, 32};
    buffer.host = reinterpret_cast<uint8_t *>(data);
    buffer.dimensions = outer > 0 ? 2 : 1;
    buffer.dim = dims;
}

// The arrays that a kernel reads.
struct TensorProductTiles::Arrays {
    int32_t *source, *target, *offset, *first;
    int32_t outside;  // the row after a block's

    void fill(int64_t from, int64_t to) const {
        std::fill(source + from, source + to, 0);
        std::fill(target + from, target + to, outside);
    }

    template<typename Index>
    void put(const PairList<Index> &list, int64_t from, int64_t to, int64_t least,
             int64_t at) const {
        const Index *sources = list.imap + from * list.imap_step;
        const Index *targets = list.omap + from * list.omap_step;
        const int64_t count = to - from;
        if (list.packed()) {
            for (int64_t p = 0; p < count; p++) {
                source[at + p] = static_cast<int32_t>(sources[p]);
                target[at + p] = static_cast<int32_t>(targets[p] - static_cast<Index>(least));
            }
            return;
        }
        for (int64_t p = 0; p < count; p++) {
            source[at + p] = static_cast<int32_t>(sources[p * list.imap_step]);
            target[at + p] = static_cast<int32_t>(targets[p * list.omap_step] - least);
        }
    }
};

TensorProductTiles::TensorProductTiles(const TensorProductProblem &problem, const Tensor &imap,
                                       const Tensor &omap, const TensorProductOptions &options,
                                       const TileSizes &sizes, CallContext &context) {
    if (imap.type() == DataType::s64) {
        sort(PairLists<int64_t>(problem, imap, omap, options.starts), problem, options, sizes,
             context);
    } else {
        sort(PairLists<int32_t>(problem, imap, omap, options.starts), problem, options, sizes,
             context);
    }
}

template<typename Lists>
void TensorProductTiles::sort(const Lists &lists, const TensorProductProblem &problem,
                              const TensorProductOptions &options, const TileSizes &sizes,
                              CallContext &context) {
    const int64_t offsets = problem.offsets;
    const int64_t blocks = (problem.output_rows + sizes.rows - 1) / sizes.rows;
    Places places(blocks, offsets);
    std::vector<Fault> faults(static_cast<size_t>(offsets));
    each_offset(offsets, context, [&](int64_t n) {
        Fault &fault = faults[static_cast<size_t>(n)];
        if (options.check_maps) fault = fault_of(lists[n], problem);
        if (fault.position >= 0) return;
        each_run(lists[n], sizes.rows,
                 [&](int64_t b, int64_t first, int64_t end) { places.of(b, n) += end - first; });
    });
    for (int64_t n = 0; n < offsets; n++) {
        const Fault &fault = faults[static_cast<size_t>(n)];
        if (fault.position >= 0) throw_fault(fault, n, problem);
    }
    const int64_t tiles = places.tiles(sizes);
    if (tiles == 0) return;
    const Arrays arrays = allocate(tiles, blocks, sizes);

    int64_t tile = 0;
    for (int64_t b = 0; b < blocks; b++) {
        arrays.first[b] = static_cast<int32_t>(tile / sizes.group);
        for (int64_t n = 0; n < offsets; n++) {
            const int64_t end = tile + sizes.tiles(places.of(b, n));
            std::fill(arrays.offset + tile, arrays.offset + end, static_cast<int32_t>(n));
            places.of(b, n) = tile * sizes.pairs;
            tile = end;
        }
        const int64_t end = sizes.whole_groups(tile);
        std::fill(arrays.offset + tile, arrays.offset + end, 0);
        arrays.fill(tile * sizes.pairs, end * sizes.pairs);
        tile = end;
        most_ = std::max(most_, static_cast<int32_t>(tile / sizes.group) - arrays.first[b]);
    }
    arrays.first[blocks] = static_cast<int32_t>(tile / sizes.group);

    each_offset(offsets, context, [&](int64_t n) {
        const auto list = lists[n];
        each_run(list, sizes.rows, [&](int64_t b, int64_t first, int64_t end) {
            int64_t &next = places.of(b, n);
            arrays.put(list, first, end, b * sizes.rows, next);
            next += end - first;
        });
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t end = places.of(b, n);
            arrays.fill(end, sizes.tiles(end) * sizes.pairs);
        }
    });
}

TensorProductTiles::Arrays TensorProductTiles::allocate(int64_t tiles, int64_t blocks,
                                                        const TileSizes &sizes) {
    const int64_t places = tiles * sizes.pairs;
    if (places > kMostPlaces) {
        fail("the maps fill " + std::to_string(places) +
             " places of tiles, a kernel takes at most " + std::to_string(kMostPlaces));
    }
    memory_.emplace(static_cast<size_t>(2 * places + tiles + blocks + 1) * sizeof(int32_t));
    auto *source = memory_->as<int32_t>();
    if (!source) throw OutOfMemory("tensor_product: no memory left for tiles");
    int32_t *target = source + places, *offset = target + places, *first = offset + tiles;
    source_.open(source, sizes.pairs, tiles);
    target_.open(target, sizes.pairs, tiles);
    offset_.open(offset, tiles, 0);
    first_.open(first, blocks + 1, 0);
    return {source, target, offset, first, static_cast<int32_t>(sizes.rows)};
}

}  // namespace hk::detail
