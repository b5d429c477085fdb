#include "topk/gpu_plan.h"

#include <algorithm>

namespace hk::detail {

namespace {

using Kind = TopKStep::Kind;

// Tiles that keep a large GPU busy: eight blocks for each of 128 multiprocessors.
constexpr int64_t kEnoughTiles = 1024;

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

    // The number of columns, and elements of each: the most that leave no more tiles than enough,
    // while the elements of the k best columns are one tile, or a quarter of the columns at most.
    std::pair<int64_t, int64_t> columns() const {
        constexpr int64_t kAligned = 32;
        int64_t stride = problem_.columns, chunk = 1;
        while (problem_.rows * ceil_div(stride, tile_.indices) > kEnoughTiles &&
               stride > tile_.indices) {
            const int64_t columns =
                ceil_div(ceil_div(problem_.columns, 2 * chunk), kAligned) * kAligned;
            const int64_t gathered = problem_.k * 2 * chunk;
            if (columns < problem_.k || (gathered > tile_.indices && 4 * gathered > columns)) break;
            stride = columns;
            chunk *= 2;
        }
        return {stride, ceil_div(problem_.columns, stride)};
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
