#pragma once
// What a CUDA device in software counted of a call: docs/software-cuda.md.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace hk::counts {

inline constexpr double kSector = 32;  // bytes

// Of a kind of accesses. `moved`, `least`, `distinct`: sectors of global memory, or wavefronts of
// shared memory, which have no distinct ones. `second_cache`: sectors that blocks ask it for.
struct Traffic {
    uint64_t requests = 0, bytes = 0, moved = 0, least = 0, distinct = 0, second_cache = 0;
};

// By class, of threads and of warps.
struct Instructions {
    std::map<std::string, uint64_t> threads, warps;

    static double number_of(const std::map<std::string, uint64_t> &of, const char *name);

    double of_threads() const;
    double of_warps() const;
    double multiply_adds() const;           // of threads; tensor instructions too
    double share_of_multiply_adds() const;  // 0 where nothing was executed
};

// A loop of the PTX.
struct Loop {
    uint64_t line = 0;            // its first
    uint64_t own = 0;             // instructions of threads that are not in loops inside it
    Instructions instructions{};  // all
};

// An entry of the PTX, all of its launches together.
struct KernelCounts {
    std::string entry;
    uint64_t launches = 0, blocks = 0, threads = 0;
    uint64_t barriers = 0;                          // of blocks
    uint64_t branches = 0, divergent_branches = 0;  // of warps
    int shared_bytes = 0;                           // of a block
    Instructions instructions;
    std::optional<Loop> main_loop;  // that with most of its own; none where no loop ran
    Traffic global_loads, global_stores, shared_loads, shared_stores;

    int threads_of_block() const;
};

// A call of a row's kernel and what else it launches.
struct CallCounts {
    std::vector<KernelCounts> kernels;
    double least_bytes = 0;  // of the problem's tensors, each once
    int registers = -1;      // of a thread of the row's kernel, by ptxas; -1: not known

    // Of all kernels' that with most instructions of its own; null without loops.
    const Loop *main_loop() const;
    // Of all kernels: what was moved, over the least. 1 where nothing was.
    double conflicts() const;  // of shared memory
    double sectors() const;    // of global memory
    double bytes_moved() const;
    // Sectors that are not the same, and those over the problem's least.
    double distinct_bytes() const;
    double of_least_bytes() const;
    // In the main loop, or altogether where there is none.
    double share_of_multiply_adds() const;
};

// As software_cuda/control.h gives them.
std::vector<KernelCounts> kernels_of(const nlohmann::json &counts);

// With the bounds of gpu.h.
nlohmann::json to_json(const CallCounts &counts);
// Lines for people, each behind `indent`.
std::string text_of(const CallCounts &counts, const std::string &indent);

}  // namespace hk::counts
