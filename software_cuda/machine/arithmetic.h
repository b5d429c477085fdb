// Handlers of arithmetic instructions: each computes a row from rows.
namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET {

constexpr uint32_t kAll = ~0u;

// The bit of each lane in a predicate's word. A table, because GCC 12 makes vectors of it, and none
// of a bit that it shifts.
struct LaneBits {
    uint32_t of[kLanes];
};
constexpr LaneBits kBit = [] {
    LaneBits bits{};
    for (uint32_t l = 0; l < kLanes; l++) bits.of[l] = 1u << l;
    return bits;
}();

template<typename T>
HOT T *row(const Frame &frame, uint32_t operand) {
    return reinterpret_cast<T *>(frame.bases[operand >> 31] + (operand & ~kUniform));
}

// An operand of a lane: of a row, or of a predicate's word.
template<typename T>
struct Reader {
    const typename T::Row *const lanes;
    HOT Reader(const Frame &frame, uint32_t operand)
        : lanes(row<const typename T::Row>(frame, operand)) {}
    HOT typename T::Value operator()(uint32_t lane) const { return T::get(lanes[lane]); }
};
template<>
struct Reader<pred> {
    const uint32_t word;
    HOT Reader(const Frame &frame, uint32_t operand) : word(*row<const uint32_t>(frame, operand)) {}
    HOT bool operator()(uint32_t lane) const { return (word & kBit.of[lane]) != 0; }
};
template<>
struct Reader<none> {
    HOT Reader(const Frame &, uint32_t) {}
    HOT int operator()(uint32_t) const { return 0; }
};

template<typename D, typename A, typename B, typename C, typename F>
HOT void compute(Frame &frame, const Instruction &i, uint32_t lanes, F value) {
    const Reader<A> a(frame, i.a);
    const Reader<B> b(frame, i.b);
    const Reader<C> c(frame, i.c);
    if constexpr (std::is_same_v<D, pred>) {
        uint32_t bits = 0;
        for (uint32_t l = 0; l < kLanes; l++)
            bits |= static_cast<uint32_t>(value(a(l), b(l), c(l))) << l;
        uint32_t &word = *row<uint32_t>(frame, i.d[0]);
        word = (word & ~lanes) | (bits & lanes);
    } else {
        auto *const d = row<typename D::Row>(frame, i.d[0]);
        const auto result = [&](uint32_t l) HOT_LAMBDA {
            return D::put(static_cast<typename D::Value>(value(a(l), b(l), c(l))));
        };
        // A result's row is an operand's only where it is the same register.
        if (lanes == kAll) {
#pragma GCC ivdep
            for (uint32_t l = 0; l < kLanes; l++) d[l] = result(l);
        } else {
#pragma GCC ivdep
            for (uint32_t l = 0; l < kLanes; l++) {
                const auto computed = result(l), kept = d[l];
                d[l] = lanes & kBit.of[l] ? computed : kept;
            }
        }
    }
}

#define INSTRUCTION(name, text, d_, a_, b_, c_, ...)                                         \
    void run_##name(Frame &frame, const Instruction &i, uint32_t lanes) {                    \
        compute<d_, a_, b_, c_>(frame, i, lanes,                                             \
                                [](auto a, [[maybe_unused]] auto b, [[maybe_unused]] auto c) \
                                    HOT_LAMBDA { return __VA_ARGS__; });                     \
    }
#include "software_cuda/ptx/instructions.def"
#undef INSTRUCTION

template<typename F>
HOT void compute_predicate(Frame &frame, const Instruction &i, uint32_t lanes, F value) {
    const uint32_t a = *row<const uint32_t>(frame, i.a),
                   b = i.b == kNone ? 0 : *row<const uint32_t>(frame, i.b);
    uint32_t &word = *row<uint32_t>(frame, i.d[0]);
    word = (word & ~lanes) | (value(a, b) & lanes);
}
void run_and_pred(Frame &frame, const Instruction &i, uint32_t lanes) {
    compute_predicate(frame, i, lanes, [](uint32_t a, uint32_t b) { return a & b; });
}
void run_or_pred(Frame &frame, const Instruction &i, uint32_t lanes) {
    compute_predicate(frame, i, lanes, [](uint32_t a, uint32_t b) { return a | b; });
}
void run_xor_pred(Frame &frame, const Instruction &i, uint32_t lanes) {
    compute_predicate(frame, i, lanes, [](uint32_t a, uint32_t b) { return a ^ b; });
}
void run_not_pred(Frame &frame, const Instruction &i, uint32_t lanes) {
    compute_predicate(frame, i, lanes, [](uint32_t a, uint32_t) { return ~a; });
}
void run_mov_pred(Frame &frame, const Instruction &i, uint32_t lanes) {
    compute_predicate(frame, i, lanes, [](uint32_t a, uint32_t) { return a; });
}
void run_nothing(Frame &, const Instruction &, uint32_t) {}

}  // namespace software_cuda::SOFTWARE_CUDA_INSTRUCTION_SET
