#pragma once
// The CPU that this process runs on, and what it can do.

#include <array>
#include <cstdint>
#include <string>

namespace hk::bench {

std::string cpu_model();  // "AMD EPYC (AuthenticAMD, family 25, model 17)"

// Of one core.
struct Abilities {
    std::string vectors;  // that f32 sums are widest in: "AVX-512"
    double fmas;          // multiply-adds of such vectors a cycle, measured
    double gigahertz;     // while they run, measured
    // Bytes of the data caches that the core reaches, level 1 to 3; 0: none, or not known.
    std::array<int64_t, 3> caches;

    // "AVX-512, 1.0 FMA a cycle at 3.7 GHz; caches 32 KiB, 1 MiB, 32 MiB"
    std::string text() const;
};

Abilities measure_abilities();

// A folder as /sys/devices/system/cpu/cpu0/cache.
std::array<int64_t, 3> caches_in(const std::string &folder);

}  // namespace hk::bench
