#pragma once
// The maps of a tensor product as C++ walks over them: the pairs of each offset, from a source row
// to a target row, in runs of the blocks of target rows that they reach.

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "HalideRuntime.h"
#include "call_context.h"
#include "hk/error.h"
#include "hk/tensor.h"
#include "memory/scratch.h"

namespace hk::detail {

// One of the two maps.
struct PairSide {
    const Tensor &map;
    int64_t rows;  // of the tensor that it points into
};

struct PairMaps {
    PairSide source, target;
    const std::vector<int64_t> &starts;  // [offsets + 1], of ragged maps; empty: they are padded
    int64_t offsets;
};

// The pairs of an offset.
template<typename Index>
struct PairList {
    const Index *sources, *targets;
    int64_t length, source_step, target_step;

    int64_t source(int64_t p) const { return sources[p * source_step]; }
    int64_t target(int64_t p) const { return targets[p * target_step]; }
    bool packed() const { return source_step == 1 && target_step == 1; }
};

template<typename Index>
PairList<Index> pair_list(const PairMaps &maps, int64_t n) {
    const Tensor &sources = maps.source.map, &targets = maps.target.map;
    const bool ragged = !maps.starts.empty();
    const auto at = static_cast<size_t>(n);
    const int64_t first = ragged ? maps.starts[at] : n;
    const int64_t length = ragged ? maps.starts[at + 1] - first : sources.shape()[1];
    const size_t step = ragged ? 0 : 1;
    return {sources.data<Index>() + first * sources.strides()[0],
            targets.data<Index>() + first * targets.strides()[0], length, sources.strides()[step],
            targets.strides()[step]};
}

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

constexpr int kPairsAtOnce = 64;

// Whether each of the pairs from p on is one, and reaches a row from least on. Without a branch,
// for vectors.
template<typename Index>
bool all_in_block(const PairList<Index> &list, int64_t p, int64_t least, int64_t rows) {
    using Unsigned = std::make_unsigned_t<Index>;
    const Index *sources = list.sources + p, *targets = list.targets + p;
    const auto from = static_cast<Unsigned>(least), count = static_cast<Unsigned>(rows);
    Unsigned outside = 0;
    for (int i = 0; i < kPairsAtOnce; i++) {
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
        while (list.packed() && p + kPairsAtOnce <= list.length && here(p + kPairsAtOnce - 1) &&
               all_in_block(list, p, least, rows)) {
            p += kPairsAtOnce;
        }
        while (p < list.length && here(p)) p++;
        run(block, first, p);
    }
}

// A number for each block and offset: of pairs, then where the next one goes.
class PairPlaces {
public:
    PairPlaces(int64_t blocks, int64_t offsets)
        : offsets_(offsets), memory_(static_cast<size_t>(blocks * offsets + 1) * sizeof(int64_t)) {
        memory_.required_as<int64_t>("tensor_product");
        std::fill(begin(), begin() + blocks * offsets, 0);
    }

    int64_t &of(int64_t block, int64_t offset) { return begin()[block * offsets_ + offset]; }

private:
    int64_t *begin() { return memory_.as<int64_t>(); }

    int64_t offsets_;
    Scratch memory_;
};

// A stable sort by blocks of target rows and, in a block, by offsets, in two passes over the maps,
// offsets side by side on all threads. In between lay_out(places) makes of each number of pairs
// the place of the first; then put(list, first, end, block, place) moves a run, and
// end_of(block, offset, place) hears where a block's pairs of an offset end.
template<typename Index, typename LayOut, typename Put, typename EndOf>
void sort_pairs(const PairMaps &maps, int64_t rows, CallContext &context, const LayOut &lay_out,
                const Put &put, const EndOf &end_of) {
    const int64_t blocks = (maps.target.rows + rows - 1) / rows;
    PairPlaces places(blocks, maps.offsets);
    each_offset(maps.offsets, context, [&](int64_t n) {
        each_run(pair_list<Index>(maps, n), rows,
                 [&](int64_t b, int64_t first, int64_t end) { places.of(b, n) += end - first; });
    });
    if (!lay_out(places)) return;
    each_offset(maps.offsets, context, [&](int64_t n) {
        const auto list = pair_list<Index>(maps, n);
        each_run(list, rows, [&](int64_t b, int64_t first, int64_t end) {
            int64_t &next = places.of(b, n);
            put(list, first, end, b, next);
            next += end - first;
        });
        for (int64_t b = 0; b < blocks; b++) end_of(b, n, places.of(b, n));
    });
}

}  // namespace hk::detail
