#include "ranks.h"

#include <HalideRuntime.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

#include "hk/error.h"

namespace hk::train {
namespace {

// Set by Open MPI and by starters that speak PMI.
bool started_by_mpi() {
    return std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMIX_RANK") ||
           std::getenv("PMI_RANK");
}

void check(int status, const char *call) {
    if (status != MPI_SUCCESS) throw Error(std::string(call) + " failed");
}

void sum_f32(float *values, int64_t count) {
    check(MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                        MPI_COMM_WORLD),
          "MPI_Allreduce");
}

void sum_host(const Tensor &tensor) {
    if (tensor.type() == DataType::f32) return sum_f32(tensor.data<float>(), tensor.elements());
    const bool half = tensor.type() == DataType::f16;
    auto *bits = tensor.data<uint16_t>();
    std::vector<float> values(static_cast<size_t>(tensor.elements()));
    for (size_t i = 0; i < values.size(); i++) {
        values[i] = half ? f32_from_f16(bits[i]) : f32_from_bf16(bits[i]);
    }
    sum_f32(values.data(), tensor.elements());
    for (size_t i = 0; i < values.size(); i++) {
        bits[i] = half ? f16_from_f32(values[i]) : bf16_from_f32(values[i]);
    }
}

}  // namespace

Ranks Ranks::started() {
    if (!started_by_mpi()) return alone();
    check(MPI_Init(nullptr, nullptr), "MPI_Init");
    std::atexit([] { MPI_Finalize(); });
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return Ranks(rank, size);
}

std::pair<int64_t, int64_t> Ranks::part(int64_t count) const {
    const int64_t first = rank_ * count / size_;
    return {first, (rank_ + 1) * count / size_ - first};
}

void Ranks::sum(const Tensor &tensor) const {
    if (size_ == 1) return;
    if (tensor.device().is_cpu()) return sum_host(tensor);
    const Tensor host = tensor.to(Device::cpu());
    sum_host(host);
    tensor.copy_from(host);
}

void Ranks::sum(std::span<double> values) const {
    if (size_ == 1) return;
    check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE,
                        MPI_SUM, MPI_COMM_WORLD),
          "MPI_Allreduce");
}

void Ranks::abort() const {
    if (size_ > 1) MPI_Abort(MPI_COMM_WORLD, 1);
}

void share_cores(const Ranks &ranks) {
    if (ranks.size() == 1 || std::getenv("HL_NUM_THREADS")) return;
    int cores = static_cast<int>(std::thread::hardware_concurrency());
    cpu_set_t bound;
    if (sched_getaffinity(0, sizeof bound, &bound) == 0) cores = CPU_COUNT(&bound);
    // mpirun binds a rank to a core; where it did not, the ranks of this machine share.
    const char *local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    const int sharing = local ? std::max(1, std::atoi(local)) : ranks.size();
    const int all = static_cast<int>(std::thread::hardware_concurrency());
    halide_set_num_threads(std::max(1, std::min(cores, all / sharing)));
}

}  // namespace hk::train
