#include "topk/gpu_plan.h"

#include <algorithm>
#include <cmath>

namespace hk::detail {

namespace {

using Kind = TopKStep::Kind;

// Items that keep a large GPU busy, of all rows: one tile of 1024 for each of 128 multiprocessors;
// four where their columns have enough elements to hide what sorting takes.
constexpr int64_t kFewItems = 1 << 17, kManyItems = 4 * kFewItems, kLongColumn = 16;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Planner {
public:
    Planner(const TopKProblem &problem, const TopKTileSizes &tile)
        : problem_(problem), tile_(tile) {}

    std::vector<TopKStep> plan() {
        const auto [stride, chunk] = columns();
        if (chunk > 1) {
            sort({Kind::tiles, true, stride, stride, chunk, 0, 0}, true);
            sort({Kind::gather, true, problem_.k * chunk, stride, chunk, 0, 0}, problem_.indices);
        } else {
            sort({Kind::tiles, true, stride, stride, 1, 0, 0}, problem_.indices);
        }
        return std::move(steps_);
    }

private:
    const TopKProblem &problem_;
    const TopKTileSizes &tile_;
    std::vector<TopKStep> steps_;

    int64_t tile(bool indices) const { return indices ? tile_.indices : tile_.keys; }
    int64_t kept(int64_t tile) const {
        return tile <= kTopKWholeTile ? tile : std::min(problem_.k, tile);
    }
    // Whether sorting lists again beats merging them twice.
    bool sorts_again() const { return 4 * kept(tile_.indices) <= tile_.indices; }

    // The number of columns, and elements of each: whole tiles of columns, no more than keep a GPU
    // busy, or than make columns and the elements of the k best of them fewest together.
    std::pair<int64_t, int64_t> columns() const {
        const int64_t row = problem_.columns, rows = std::max<int64_t>(problem_.rows, 1);
        const int64_t busy = std::clamp(row * rows / kLongColumn, kFewItems, kManyItems) / rows;
        const auto fewest = static_cast<int64_t>(
            std::ceil(std::sqrt(static_cast<double>(row) * static_cast<double>(problem_.k))));
        const int64_t whole = std::max<int64_t>(tile_.indices, 32);
        const int64_t stride = ceil_div(std::max(busy, fewest), whole) * whole;
        if (stride >= row) return {row, 1};
        return {stride, ceil_div(row, stride)};
    }

    // The step, and those that make its lists one. Where the result needs no indices, none are
    // carried, but for lists that are sorted again: those are indices.
    void sort(TopKStep step, bool indices) {
        const bool again = sorts_again();
        step.indices = indices || (again && step.items > tile_.keys);
        push_tiles(step);
        while (steps_.back().lists > 1) {
            const TopKStep &last = steps_.back();
            const int64_t items = last.places * last.lists;
            if (again) {
                push_tiles({Kind::gather, indices || items > tile_.keys, items, problem_.columns, 1,
                            0, 0});
            } else {
                steps_.push_back({Kind::merge, last.indices, items, 0, 0,
                                  std::min(problem_.k, 2 * last.places), ceil_div(last.lists, 2)});
            }
        }
    }

    void push_tiles(TopKStep step) {
        const int64_t size = tile(step.indices);
        step.places = kept(size);
        step.lists = ceil_div(step.items, size);
        steps_.push_back(step);
    }
};

}  // namespace

std::vector<TopKStep> topk_plan(const TopKProblem &problem, const TopKTileSizes &tile) {
    return Planner(problem, tile).plan();
}

}  // namespace hk::detail
