#pragma once
// What NVIDIA publishes of some GPUs, and what follows from it for a kernel whose instructions were
// counted. All of it is a model: nothing here was measured on a GPU.

#include <array>
#include <span>
#include <string>

#include "counts.h"

namespace hk::counts {

// Multiply-adds of a product of mma.sync, of elements of a byte; of others, over their bytes.
inline constexpr double kMultiplyAddsOfBytes = 16 * 8 * 32;

struct Gpu {
    std::string name;
    double multiprocessors;
    double clock;           // Hz, the boost clock
    double multiply_adds;   // f32, that a multiprocessor ends a cycle
    double products;        // mma.sync of 16x8x16, or of other types as many bytes, likewise
    double second_cache;    // bytes a second
    double bytes_a_second;  // of memory
    int warps, blocks;      // that a multiprocessor holds
    int shared_bytes;       // of a multiprocessor
};

// H100 SXM, A100 SXM, RTX 4090.
std::span<const Gpu> gpus();

// A part of a GPU, and the least time in seconds that it takes for a kernel.
struct Bound {
    std::string part;
    double seconds;
};

// A kernel takes no less time than each of its parts: multiply-adds, instructions of tensor cores
// and all instructions at the rates at which they end or are issued, wavefronts of shared memory,
// from the second cache the sectors that its blocks ask it for, and from memory those that are not
// the same, once. Only as many multiprocessors work as there are blocks. What caches miss is not
// modelled, and takes longer.
struct Roofline {
    std::array<Bound, 6> bounds;

    const Bound &highest() const;
};
Roofline roofline(const KernelCounts &kernel, const Gpu &gpu);

// The share of the working multiprocessors' time that equal blocks fill, where some have one more
// than others: 136 blocks fill 0.52 of an H100's. The bounds are without, as blocks need not be
// equal.
double filled(const KernelCounts &kernel, const Gpu &gpu);

// Blocks of a kernel that a multiprocessor holds at once, and what allows no more.
struct Occupancy {
    int blocks = 0;
    double share = 0;  // of the warps that it can hold
    std::string limit;
};
// `threads` and `shared_bytes` of a block. `registers` of a thread; -1: not known, and no limit.
Occupancy occupancy(const Gpu &gpu, int threads, int registers, int shared_bytes);

}  // namespace hk::counts
