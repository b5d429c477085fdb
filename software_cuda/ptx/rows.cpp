// Lays values out in rows: liveness by the classic data-flow equations, then a linear scan over the
// intervals.
#include <algorithm>
#include <queue>

#include "software_cuda/ptx/entry_builder.h"

namespace software_cuda {

namespace {

struct Interval {
    uint32_t first = kNone, last = 0;
    void extend(uint32_t at) {
        first = std::min(first, at);
        last = std::max(last, at);
    }
};

using BitSet = std::vector<uint64_t>;
bool contains(const BitSet &set, uint32_t v) { return set[v / 64] >> v % 64 & 1; }
void insert(BitSet &set, uint32_t v) { set[v / 64] |= uint64_t{1} << v % 64; }

class Liveness {
public:
    Liveness(const Program &program, const std::vector<Value> &values)
        : program_(program), values_(values), words_((values.size() + 63) / 64) {
        const size_t n = program.blocks.size();
        used_.assign(n, BitSet(words_));
        defined_.assign(n, BitSet(words_));
        live_in_.assign(n, BitSet(words_));
        live_out_.assign(n, BitSet(words_));
        for (size_t b = 0; b < n; b++) note_block(b);
        solve();
    }

    // From the first place where a value lives to the last one.
    std::vector<Interval> intervals() const {
        std::vector<Interval> result(values_.size());
        for (size_t b = 0; b < program_.blocks.size(); b++) {
            const BasicBlock &block = program_.blocks[b];
            for (uint32_t v = 0; v < values_.size(); v++) {
                if (contains(live_in_[b], v)) result[v].extend(block.first);
                if (contains(live_out_[b], v)) result[v].extend(block.end - 1);
            }
            for (uint32_t at = block.first; at < block.end; at++) {
                const auto extend = [&](uint32_t v) { result[v].extend(at); };
                each_use(program_, program_.code[at], extend);
                each_definition(program_.code[at], extend);
            }
        }
        return result;
    }

    // 32-bit registers that live at once, at most.
    uint32_t pressure() const {
        uint32_t most = 0;
        for (size_t b = 0; b < program_.blocks.size(); b++) {
            BitSet live = live_out_[b];
            int now = 0;
            const auto registers = [&](uint32_t v) {
                if (values_[v].place != kNone || values_[v].width == Width::kPredicate) return 0;
                return values_[v].width == Width::kWide ? 2 : 1;
            };
            for (uint32_t v = 0; v < values_.size(); v++)
                now += contains(live, v) ? registers(v) : 0;
            for (uint32_t at = program_.blocks[b].end; at-- > program_.blocks[b].first;) {
                const Instruction &i = program_.code[at];
                if (i.guard == kNone) {
                    each_definition(i, [&](uint32_t v) {
                        if (!contains(live, v)) return;
                        live[v / 64] &= ~(uint64_t{1} << v % 64);
                        now -= registers(v);
                    });
                }
                each_use(program_, i, [&](uint32_t v) {
                    if (contains(live, v)) return;
                    insert(live, v);
                    now += registers(v);
                });
                most = std::max(most, static_cast<uint32_t>(now));
            }
        }
        return most;
    }

private:
    const Program &program_;
    const std::vector<Value> &values_;
    const size_t words_;
    std::vector<BitSet> used_, defined_, live_in_, live_out_;

    void note_block(size_t b) {
        const BasicBlock &block = program_.blocks[b];
        for (uint32_t at = block.first; at < block.end; at++) {
            const Instruction &i = program_.code[at];
            each_use(program_, i, [&](uint32_t v) {
                if (!contains(defined_[b], v)) insert(used_[b], v);
            });
            if (i.guard == kNone) each_definition(i, [&](uint32_t v) { insert(defined_[b], v); });
        }
    }

    void solve() {
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t b = program_.blocks.size(); b-- > 0;) {
                const Instruction &last = program_.code[program_.blocks[b].end - 1];
                for (size_t w = 0; w < words_; w++) {
                    uint64_t out = 0;
                    if (last.op == Op::branch) out |= live_in_[last.target][w];
                    const bool falls =
                        last.guard != kNone || (last.op != Op::branch && last.op != Op::exit);
                    if (falls && b + 1 < program_.blocks.size()) out |= live_in_[b + 1][w];
                    const uint64_t in = used_[b][w] | (out & ~defined_[b][w]);
                    changed |= in != live_in_[b][w];
                    live_out_[b][w] = out;
                    live_in_[b][w] = in;
                }
            }
        }
    }
};

// Rows of one width, reused when their value is dead.
class Rows {
public:
    Rows(Width width, uint32_t &end) : bytes_(row_bytes(width)), end_(end) {}

    uint32_t take(const Interval &interval) {
        while (!living_.empty() && living_.top().first < interval.first) {
            free_.push_back(living_.top().second);
            living_.pop();
        }
        uint32_t place = end_;
        if (free_.empty()) {
            end_ += bytes_;
        } else {
            place = free_.back();
            free_.pop_back();
        }
        living_.emplace(interval.last, place);
        return place;
    }

private:
    using Living = std::pair<uint32_t, uint32_t>;  // last place in the code, row
    const uint32_t bytes_;
    uint32_t &end_;
    std::vector<uint32_t> free_;
    std::priority_queue<Living, std::vector<Living>, std::greater<>> living_;
};

void place_operands(Program &program, const std::vector<Value> &values) {
    const auto place = [&](uint32_t &operand) {
        if (operand != kNone) operand = values[operand].place;
    };
    for (Instruction &i : program.code) {
        for (uint32_t &d : i.d) place(d);
        place(i.a);
        place(i.b);
        place(i.c);
        place(i.members);
        place(i.guard);
    }
    for (MatrixProduct &product : program.products) {
        for (uint32_t &operand : product.a) place(operand);
        for (uint32_t &operand : product.b) place(operand);
        for (uint32_t &operand : product.c) place(operand);
    }
    for (AsyncCopy &copy : program.copies) {
        place(copy.load.a);
        place(copy.store.a);
    }
    for (uint32_t &row : program.thread_rows) place(row);
}

}  // namespace

uint32_t allocate_rows(Program &program, std::vector<Value> &values) {
    const Liveness liveness(program, values);
    const uint32_t pressure = liveness.pressure();
    std::vector<Interval> intervals = liveness.intervals();
    std::vector<uint32_t> order;
    for (uint32_t v = 0; v < values.size(); v++) {
        if (values[v].pinned) intervals[v] = {0, static_cast<uint32_t>(program.code.size())};
        if (values[v].place == kNone && intervals[v].first != kNone) order.push_back(v);
    }
    std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
        return intervals[x].first < intervals[y].first;
    });
    uint32_t end = 0;
    for (const Width width : {Width::kPredicate, Width::kNarrow, Width::kWide}) {
        end = (end + 63) / 64 * 64;
        Rows rows(width, end);
        for (const uint32_t v : order) {
            if (values[v].width == width) values[v].place = rows.take(intervals[v]);
        }
    }
    program.warp_bytes = std::max((end + 63) / 64 * 64, 64u);
    place_operands(program, values);
    return pressure;
}

}  // namespace software_cuda
