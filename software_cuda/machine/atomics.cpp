// Atomic operations, and findings of the interpreters.
#include <atomic>
#include <bit>
#include <cmath>

#include "software_cuda/machine/interpreter_prelude.h"

namespace software_cuda {

namespace {

// Section "atom": in global memory, additions of f32 take and give subnormals as zeros.
float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

// Of integers. Sums wrap around.
template<typename T>
T combined(AtomicOp operation, T old, T b, T c) {
    using Bits = std::make_unsigned_t<T>;
    switch (operation) {
        case AtomicOp::kAdd:
            return static_cast<T>(static_cast<Bits>(old) + static_cast<Bits>(b));
        case AtomicOp::kMin:
            return old < b ? old : b;
        case AtomicOp::kMax:
            return old > b ? old : b;
        case AtomicOp::kExchange:
            return b;
        case AtomicOp::kCompareAndSwap:
            return old == b ? c : old;
        default:
            break;
    }
    if constexpr (std::is_unsigned_v<T>) {
        switch (operation) {
            case AtomicOp::kAnd:
                return old & b;
            case AtomicOp::kOr:
                return old | b;
            case AtomicOp::kXor:
                return old ^ b;
            case AtomicOp::kIncrement:
                return old >= b ? 0 : old + 1;
            case AtomicOp::kDecrement:
                return old == 0 || old > b ? b : old - 1;
            default:
                break;
        }
    }
    return old;
}

// Values as their bits. Returns what was there.
template<typename T, typename Bits>
Bits update(uint8_t *place, AtomicOp operation, Bits b, Bits c, bool flush) {
    const std::atomic_ref<Bits> memory(*reinterpret_cast<Bits *>(place));
    Bits old = memory.load(std::memory_order_relaxed), next;
    do {
        T result;
        if constexpr (std::is_same_v<T, float>) {
            const float x = std::bit_cast<float>(old), y = std::bit_cast<float>(b);
            result = flush ? flushed(flushed(x) + flushed(y)) : x + y;
            if (result != result) result = std::bit_cast<float>(0x7fffffffu);
        } else if constexpr (std::is_same_v<T, double>) {
            result = std::bit_cast<double>(old) + std::bit_cast<double>(b);
            if (result != result) result = std::bit_cast<double>(~uint64_t{0} >> 1);
        } else {
            result = combined(operation, std::bit_cast<T>(old), std::bit_cast<T>(b),
                              std::bit_cast<T>(c));
        }
        next = std::bit_cast<Bits>(result);
    } while (!memory.compare_exchange_weak(old, next, std::memory_order_relaxed));
    return old;
}

template<typename T, typename Bits>
void update_lanes(const Frame &frame, const Instruction &i, const uint64_t *addresses,
                  ByAddress<uint8_t> host, uint32_t lanes) {
    const auto row = [&](uint32_t operand) {
        return operand == kNone
                   ? nullptr
                   : reinterpret_cast<Bits *>(frame.bases[operand >> 31] + (operand & ~kUniform));
    };
    const Bits *const b = row(i.b), *const c = i.c == kNone ? b : row(i.c);
    Bits *const d = row(i.d[0]);
    const bool flush = i.space == Space::kGlobal;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        const Bits old = update<T, Bits>(host + addresses[lane], static_cast<AtomicOp>(i.mode),
                                         b[lane], c[lane], flush);
        if (d) d[lane] = old;
    }
}

}  // namespace

void do_atomics(Frame &frame, const Instruction &i, const uint64_t *addresses,
                ByAddress<uint8_t> host, uint32_t lanes) {
    switch (i.type) {
        case Type::f32:
            return update_lanes<float, uint32_t>(frame, i, addresses, host, lanes);
        case Type::f64:
            return update_lanes<double, uint64_t>(frame, i, addresses, host, lanes);
        case Type::s32:
            return update_lanes<int32_t, uint32_t>(frame, i, addresses, host, lanes);
        case Type::s64:
            return update_lanes<int64_t, uint64_t>(frame, i, addresses, host, lanes);
        case Type::u64:
        case Type::b64:
            return update_lanes<uint64_t, uint64_t>(frame, i, addresses, host, lanes);
        default:
            return update_lanes<uint32_t, uint32_t>(frame, i, addresses, host, lanes);
    }
}

void order_lanes(Frame &frame, const Instruction &, uint32_t lanes) {
    if (WarpOrder *const order = frame.block->warp_order) order->meet(frame.warp, lanes);
}

void note_inactive_lane(Frame &frame, const Instruction &i, uint32_t lane, uint32_t from) {
    frame.block->observer->find(Finding::kInactiveLane, *frame.block, i, frame.warp * kLanes + lane,
                                [&] { return ", of lane " + std::to_string(from); });
}

}  // namespace software_cuda
