#include "software_cuda/machine/counts.h"

#include <numeric>

namespace software_cuda {

const char *class_name(InstructionClass c) {
    static const char *const names[] = {
        "multiply-add", "tensor",       "float",  "integer", "division",    "conversion",
        "compare",      "move",         "branch", "barrier", "global load", "global store",
        "shared load",  "shared store", "atomic", "warp"};
    static_assert(std::size(names) == static_cast<size_t>(InstructionClass::kCount));
    return names[static_cast<size_t>(c)];
}

uint64_t Counts::all_thread_instructions() const {
    return std::accumulate(thread_instructions.begin(), thread_instructions.end(), uint64_t{0});
}

void Counts::add(const Counts &other) {
    for (size_t n = 0; n < thread_instructions.size(); n++) {
        thread_instructions[n] += other.thread_instructions[n];
        warp_instructions[n] += other.warp_instructions[n];
    }
    branches += other.branches;
    divergent_branches += other.divergent_branches;
    barriers += other.barriers;
    blocks += other.blocks;
    threads += other.threads;
    const auto sum = [](MemoryCounts &to, const MemoryCounts &from) {
        to.requests += from.requests;
        to.bytes += from.bytes;
        to.moved += from.moved;
        to.least += from.least;
        to.distinct += from.distinct;
        to.second_cache += from.second_cache;
    };
    sum(global_loads, other.global_loads);
    sum(global_stores, other.global_stores);
    sum(shared_loads, other.shared_loads);
    sum(shared_stores, other.shared_stores);
    for (const auto &[line, threads] : other.lines) lines[line] += threads;
    seconds += other.seconds;
}

}  // namespace software_cuda
