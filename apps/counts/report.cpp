// Counts for programs and for people.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "counts.h"
#include "gpu.h"

namespace hk::counts {

using nlohmann::json;

namespace {

json to_json(const Traffic &traffic) {
    return {{"requests", traffic.requests}, {"bytes", traffic.bytes},
            {"moved", traffic.moved},       {"least", traffic.least},
            {"distinct", traffic.distinct}, {"second_cache", traffic.second_cache}};
}

json to_json(const Instructions &instructions) {
    return {{"threads", instructions.threads},
            {"warps", instructions.warps},
            {"share_of_multiply_adds", instructions.share_of_multiply_adds()}};
}

json model_of(const KernelCounts &kernel, int registers) {
    json models = json::array();
    for (const Gpu &gpu : gpus()) {
        const Roofline roof = roofline(kernel, gpu);
        const Occupancy resident =
            occupancy(gpu, kernel.threads_of_block(), registers, kernel.shared_bytes);
        json bounds = json::object();
        for (const Bound &bound : roof.bounds) bounds[bound.part] = bound.seconds;
        models.push_back({{"gpu", gpu.name},
                          {"seconds", roof.highest().seconds},
                          {"bound_by", roof.highest().part},
                          {"bounds", bounds},
                          {"blocks", resident.blocks},
                          {"occupancy", resident.share},
                          {"occupancy_limit", resident.limit}});
    }
    return models;
}

json to_json(const KernelCounts &kernel, int registers) {
    json loop;
    if (kernel.main_loop) {
        loop = to_json(kernel.main_loop->instructions);
        loop["line"] = kernel.main_loop->line;
    }
    return {{"entry", kernel.entry},
            {"launches", kernel.launches},
            {"blocks", kernel.blocks},
            {"threads", kernel.threads},
            {"shared_bytes", kernel.shared_bytes},
            {"barriers", kernel.barriers},
            {"branches", kernel.branches},
            {"divergent_branches", kernel.divergent_branches},
            {"instructions", to_json(kernel.instructions)},
            {"main_loop", loop},
            {"global_loads", to_json(kernel.global_loads)},
            {"global_stores", to_json(kernel.global_stores)},
            {"shared_loads", to_json(kernel.shared_loads)},
            {"shared_stores", to_json(kernel.shared_stores)},
            {"models", model_of(kernel, registers)}};
}

template<typename... Values>
std::string formatted(const char *format, Values... values) {
    char text[400];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

// "multiply-add 62 %, integer 20 %, …", most first; what is under a half percent is left out.
std::string classes_of(const Instructions &instructions) {
    std::vector<std::pair<std::string, uint64_t>> classes(instructions.threads.begin(),
                                                          instructions.threads.end());
    std::ranges::stable_sort(classes, std::greater(), &std::pair<std::string, uint64_t>::second);
    std::string text;
    for (const auto &[name, count] : classes) {
        const double percent = 100 * static_cast<double>(count) / instructions.of_threads();
        if (percent < 0.5) break;
        text += (text.empty() ? "" : ", ") + name + formatted(" %.0f %%", percent);
    }
    return text;
}

std::string model_text(const KernelCounts &kernel, int registers, const Gpu &gpu) {
    const Roofline roof = roofline(kernel, gpu);
    const Occupancy resident =
        occupancy(gpu, kernel.threads_of_block(), registers, kernel.shared_bytes);
    std::string parts;
    for (const Bound &bound : roof.bounds)
        parts += (parts.empty() ? "" : ", ") + bound.part + formatted(" %.2f", 1e6 * bound.seconds);
    return gpu.name +
           formatted(
               ": at least %.2f us, bound by %s (us: %s); %d blocks a multiprocessor, %.0f "
               "%% of its warps, by %s",
               1e6 * roof.highest().seconds, roof.highest().part.c_str(), parts.c_str(),
               resident.blocks, 100 * resident.share, resident.limit.c_str());
}

std::string loop_text(const KernelCounts &kernel) {
    if (!kernel.main_loop) return "none";
    const Instructions &executed = kernel.main_loop->instructions;
    return formatted(
        "from line %.0f of the PTX: %.0f %% of all instructions, %.0f %% of its own "
        "are multiply-adds",
        static_cast<double>(kernel.main_loop->line),
        100 * executed.of_threads() / kernel.instructions.of_threads(),
        100 * executed.share_of_multiply_adds());
}

std::string traffic_text(const char *unit, const Traffic &loads, const Traffic &stores) {
    const auto moved = static_cast<double>(loads.moved + stores.moved);
    const auto least = static_cast<double>(loads.least + stores.least);
    if (least == 0) return "not used";
    return formatted("%.2f times the least %s (%.0f of %.0f), %.2f MB asked for", moved / least,
                     unit, moved, least, static_cast<double>(loads.bytes + stores.bytes) / 1e6);
}

std::string text_of(const KernelCounts &kernel, int registers, const std::string &indent) {
    const auto number = [](uint64_t value) { return static_cast<double>(value); };
    const double blocks = std::max(number(kernel.blocks), 1.0);
    std::string text;
    const auto line = [&](const char *name, const std::string &what) {
        text += indent + formatted("%-11s", name) + what + "\n";
    };
    line("counted", kernel.entry + formatted(", %.0f launches, %.0f blocks of %d threads, %d bytes "
                                             "of shared memory",
                                             number(kernel.launches), number(kernel.blocks),
                                             kernel.threads_of_block(), kernel.shared_bytes));
    line("executed",
         formatted("%.3f M instructions of threads: ", kernel.instructions.of_threads() / 1e6) +
             classes_of(kernel.instructions));
    line("main loop", loop_text(kernel));
    line("shared", traffic_text("wavefronts", kernel.shared_loads, kernel.shared_stores));
    line("global", traffic_text("sectors", kernel.global_loads, kernel.global_stores));
    line("barriers",
         formatted("%.1f a block; %.2f %% of %.0f branches of warps diverge",
                   number(kernel.barriers) / blocks,
                   100 * number(kernel.divergent_branches) / std::max(number(kernel.branches), 1.0),
                   number(kernel.branches)));
    for (const Gpu &gpu : gpus()) line("model", model_text(kernel, registers, gpu));
    return text;
}

}  // namespace

json to_json(const CallCounts &counts) {
    json kernels = json::array();
    for (const KernelCounts &kernel : counts.kernels)
        kernels.push_back(to_json(kernel, counts.registers));
    return {{"kernels", kernels},
            {"least_bytes", counts.least_bytes},
            {"moved_bytes", counts.bytes_moved()},
            {"distinct_bytes", counts.distinct_bytes()},
            {"of_least_bytes", counts.of_least_bytes()},
            {"conflicts", counts.conflicts()},
            {"sectors", counts.sectors()},
            {"share_of_multiply_adds", counts.share_of_multiply_adds()}};
}

std::string text_of(const CallCounts &counts, const std::string &indent) {
    std::string text;
    for (const KernelCounts &kernel : counts.kernels)
        text += text_of(kernel, counts.registers, indent);
    text += indent + formatted(
                         "%-11s%.2f MB of different sectors, %.2f times the problem's %.2f MB, "
                         "each tensor once; %.2f MB moved by caches\n",
                         "memory", counts.distinct_bytes() / 1e6, counts.of_least_bytes(),
                         counts.least_bytes / 1e6, counts.bytes_moved() / 1e6);
    text +=
        indent + "Models are lower bounds from counts and published rates; nothing was measured.\n";
    return text;
}

}  // namespace hk::counts
