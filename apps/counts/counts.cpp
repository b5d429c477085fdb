#include "counts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hk::counts {

using nlohmann::json;

namespace {

double sum_of(const std::map<std::string, uint64_t> &by_class) {
    uint64_t sum = 0;
    for (const auto &[name, count] : by_class) sum += count;
    return static_cast<double>(sum);
}

double ratio(double moved, double least) { return least > 0 ? moved / least : 1; }

Traffic traffic_of(const json &counts) {
    return {counts.at("requests"), counts.at("bytes"),    counts.at("moved"),
            counts.at("least"),    counts.at("distinct"), counts.at("second_cache")};
}

Instructions instructions_of(const json &counts) {
    return {counts.at("thread_instructions"), counts.at("warp_instructions")};
}

KernelCounts kernel_of(const json &counts) {
    KernelCounts kernel;
    kernel.entry = counts.at("kernel");
    kernel.launches = counts.at("launches");
    kernel.blocks = counts.at("blocks");
    kernel.threads = counts.at("threads");
    kernel.barriers = counts.at("barriers");
    kernel.branches = counts.at("branches");
    kernel.divergent_branches = counts.at("divergent_branches");
    kernel.shared_bytes = counts.at("shared_bytes");
    kernel.instructions = instructions_of(counts);
    for (const json &one : counts.at("loops")) {
        Loop loop{one.at("line"), one.at("own_thread_instructions"), instructions_of(one)};
        if (loop.own > (kernel.main_loop ? kernel.main_loop->own : 0))
            kernel.main_loop = std::move(loop);
    }
    kernel.global_loads = traffic_of(counts.at("global_loads"));
    kernel.global_stores = traffic_of(counts.at("global_stores"));
    kernel.shared_loads = traffic_of(counts.at("shared_loads"));
    kernel.shared_stores = traffic_of(counts.at("shared_stores"));
    return kernel;
}

}  // namespace

double Instructions::of_threads() const { return sum_of(threads); }
double Instructions::of_warps() const { return sum_of(warps); }

double Instructions::number_of(const std::map<std::string, uint64_t> &of, const char *name) {
    const auto found = of.find(name);
    return found == of.end() ? 0 : static_cast<double>(found->second);
}

double Instructions::multiply_adds() const {
    return number_of(threads, "multiply-add") + number_of(threads, "tensor");
}

double Instructions::share_of_multiply_adds() const {
    const double all = of_threads();
    return all > 0 ? multiply_adds() / all : 0;
}

int KernelCounts::threads_of_block() const {
    return blocks ? static_cast<int>(threads / blocks) : 0;
}

const Loop *CallCounts::main_loop() const {
    const Loop *most = nullptr;
    for (const KernelCounts &kernel : kernels) {
        if (kernel.main_loop && (!most || kernel.main_loop->own > most->own))
            most = &*kernel.main_loop;
    }
    return most;
}

double CallCounts::conflicts() const {
    uint64_t moved = 0, least = 0;
    for (const KernelCounts &kernel : kernels) {
        moved += kernel.shared_loads.moved + kernel.shared_stores.moved;
        least += kernel.shared_loads.least + kernel.shared_stores.least;
    }
    return ratio(static_cast<double>(moved), static_cast<double>(least));
}

double CallCounts::sectors() const {
    uint64_t least = 0;
    for (const KernelCounts &kernel : kernels)
        least += kernel.global_loads.least + kernel.global_stores.least;
    return ratio(bytes_moved(), kSector * static_cast<double>(least));
}

double CallCounts::bytes_moved() const {
    uint64_t moved = 0;
    for (const KernelCounts &kernel : kernels)
        moved += kernel.global_loads.moved + kernel.global_stores.moved;
    return kSector * static_cast<double>(moved);
}

double CallCounts::distinct_bytes() const {
    uint64_t distinct = 0;
    for (const KernelCounts &kernel : kernels)
        distinct += kernel.global_loads.distinct + kernel.global_stores.distinct;
    return kSector * static_cast<double>(distinct);
}

double CallCounts::of_least_bytes() const { return ratio(distinct_bytes(), least_bytes); }

double CallCounts::share_of_multiply_adds() const {
    if (const Loop *loop = main_loop()) return loop->instructions.share_of_multiply_adds();
    double multiply_adds = 0, all = 0;
    for (const KernelCounts &kernel : kernels) {
        multiply_adds += kernel.instructions.multiply_adds();
        all += kernel.instructions.of_threads();
    }
    return all > 0 ? multiply_adds / all : 0;
}

std::vector<KernelCounts> kernels_of(const json &counts) {
    std::vector<KernelCounts> kernels;
    for (const json &one : counts) kernels.push_back(kernel_of(one));
    return kernels;
}

}  // namespace hk::counts
