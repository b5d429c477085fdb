#include "gpu.h"

#include <algorithm>
#include <cmath>

namespace hk::counts {

namespace {

constexpr double kTera = 1e12;
constexpr int kWarp = 32, kKiB = 1024;
// CUDA C++ Programming Guide, compute capabilities 8.0, 8.9 and 9.0: four schedulers of a
// multiprocessor issue an instruction of a warp each a cycle; shared memory has 32 banks of 4 bytes
// a cycle, one wavefront; registers are given to warps by units of 256, and each block takes 1 KiB
// of shared memory for the system.
constexpr double kIssued = 4, kWavefronts = 1;
constexpr int kRegisters = 65536, kUnitOfRegisters = 256, kReservedBytes = kKiB;

// Multiprocessors, clock and memory: NVIDIA's data sheets "H100 Tensor Core GPU" (67 TFLOPS of f32,
// 3.35 TB/s) and "A100 Tensor Core GPU" (19.5 TFLOPS, 2039 GB/s, 80 GB SXM), and its paper "NVIDIA
// Ada GPU Architecture" (82.6 TFLOPS, 1008 GB/s). The rest: CUDA C++ Programming Guide, "Arithmetic
// Instructions" and "Technical Specifications per Compute Capability".
//
// Tensor cores, dense, of f16 with f32 sums: 989.4, 312 and 165.2 TFLOPS of the same sources, at
// the clock here. Of Hopper's mma.sync reaches 62.9 % (Luo and others, Benchmarking and Dissecting
// the Nvidia Hopper GPU Architecture via Microbenchmarking, arXiv 2402.13499).
constexpr double kProduct = kMultiplyAddsOfBytes / 2;  // multiply-adds of f16

double products(double flops, double multiprocessors, double clock) {
    return flops / 2 / (multiprocessors * clock) / kProduct;
}

// Second caches: what copies by cp.async.cg reach in github.com/smallscientist1/cuda_microbenchmark
// (analysis_H100.md, of an H100 SXM; analysis_A100.md; analysis_RTX4090.md). NVIDIA publishes 5120
// bytes a clock of an A100 alone, 7.2 TB/s ("NVIDIA A100 Tensor Core GPU Architecture"), of which
// loads have 5.4 in github.com/te42kyfo/gpu-benches, too.
const Gpu kGpus[] = {
    {"H100 SXM", 132, 1.98e9, 128, 0.629 * products(989.4 * kTera, 132, 1.98e9), 8.43 * kTera,
     3.35 * kTera, 64, 32, 228 * kKiB},
    {"A100 SXM", 108, 1.41e9, 64, products(312 * kTera, 108, 1.41e9), 5.41 * kTera, 2.039 * kTera,
     64, 32, 164 * kKiB},
    {"RTX 4090", 128, 2.52e9, 128, products(165.2 * kTera, 128, 2.52e9), 4.90 * kTera,
     1.008 * kTera, 48, 24, 100 * kKiB},
};

double blocks_of_launch(const KernelCounts &kernel) {
    const double launches = std::max(static_cast<double>(kernel.launches), 1.0);
    return std::max(static_cast<double>(kernel.blocks) / launches, 1.0);
}

int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::span<const Gpu> gpus() { return kGpus; }

const Bound &Roofline::highest() const {
    return *std::ranges::max_element(bounds, {}, &Bound::seconds);
}

Roofline roofline(const KernelCounts &kernel, const Gpu &gpu) {
    const double cycles = gpu.clock * std::min(gpu.multiprocessors, blocks_of_launch(kernel));
    const Instructions &executed = kernel.instructions;
    const auto sectors =
        static_cast<double>(kernel.global_loads.distinct + kernel.global_stores.distinct);
    const auto asked =
        static_cast<double>(kernel.global_loads.second_cache + kernel.global_stores.second_cache);
    const auto wavefronts =
        static_cast<double>(kernel.shared_loads.moved + kernel.shared_stores.moved);
    return {{{{"multiply-adds", Instructions::number_of(executed.threads, "multiply-add") /
                                    (gpu.multiply_adds * cycles)},
              {"tensor cores",
               Instructions::number_of(executed.warps, "tensor") / (gpu.products * cycles)},
              {"instructions", executed.of_warps() / (kIssued * cycles)},
              {"shared memory", wavefronts / (kWavefronts * cycles)},
              {"second cache", asked * kSector / gpu.second_cache},
              {"memory", sectors * kSector / gpu.bytes_a_second}}}};
}

double filled(const KernelCounts &kernel, const Gpu &gpu) {
    const double blocks = blocks_of_launch(kernel);
    return blocks /
           (std::min(gpu.multiprocessors, blocks) * std::ceil(blocks / gpu.multiprocessors));
}

Occupancy occupancy(const Gpu &gpu, int threads, int registers, int shared_bytes) {
    const int warps = std::max((threads + kWarp - 1) / kWarp, 1);
    Occupancy result{gpu.blocks, 0, "blocks"};
    const auto allow = [&](int blocks, const char *limit) {
        if (blocks >= result.blocks) return;
        result.blocks = blocks;
        result.limit = limit;
    };
    allow(gpu.warps / warps, "threads");
    if (registers > 0) {
        const int of_warp = rounded_up(registers * kWarp, kUnitOfRegisters);
        allow(kRegisters / of_warp / warps, "registers");
    }
    allow(gpu.shared_bytes / (shared_bytes + kReservedBytes), "shared memory");
    result.share = static_cast<double>(result.blocks * warps) / gpu.warps;
    return result;
}

}  // namespace hk::counts
