// Limits of the chips that a device imitates: CUDA C programming guide, table of technical
// specifications by compute capability.
#pragma once

#include <cstdint>
#include <string_view>

namespace software_cuda {

struct Chip {
    std::string_view name;  // sm_80
    uint32_t capability;    // 80
    uint32_t multiprocessors;
    uint32_t clock_khz;
    uint32_t shared_bytes_per_multiprocessor, shared_bytes_per_block_optin;
    uint32_t l2_bytes;
    uint64_t memory_bytes;
    uint32_t memory_clock_khz, memory_bus_bits;
    // The same on all of them.
    static constexpr uint32_t kWarp = 32;
    static constexpr uint32_t kThreadsPerBlock = 1024;
    static constexpr uint32_t kThreadsPerMultiprocessor = 2048;
    static constexpr uint32_t kBlocksPerMultiprocessor = 32;
    static constexpr uint32_t kBlockLimit[3] = {1024, 1024, 64};
    static constexpr uint32_t kGridLimit[3] = {0x7fffffff, 65535, 65535};
    static constexpr uint32_t kRegistersPerBlock = 65536;
    static constexpr uint32_t kRegistersPerThread = 255;
    static constexpr uint32_t kSharedBytesPerBlock = 49152;
    static constexpr uint32_t kReservedSharedBytes = 1024;  // of each block, by the system
};

inline constexpr Chip kChips[] = {
    // Without more shared memory for those who ask.
    {"sm_60", 60, 56, 1480000, 65536, 49152, 4194304, uint64_t{16} << 30, 715000, 4096},
    {"sm_80", 80, 108, 1410000, 167936, 166912, 41943040, uint64_t{40} << 30, 1215000, 5120},
    {"sm_90", 90, 132, 1980000, 233472, 232448, 52428800, uint64_t{80} << 30, 2619000, 5120},
};

// Null for a name that is none of them.
constexpr const Chip *find_chip(std::string_view name) {
    for (const Chip &chip : kChips) {
        if (chip.name == name) return &chip;
    }
    return nullptr;
}

}  // namespace software_cuda
