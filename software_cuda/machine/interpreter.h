// The interpreter; included by a source for each instruction set of the host, which names its
// namespace and says how many words its vectors have.
#include "software_cuda/machine/values.h"

// Each uses what stands before it.
#include "software_cuda/machine/arithmetic.h"

#include "software_cuda/machine/accesses.h"
#include "software_cuda/machine/matrix_lines.h"

#include "software_cuda/machine/matrix.h"
#include "software_cuda/machine/race_steps.h"

namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET {

uint32_t members_of(const Frame &frame, const Instruction &i, uint32_t lanes) {
    return row<const uint32_t>(frame, i.members)[__builtin_ctz(lanes)];
}

// Section "shfl.sync".
void run_shuffle(Frame &frame, const Instruction &i, uint32_t lanes) {
    const auto *const a = row<const uint32_t>(frame, i.a);
    const auto *const b = row<const uint32_t>(frame, i.b);
    const auto *const c = row<const uint32_t>(frame, i.c);
    auto *const d = row<uint32_t>(frame, i.d[0]);
    uint32_t result[kLanes], valid = 0;
    each_lane(lanes, [&](uint32_t lane) {
        const uint32_t by = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
        const uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
        uint32_t from = lane;
        bool inside = false;
        switch (static_cast<ShuffleMode>(i.mode)) {
            case ShuffleMode::kUp:
                from = lane - by;
                inside = static_cast<int32_t>(from) >= static_cast<int32_t>(last);
                break;
            case ShuffleMode::kDown:
                from = lane + by;
                inside = from <= last;
                break;
            case ShuffleMode::kButterfly:
                from = lane ^ by;
                inside = from <= last;
                break;
            case ShuffleMode::kIndex:
                from = first | (by & ~segment);
                inside = from <= last;
                break;
        }
        if (!inside) from = lane;
        if (!(lanes >> from & 1)) note_inactive_lane(frame, i, lane, from);
        result[lane] = a[from];
        valid |= static_cast<uint32_t>(inside) << lane;
    });
    each_lane(lanes, [&](uint32_t lane) { d[lane] = result[lane]; });
    if (i.d[1] != kNone) {
        uint32_t &word = *row<uint32_t>(frame, i.d[1]);
        word = (word & ~lanes) | (valid & lanes);
    }
}

void run_vote(Frame &frame, const Instruction &i, uint32_t lanes) {
    const uint32_t votes = *row<const uint32_t>(frame, i.a) & lanes;
    if (static_cast<VoteMode>(i.mode) == VoteMode::kBallot) {
        each_lane(lanes, [&](uint32_t lane) { row<uint32_t>(frame, i.d[0])[lane] = votes; });
        return;
    }
    bool result = false;
    switch (static_cast<VoteMode>(i.mode)) {
        case VoteMode::kAll:
            result = votes == lanes;
            break;
        case VoteMode::kAny:
            result = votes != 0;
            break;
        default:
            result = votes == lanes || votes == 0;
            break;
    }
    uint32_t &word = *row<uint32_t>(frame, i.d[0]);
    word = result ? word | lanes : word & ~lanes;
}

// Section "redux.sync".
void run_reduce(Frame &frame, const Instruction &i, uint32_t lanes) {
    // Signed numbers with their sign turned are in the order of those without one.
    const uint32_t turned = i.is_signed ? 1u << 31 : 0;
    const auto *const a = row<const uint32_t>(frame, i.a);
    uint32_t result = a[__builtin_ctz(lanes)];
    each_lane(lanes & (lanes - 1), [&](uint32_t lane) {
        const uint32_t value = a[lane];
        const bool less = (value ^ turned) < (result ^ turned);
        switch (static_cast<AtomicOp>(i.mode)) {
            case AtomicOp::kAdd:
                result += value;
                break;
            case AtomicOp::kMin:
                result = less ? value : result;
                break;
            case AtomicOp::kMax:
                result = less ? result : value;
                break;
            case AtomicOp::kAnd:
                result &= value;
                break;
            case AtomicOp::kOr:
                result |= value;
                break;
            default:
                result ^= value;
                break;
        }
    });
    each_lane(lanes, [&](uint32_t lane) { row<uint32_t>(frame, i.d[0])[lane] = result; });
}

void run_active_mask(Frame &frame, const Instruction &i, uint32_t lanes) {
    each_lane(lanes, [&](uint32_t lane) { row<uint32_t>(frame, i.d[0])[lane] = lanes; });
}

using Handler = void (*)(Frame &, const Instruction &, uint32_t lanes);
constexpr Handler kHandlers[] = {
#define INSTRUCTION(name, ...) run_##name,
#include "software_cuda/ptx/instructions.def"
#undef INSTRUCTION
    run_and_pred,    run_or_pred, run_xor_pred,    run_not_pred, run_mov_pred,
    run_load,        run_store,   run_atomic,      run_copy,     commit_copies,
    wait_for_copies, run_shuffle, run_vote,        run_reduce,   run_matrix_product,
    run_load_matrix, order_lanes, run_active_mask, run_nothing,
};
static_assert(std::size(kHandlers) == static_cast<size_t>(Op::branch));

HOT uint32_t guarded(const Frame &frame, const Instruction &i, uint32_t lanes) {
    if (i.guard == kNone) [[likely]]
        return lanes;
    const uint32_t word = *row<const uint32_t>(frame, i.guard);
    return lanes & (i.guard_negated ? ~word : word);
}

// Lanes of a unit on their way.
struct Runner {
    BlockState &block;
    Unit &unit;
    Frame frame;
    uint32_t at, lanes;

    // All but the last instruction of a basic block.
    HOT void run_straight(const Instruction *i, const Instruction *last) {
        for (; i != last; i++) run_one(*i);
    }
    HOT void run_one(const Instruction &i) {
        const uint32_t active = guarded(frame, i, lanes);
        if (active) [[likely]]
            kHandlers[static_cast<size_t>(i.op)](frame, i, active);
    }

    // Whether these lanes go on by themselves.
    HOT bool branch(const Instruction &i) {
        const uint32_t taken = guarded(frame, i, lanes), rest = lanes & ~taken;
        if (taken == 0) {
            at++;
        } else if (rest == 0) {
            at = i.target;
        } else {
            block.counts[at].splits++;
            unit.ready.put(i.target, taken);
            unit.ready.put(at + 1, rest);
            return false;
        }
        return true;
    }

    // The last instruction of a basic block; as branch().
    HOT bool finish(const Instruction &i) {
        if (i.op == Op::branch) return branch(i);
        if (i.op < Op::shuffle || i.op == Op::nothing) [[likely]] {
            run_one(i);
            at++;
            return true;
        }
        return wait(i);
    }

    bool wait(const Instruction &i) {
        const uint32_t active = guarded(frame, i, lanes), rest = lanes & ~active;
        if (active == 0) {
            at++;
            return true;
        }
        switch (i.op) {
            case Op::exit:
                unit.alive &= ~active;
                break;
            case Op::barrier:
                unit.at_barrier.put(at + 1, active);
                break;
            case Op::active_mask:
                run_active_mask(frame, i, active);
                at++;
                return true;
            default:  // an operation of a warp's threads
                if ((members_of(frame, i, active) & ~active) != 0) {
                    unit.at_warp_operation.put(at, active);
                    break;
                }
                kHandlers[static_cast<size_t>(i.op)](frame, i, active);
                at++;
                return true;
        }
        lanes = rest;
        at++;
        return rest != 0;
    }
};

void run(BlockState &block, Unit &unit) {
    const Program &program = *block.program;
    Runner r{block, unit, frame_of(block, unit.warp), 0, 0};
    while (!unit.ready.empty()) {
        const Fragment fragment = unit.ready.take_lowest();
        r.at = fragment.block;
        r.lanes = fragment.lanes;
        for (;;) {
            const BasicBlock &basic = program.blocks[r.at];
            BlockCounts &counts = block.counts[r.at];
            counts.warps++;
            counts.lanes += static_cast<uint32_t>(__builtin_popcount(r.lanes));
            unit.steps += basic.end - basic.first;
            if (unit.steps > block.most_steps) [[unlikely]]
                return block.observer->end_endless(block, unit, program.code[basic.end - 1],
                                                   r.lanes);
            r.run_straight(&program.code[basic.first], &program.code[basic.end - 1]);
            const bool goes_on = r.finish(program.code[basic.end - 1]);
            if (block.stopped) [[unlikely]]
                return;
            if (!goes_on) break;
            if (unit.ready.lowest_block() <= r.at) {
                unit.ready.put(r.at, r.lanes);
                break;
            }
        }
    }
}

constexpr Interpreter kInterpreter{run,
                                   [](Frame &frame, const Instruction &i, uint32_t lanes) {
                                       kHandlers[static_cast<size_t>(i.op)](frame, i, lanes);
                                   },
                                   step_cells, step_lanes};

}  // namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET
