#pragma once
// The processes that train together (MPI). Each has all parameters and takes its part of a batch;
// gradients are summed. One process needs no mpirun, and MPI is not started for it.

#include <cstdint>
#include <span>
#include <utility>

#include "hk/tensor.h"

namespace hk::train {

class Ranks {
public:
    static Ranks alone() { return Ranks(0, 1); }

    // Those of the mpirun that started this process. Once a process; MPI ends with the process.
    static Ranks started();

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool first() const { return rank_ == 0; }

    // This rank's part of a batch: first and number. Parts differ by at most one.
    std::pair<int64_t, int64_t> part(int64_t count) const;

    // Sums over all ranks, the same bits on each of them, and again in the next run with as many
    // ranks: MPI_Allreduce takes its order from the number of ranks and elements alone. Elements of
    // 16 bits are summed as f32.
    void sum(const Tensor &tensor) const;
    void sum(std::span<double> values) const;

    // Ends all ranks, because this one has failed.
    void abort() const;

private:
    Ranks(int rank, int size) : rank_(rank), size_(size) {}

    int rank_, size_;
};

// Gives Halide's thread pool no more threads than this process has cores for itself, unless
// HL_NUM_THREADS says how many.
void share_cores(const Ranks &ranks);

}  // namespace hk::train
