#include "software_cuda/ptx/loops.h"

#include <algorithm>
#include <map>
#include <set>

namespace software_cuda {

namespace {

using Edges = std::vector<std::vector<uint32_t>>;

Edges successors_of(const Program &program) {
    const auto count = static_cast<uint32_t>(program.blocks.size());
    Edges successors(count);
    for (uint32_t n = 0; n < count; n++) {
        const Instruction &last = program.code[program.blocks[n].end - 1];
        const bool may_stay = last.guard != kNone;
        if (last.op == Op::branch) successors[n].push_back(last.target);
        const bool leaves = (last.op == Op::branch || last.op == Op::exit) && !may_stay;
        if (!leaves && n + 1 < count) successors[n].push_back(n + 1);
    }
    return successors;
}

// The blocks that are reached from the first, each behind all from which it is reached first.
std::vector<uint32_t> reverse_postorder(const Edges &successors) {
    std::vector<uint32_t> order, next(successors.size()), path{0};
    std::vector<bool> seen(successors.size());
    seen[0] = true;
    while (!path.empty()) {
        const uint32_t block = path.back();
        if (next[block] == successors[block].size()) {
            order.push_back(block);
            path.pop_back();
            continue;
        }
        const uint32_t to = successors[block][next[block]++];
        if (!seen[to]) path.push_back(to);
        seen[to] = true;
    }
    std::reverse(order.begin(), order.end());
    return order;
}

// Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm. Of each block the one that
// dominates it next; kNone: it is not reached.
class Dominators {
public:
    Dominators(const Edges &successors, const Edges &predecessors)
        : order_(reverse_postorder(successors)),
          rank_(successors.size()),
          next_(successors.size(), kNone) {
        for (uint32_t n = 0; n < order_.size(); n++) rank_[order_[n]] = n;
        next_[0] = 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (const uint32_t block : order_) {
                if (block == 0) continue;
                uint32_t common = kNone;
                for (const uint32_t from : predecessors[block]) {
                    if (next_[from] == kNone) continue;
                    common = common == kNone ? from : common_of(common, from);
                }
                changed |= next_[block] != common;
                next_[block] = common;
            }
        }
    }

    bool reached(uint32_t block) const { return next_[block] != kNone; }
    bool dominates(uint32_t a, uint32_t b) const {
        while (rank_[b] > rank_[a]) b = next_[b];
        return a == b;
    }

private:
    uint32_t common_of(uint32_t a, uint32_t b) const {
        while (a != b) {
            while (rank_[a] > rank_[b]) a = next_[a];
            while (rank_[b] > rank_[a]) b = next_[b];
        }
        return a;
    }

    std::vector<uint32_t> order_, rank_, next_;
};

}  // namespace

std::vector<Loop> loops_of(const Program &program) {
    if (program.blocks.empty()) return {};
    const Edges successors = successors_of(program);
    Edges predecessors(successors.size());
    for (uint32_t from = 0; from < successors.size(); from++) {
        for (const uint32_t to : successors[from]) predecessors[to].push_back(from);
    }
    const Dominators dominators(successors, predecessors);
    std::map<uint32_t, std::set<uint32_t>> loops;  // by header
    for (uint32_t from = 0; from < successors.size(); from++) {
        if (!dominators.reached(from)) continue;
        for (const uint32_t header : successors[from]) {
            if (!dominators.dominates(header, from)) continue;
            std::set<uint32_t> &blocks = loops[header];
            blocks.insert(header);
            for (std::vector<uint32_t> found{from}; !found.empty();) {
                const uint32_t block = found.back();
                found.pop_back();
                if (!blocks.insert(block).second) continue;
                for (const uint32_t before : predecessors[block]) {
                    if (dominators.reached(before)) found.push_back(before);
                }
            }
        }
    }
    std::vector<Loop> result;
    for (const auto &outer : loops) {
        Loop loop{outer.first, {}, {}};
        for (const uint32_t block : outer.second) {
            const bool is_inner = std::any_of(loops.begin(), loops.end(), [&](const auto &other) {
                return other.first != outer.first && outer.second.contains(other.first) &&
                       other.second.contains(block);
            });
            (is_inner ? loop.inner : loop.own).push_back(block);
        }
        result.push_back(std::move(loop));
    }
    return result;
}

}  // namespace software_cuda
