// The code of an entry as the machine runs it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "software_cuda/machine/counts.h"
#include "software_cuda/ptx/matrix.h"

namespace software_cuda {

// What lies in a row of a register's lanes, as instructions read it.
enum class Type : uint8_t {
    none,
    pred,
    u8,
    s8,
    u16,
    s16,
    b16,
    f16,
    bf16,
    u32,
    s32,
    b32,
    f32,
    u64,
    s64,
    b64,
    f64,
    f16_of_f64
};
enum class Width : uint8_t { kPredicate, kNarrow, kWide };  // a bit, 32 or 64 bits a lane
Width width_of(Type type);

enum class Op : uint16_t {
#define INSTRUCTION(name, ...) name,
#include "software_cuda/ptx/instructions.def"
#undef INSTRUCTION
    and_pred,
    or_pred,
    xor_pred,
    not_pred,
    mov_pred,
    load,
    store,
    atomic,
    copy,  // from global to shared memory; arrives at a wait
    commit_copies,
    wait_copies,
    shuffle,
    vote,
    reduce,
    matrix_product,
    load_matrix,
    warp_barrier,
    active_mask,
    nothing,  // fences: memory is sequentially consistent
    // These end a block of instructions.
    branch,
    barrier,
    exit,
    kCount
};

enum class Space : uint8_t { kGlobal, kShared };
enum class AtomicOp : uint8_t {
    kAdd,
    kMin,
    kMax,
    kAnd,
    kOr,
    kXor,
    kExchange,
    kCompareAndSwap,
    kIncrement,
    kDecrement
};
enum class ShuffleMode : uint8_t { kUp, kDown, kButterfly, kIndex };
enum class VoteMode : uint8_t { kAll, kAny, kUniform, kBallot };

inline constexpr uint32_t kNone = ~0u;
// Operands are distances in bytes from a warp's rows, or with this bit from those that all warps
// share.
inline constexpr uint32_t kUniform = 1u << 31;
inline constexpr uint32_t kLanes = 32;
inline constexpr uint32_t row_bytes(Width width) {
    return width == Width::kPredicate ? 4 : width == Width::kNarrow ? 4 * kLanes : 8 * kLanes;
}

struct Instruction {
    Op op = Op::nothing;
    InstructionClass kind = InstructionClass::kMove;
    bool guard_negated = false;  // @!%p
    bool is_signed = false;      // of what is loaded, shifted or compared
    bool wide_value = false, wide_address = true;
    bool read_only = false;         // ld.global.nc
    bool past_first_cache = false;  // cp.async.cg
    bool transposed = false;        // of a load of matrices
    uint8_t matrices = 0;           // and how many they are
    Space space = Space::kGlobal;
    uint8_t bytes = 0, vector = 1;  // of a memory access: a component's, and how many there are
    Type type = Type::none;         // of an atomic operation
    uint8_t mode = 0;               // AtomicOp, also of a reduction, ShuffleMode or VoteMode
    uint32_t guard = kNone;         // predicate
    std::array<uint32_t, 4> d{kNone, kNone, kNone, kNone};  // of a store: what is stored
    uint32_t a = kNone, b = kNone, c = kNone;
    uint32_t members = kNone;  // mask of the threads of a warp that take part
    // Of a branch: a block; of a product of matrices or a copy: its number; of a wait for copies:
    // how many groups may still be under way, kNone: not even a copy in no group.
    uint32_t target = 0;
    uint32_t site = 0;   // number among the accesses to memory
    uint32_t line = 0;   // of the module, from 1
    int64_t offset = 0;  // of an address
};

// Of memory, and no more.
inline bool is_load(const Instruction &i) { return i.op == Op::load || i.op == Op::load_matrix; }

// An asynchronous copy is a load, of which a thread may read fewer bytes, and a store that is done
// later. The copy has the registers of the addresses, and that of the size or kNone.
struct AsyncCopy {
    Instruction load, store;
};

// Instructions that run one after another; entered at the first only.
struct BasicBlock {
    uint32_t first = 0, end = 0;
};

// Rows that are the same for all warps of a block, written once a launch or a block.
struct UniformRow {
    enum Kind : uint8_t {
        kConstant,
        kParameter,
        kLaneId,
        kBlockX,
        kBlockY,
        kBlockZ,
        kThreadsX,
        kThreadsY,
        kThreadsZ,
        kBlocksX,
        kBlocksY,
        kBlocksZ
    };
    Kind kind;
    Width width = Width::kNarrow;
    bool is_signed = false;
    uint8_t bytes = 0;   // of a parameter
    uint64_t value = 0;  // a constant, or a parameter's offset
    uint32_t place = 0;  // in bytes
};

using Lines = std::shared_ptr<const std::vector<std::string>>;  // of a module

struct Program {
    std::string entry;
    std::vector<Instruction> code;
    std::vector<BasicBlock> blocks;
    std::vector<MatrixProduct> products;
    std::vector<AsyncCopy> copies;
    std::vector<UniformRow> uniform_rows;
    uint32_t uniform_bytes = 0, warp_bytes = 0;
    uint32_t thread_rows[3] = {kNone, kNone, kNone};  // %tid
    uint32_t sites = 0;
    Lines text;
};

}  // namespace software_cuda
