#include "kernel_map/pairs.h"

#include <bit>
#include <numeric>
#include <vector>

#include "kernel_map/cells.h"

namespace hk::detail {

namespace {

constexpr int kLongest = Cloud::kSentinels;  // offsets of a run
constexpr size_t kMostRuns = 128;            // to merge

// Offsets first, first + 1, … whose keys differ by 1.
struct Run {
    int64_t first = 0, delta = 0;
    int length = 1;
};

struct Pair {
    int32_t output, input;  // places among the keys
};

// What a run has in a chunk of the output, offset after offset.
struct Piece {
    Array<Pair> pairs;
    std::array<int64_t, kLongest> count{};
    std::array<int64_t, kLongest> before{};  // in the offset, of earlier chunks
};

// Runs of the offsets from `first` on that can connect rows of the cloud.
std::vector<Run> runs_of(const Cloud &cloud, const KernelMapOptions &options, int64_t first) {
    const auto &size = options.kernel_size;
    std::vector<Run> runs;
    const auto along = [&](int axis, int64_t index, int64_t &delta) {
        const int64_t distance = offset_at(size[axis - 1], index) * options.dilation[axis - 1];
        if (std::abs(distance) > cloud.axes[axis].reach) return false;
        delta += distance * (int64_t{1} << cloud.axes[axis].shift);
        return true;
    };
    for (int64_t n = first, end = size[0] * size[1] * size[2]; n < end; n++) {
        const int64_t z = n % size[2], y = n / size[2] % size[1], x = n / size[2] / size[1];
        int64_t delta = 0;
        if (!along(1, x, delta) || !along(2, y, delta) || !along(3, z, delta)) continue;
        Run *last = runs.empty() ? nullptr : &runs.back();
        if (last && z > 0 && last->first + last->length == n &&
            last->delta + last->length == delta && last->length < kLongest) {
            last->length++;
        } else {
            runs.push_back({n, delta, 1});
        }
    }
    return runs;
}

// Pairs of the outputs first to end - 1: offset s of the run from found[s] on.
template<int kLength>
void merge(const int64_t *outputs, int64_t first, int64_t end, const int64_t *inputs,
           int64_t input_count, const Run &run, Pair *const *found, int64_t *count) {
    const int length = kLength ? kLength : run.length;
    std::array<int64_t, kLongest> n{};
    int64_t p = std::lower_bound(inputs, inputs + input_count, outputs[first] + run.delta) - inputs;
    for (int64_t o = first; o < end; o++) {
        const int64_t from = outputs[o] + run.delta;
        // The usual steps without a branch. The sentinels end the loop.
        p += inputs[p] < from;
        p += inputs[p] < from;
        while (inputs[p] < from) p++;
        int64_t q = p;
        for (int s = 0; s < length; s++) {
            const bool hit = inputs[q] == from + s;
            found[s][n[s]] = {static_cast<int32_t>(o), static_cast<int32_t>(q)};
            n[s] += hit;
            q += hit;
        }
    }
    std::copy(n.begin(), n.end(), count);
}

class PairFinder {
public:
    PairFinder(const PairsRequest &request, KernelMap &map, bool symmetric, std::vector<Run> runs)
        : request_(request),
          cloud_(request.cloud),
          map_(map),
          symmetric_(symmetric),
          starts_(map.starts.data<int64_t>()),
          runs_(std::move(runs)) {
        outputs_ = request.keys ? request.keys->begin() : cloud_.keys.begin();
        output_count_ = request.keys ? request.keys->size() : cloud_.size();
        chunks_ = chunks_of(output_count_);
    }

    void find() {
        pieces_.resize(runs_.size() * static_cast<size_t>(chunks_));
        parallel(static_cast<int64_t>(pieces_.size()), [&](int64_t i) { find_piece(i); });
        count();
        map_.imap = Tensor({starts_[map_.offsets]}, DataType::s32);
        map_.omap = Tensor({starts_[map_.offsets]}, DataType::s32);
        imap_ = map_.imap.data<int32_t>();
        omap_ = map_.omap.data<int32_t>();
        if (request_.keys || cloud_.in_order()) {
            parallel(static_cast<int64_t>(pieces_.size()), [&](int64_t i) { write_piece(i); });
        } else {
            write_sorted();
        }
        if (symmetric_) {
            const int64_t start = starts_[map_.offsets / 2];
            for (int32_t *map : {imap_, omap_})
                std::iota(map + start, map + start + output_count_, 0);
        }
    }

private:
    const Run &run_of(int64_t piece) const { return runs_[static_cast<size_t>(piece / chunks_)]; }
    Piece &piece(int64_t run, int64_t chunk) {
        return pieces_[static_cast<size_t>(run * chunks_ + chunk)];
    }
    int64_t opposite(int64_t offset) const { return map_.offsets - 1 - offset; }

    void find_piece(int64_t i) {
        const Run &run = run_of(i);
        const int64_t first = i % chunks_ * kChunk, end = std::min(output_count_, first + kChunk);
        const Array<Pair> memory(run.length * kChunk);
        std::array<Pair *, kLongest> found{};
        for (int s = 0; s < run.length; s++) found[s] = memory.begin() + s * kChunk;
        Piece &piece = pieces_[static_cast<size_t>(i)];
        const auto with = run.length == 1   ? merge<1>
                          : run.length == 2 ? merge<2>
                          : run.length == 3 ? merge<3>
                                            : merge<0>;
        with(outputs_, first, end, cloud_.keys.begin(), cloud_.size(), run, found.data(),
             piece.count.data());
        piece.pairs = Array<Pair>(std::max<int64_t>(
            1, std::accumulate(piece.count.begin(), piece.count.end(), int64_t{0})));
        Pair *to = piece.pairs.begin();
        for (int s = 0; s < run.length; s++) to = std::copy_n(found[s], piece.count[s], to);
    }

    // Starts, and where pieces lie in their offsets.
    void count() {
        std::vector<int64_t> pairs(static_cast<size_t>(map_.offsets));
        if (symmetric_) pairs[static_cast<size_t>(map_.offsets / 2)] = output_count_;
        for (size_t r = 0; r < runs_.size(); r++) {
            for (int s = 0; s < runs_[r].length; s++) {
                int64_t sum = 0;
                for (int64_t chunk = 0; chunk < chunks_; chunk++) {
                    Piece &p = piece(static_cast<int64_t>(r), chunk);
                    p.before[s] = sum;
                    sum += p.count[s];
                }
                const int64_t offset = runs_[r].first + s;
                pairs[static_cast<size_t>(offset)] = sum;
                if (symmetric_) pairs[static_cast<size_t>(opposite(offset))] = sum;
            }
        }
        std::partial_sum(pairs.begin(), pairs.end(), starts_ + 1);
    }

    // Where outputs are in order. A pair's opposite is in order too: both sides ascend.
    void write_piece(int64_t i) {
        const Run &run = run_of(i);
        const Piece &piece = pieces_[static_cast<size_t>(i)];
        const Pair *pair = piece.pairs.begin();
        for (int s = 0; s < run.length; s++) {
            const int64_t to = starts_[run.first + s] + piece.before[s];
            const int64_t count = piece.count[s];
            int32_t *imap = imap_ + to, *omap = omap_ + to;
            for (int64_t p = 0; p < count; p++) {
                omap[p] = pair[p].output;
                imap[p] = static_cast<int32_t>(cloud_.row(pair[p].input));
            }
            if (symmetric_) {
                const int64_t back = starts_[opposite(run.first + s)] + piece.before[s];
                std::copy_n(omap, count, imap_ + back);
                std::copy_n(imap, count, omap_ + back);
            }
            pair += count;
        }
    }

    // One offset of a run, or its opposite, a task.
    void write_sorted() {
        struct Task {
            int64_t run;
            int slot;
            bool swapped;
        };
        std::vector<Task> tasks;
        for (int64_t r = 0; r < static_cast<int64_t>(runs_.size()); r++) {
            for (int s = 0; s < runs_[static_cast<size_t>(r)].length; s++) {
                tasks.push_back({r, s, false});
                if (symmetric_) tasks.push_back({r, s, true});
            }
        }
        parallel(static_cast<int64_t>(tasks.size()), [&](int64_t i) {
            const Task &task = tasks[static_cast<size_t>(i)];
            write_offset(task.run, task.slot, task.swapped);
        });
    }

    // An output has at most one pair of an offset: each is noted in its place, then all are read
    // in order.
    void write_offset(int64_t run, int slot, bool swapped) {
        const Array<int32_t> input(output_count_);
        const Array<uint64_t> there((output_count_ + 63) / 64);
        std::fill(there.begin(), there.end(), 0);
        for (int64_t chunk = 0; chunk < chunks_; chunk++) {
            const Piece &p = piece(run, chunk);
            const Pair *pair =
                std::accumulate(p.count.begin(), p.count.begin() + slot, p.pairs.begin());
            for (int64_t i = 0; i < p.count[slot]; i++) {
                const int32_t a = cloud_.rows[pair[i].output], b = cloud_.rows[pair[i].input];
                const int32_t output = swapped ? b : a;
                input[output] = swapped ? a : b;
                there[output / 64] |= uint64_t{1} << (output % 64);
            }
        }
        const int64_t offset = runs_[static_cast<size_t>(run)].first + slot;
        const int64_t to = starts_[swapped ? opposite(offset) : offset];
        int32_t *imap = imap_ + to, *omap = omap_ + to;
        for (int64_t word = 0; word < there.size(); word++) {
            for (uint64_t bits = there[word]; bits; bits &= bits - 1) {
                const int64_t output = word * 64 + std::countr_zero(bits);
                *omap++ = static_cast<int32_t>(output);
                *imap++ = input[output];
            }
        }
    }

    const PairsRequest &request_;
    const Cloud &cloud_;
    KernelMap &map_;
    const bool symmetric_;
    const int64_t *outputs_ = nullptr;
    int64_t output_count_ = 0, chunks_ = 0;
    int64_t *const starts_;
    int32_t *imap_ = nullptr, *omap_ = nullptr;
    const std::vector<Run> runs_;
    std::vector<Piece> pieces_;  // [run, chunk]
};

}  // namespace

void find_pairs(const PairsRequest &request, KernelMap &map) {
    const auto &size = request.options.kernel_size;
    map.offsets = size[0] * size[1] * size[2];
    map.starts = Tensor::zeros({map.offsets + 1}, DataType::s64);
    const bool symmetric = !request.keys && map.offsets % 2 == 1;
    std::vector<Run> runs;
    if (request.cloud.size() > 0)
        runs = runs_of(request.cloud, request.options, symmetric ? map.offsets / 2 + 1 : 0);
    if (runs.size() > kMostRuns) {
        find_pairs_in_cells(request, map);
    } else {
        PairFinder(request, map, symmetric, std::move(runs)).find();
    }
}

}  // namespace hk::detail
