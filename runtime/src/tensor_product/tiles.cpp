#include "tensor_product/tiles.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "hk/error.h"

namespace hk::detail {

namespace {

constexpr int64_t kMostPlaces = std::numeric_limits<int32_t>::max() / int64_t{sizeof(int32_t)};

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

// Calls block(b) whenever a pair's output row lies in another block than that of the pair before,
// and pair(row of the input, row in the block) for each pair.
template<typename Index, typename Block, typename Pair>
void walk(const PairList<Index> &list, int64_t rows, const Block &block, const Pair &pair) {
    const auto size = static_cast<uint32_t>(rows);
    uint32_t first = 0;
    bool any = false;
    for (int64_t p = 0; p < list.length; p++) {
        const Index source = list.imap[p * list.imap_step];
        const Index target = list.omap[p * list.omap_step];
        if (source < 0 || target < 0) continue;
        const auto row = static_cast<uint32_t>(target);
        if (row - first >= size || !any) {
            any = true;
            first = row / size * size;
            block(row / size);
        }
        pair(static_cast<int32_t>(source), static_cast<int32_t>(row - first));
    }
}

template<typename Index>
Fault fault_of(const PairList<Index> &list, const TensorProductProblem &problem) {
    const auto wrong = [](int64_t index, int64_t rows) { return index < -1 || index >= rows; };
    for (int64_t p = 0; p < list.length; p++) {
        const int64_t source = list.imap[p * list.imap_step];
        const int64_t target = list.omap[p * list.omap_step];
        if (wrong(source, problem.input_rows)) return {p, false, source};
        if (wrong(target, problem.output_rows)) return {p, true, target};
    }
    return {};
}

template<typename Index>
void check_maps(const PairLists<Index> &lists, const TensorProductProblem &problem,
                CallContext &context) {
    std::vector<Fault> faults(static_cast<size_t>(problem.offsets));
    each_offset(problem.offsets, context, [&](int64_t n) {
        faults[static_cast<size_t>(n)] = fault_of(lists[n], problem);
    });
    for (int64_t n = 0; n < problem.offsets; n++) {
        const Fault &fault = faults[static_cast<size_t>(n)];
        if (fault.position >= 0) throw_fault(fault, n, problem);
    }
}

}  // namespace

TileSizes::TileSizes(const KernelInfo &kernel) {
    const halide_filter_metadata_t &metadata = *kernel.metadata();
    for (int i = 0; i < metadata.num_arguments; i++) {
        const halide_filter_argument_t &argument = metadata.arguments[i];
        // A minimum and an extent of each dimension.
        if (argument.name == std::string_view("output")) rows = *argument.buffer_estimates[3];
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

TensorProductTiles::TensorProductTiles(const TensorProductProblem &problem, const Tensor &imap,
                                       const Tensor &omap, const TensorProductOptions &options,
                                       const TileSizes &sizes, CallContext &context) {
    if (imap.type() == DataType::s64) {
        sort<int64_t>(problem, imap, omap, options, sizes, context);
    } else {
        sort<int32_t>(problem, imap, omap, options, sizes, context);
    }
}

template<typename Index>
void TensorProductTiles::sort(const TensorProductProblem &problem, const Tensor &imap,
                              const Tensor &omap, const TensorProductOptions &options,
                              const TileSizes &sizes, CallContext &context) {
    const int64_t offsets = problem.offsets, pairs = sizes.pairs, group = sizes.group;
    const int64_t blocks = (problem.output_rows + sizes.rows - 1) / sizes.rows;
    const PairLists<Index> lists(problem, imap, omap, options.starts);
    if (options.check_maps) check_maps(lists, problem, context);

    // How many pairs an offset has in a block; later where its next one goes.
    const Scratch counted(static_cast<size_t>(blocks * offsets + 1) * sizeof(int64_t));
    auto *count = counted.as<int64_t>();
    if (!count) throw OutOfMemory("tensor_product: no memory left to count pairs");
    std::memset(count, 0, static_cast<size_t>(blocks * offsets) * sizeof(int64_t));
    each_offset(offsets, context, [&](int64_t n) {
        int64_t *in_block = nullptr;
        walk(
            lists[n], sizes.rows, [&](uint32_t b) { in_block = count + b * offsets + n; },
            [&](int32_t, int32_t) { ++*in_block; });
    });

    int64_t tiles = 0;
    for (int64_t b = 0; b < blocks; b++) {
        for (int64_t n = 0; n < offsets; n++) tiles += (count[b * offsets + n] + pairs - 1) / pairs;
        tiles = (tiles + group - 1) / group * group;
    }
    const int64_t places = tiles * pairs;
    if (places > kMostPlaces) {
        fail("the maps fill " + std::to_string(places) + " places of tiles, a kernel takes at most " +
             std::to_string(kMostPlaces));
    }
    if (tiles == 0) return;
    memory_.emplace(static_cast<size_t>(2 * places + tiles + blocks + 1) * sizeof(int32_t));
    auto *source = memory_->as<int32_t>();
    if (!source) throw OutOfMemory("tensor_product: no memory left for tiles");
    int32_t *target = source + places, *offset = target + places, *first = offset + tiles;
    const auto outside = static_cast<int32_t>(sizes.rows);
    const auto fill = [&](int64_t from, int64_t to) {
        std::fill(source + from, source + to, 0);
        std::fill(target + from, target + to, outside);
    };

    int64_t tile = 0;
    for (int64_t b = 0; b < blocks; b++) {
        first[b] = static_cast<int32_t>(tile / group);
        for (int64_t n = 0; n < offsets; n++) {
            int64_t &of_offset = count[b * offsets + n];
            const int64_t end = tile + (of_offset + pairs - 1) / pairs;
            std::fill(offset + tile, offset + end, static_cast<int32_t>(n));
            of_offset = tile * pairs;
            tile = end;
        }
        const int64_t end = (tile + group - 1) / group * group;
        std::fill(offset + tile, offset + end, 0);
        fill(tile * pairs, end * pairs);
        tile = end;
        most_ = std::max(most_, static_cast<int32_t>(tile / group - first[b]));
    }
    first[blocks] = static_cast<int32_t>(tile / group);

    each_offset(offsets, context, [&](int64_t n) {
        int64_t *next = nullptr, at = 0;
        const auto leave = [&] {
            if (next) *next = at;
        };
        walk(
            lists[n], sizes.rows,
            [&](uint32_t b) {
                leave();
                next = count + b * offsets + n;
                at = *next;
            },
            [&](int32_t from, int32_t to) {
                source[at] = from;
                target[at++] = to;
            });
        leave();
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t end = count[b * offsets + n];
            fill(end, (end + pairs - 1) / pairs * pairs);
        }
    });
    source_.open(source, pairs, tiles);
    target_.open(target, pairs, tiles);
    offset_.open(offset, tiles, 0);
    first_.open(first, blocks + 1, 0);
}

}  // namespace hk::detail
