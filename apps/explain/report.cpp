#include "report.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "hk/error.h"
#include "software_device.h"
#include "usual_limits.h"

namespace hk::explain {

using nlohmann::json;

namespace {

// The row of the same schedule on CUDA: its host code computes the same grid.
const KernelInfo *cuda_twin(const Problem &problem, const KernelInfo &kernel) {
    for (const KernelInfo &other : problem.kernels()) {
        if (other.device == DeviceType::cuda && other.type == kernel.type &&
            other.layout == kernel.layout && std::strcmp(other.row, kernel.row) == 0 &&
            std::strcmp(other.algorithm, kernel.algorithm) == 0 &&
            std::strcmp(other.schedule, kernel.schedule) == 0 &&
            std::strcmp(other.knobs, kernel.knobs) == 0) {
            return &other;
        }
    }
    return nullptr;
}

std::string known(int value, const char *unit) {
    return value < 0 ? "not known" : std::to_string(value) + unit;
}

std::string extents(const std::array<unsigned, 3> &e) {
    return std::to_string(e[0]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[2]);
}

json number_or_null(int value) { return value < 0 ? json(nullptr) : json(value); }

std::string allowed(const DeviceLimits &limits) {
    std::string text = std::to_string(limits.shared_bytes);
    if (limits.shared_bytes_opt_in > limits.shared_bytes) {
        text += " (" + std::to_string(limits.shared_bytes_opt_in) + " opted in)";
    }
    return text;
}

void print_ladder(const Choice &choice) {
    for (size_t i = 0; i < choice.ladder.size(); i++) {
        const auto &[kernel, shortage] = choice.ladder[i];
        const KernelResources &used = kernel->resources;
        std::printf("  %s %zu  %s: shared %s, registers %s, threads %s: %s%s%s\n",
                    i == 0 ? "ladder " : "       ", i, kernel->row,
                    known(used.shared_bytes(), "").c_str(), known(used.registers, "").c_str(),
                    known(used.threads, "").c_str(),
                    shortage.empty() ? "fits" : "too large: ", shortage.c_str(),
                    kernel == choice.kernel ? ", taken" : "");
    }
}

// Of the rows that take problems of this one's kind.
std::vector<Region> regions_of(const Problem &problem, DeviceType device) {
    const std::vector<std::string> fields = problem.kind_fields();
    std::vector<Region> regions;
    if (fields.empty()) return regions;
    for (const KernelInfo &kernel : problem.kernels()) {
        if (kernel.device != device || !problem.serves(kernel)) continue;
        std::string conditions;
        bool others_hold = true;
        for (const Constraint &constraint : kernel.where) {
            if (std::find(fields.begin(), fields.end(), constraint.field) != fields.end()) {
                others_hold &= holds(constraint, problem.value_of(constraint.field));
            } else {
                conditions += (conditions.empty() ? "" : ", ") + std::string(constraint.field) +
                              " " + to_string(constraint);
            }
        }
        if (!others_hold) continue;
        const bool all = conditions.empty();
        regions.push_back({kernel.row, all ? "all others" : conditions});
        if (all) break;
    }
    return regions;
}

void print_arithmetic(const bench::Arithmetic &a) {
    std::printf("%.3f GFLOP; tensors %.1f MB, each once; rows gathered %.1f MB, added to %.1f MB\n",
                a.operations / 1e9, a.bytes / 1e6, a.gathered / 1e6, a.added / 1e6);
}

json arithmetic_json(const std::optional<bench::Arithmetic> &a) {
    if (!a) return nullptr;
    return {{"operations", a->operations},
            {"bytes", a->bytes},
            {"gathered_bytes", a->gathered},
            {"added_bytes", a->added}};
}

json ladder_json(const std::vector<Rung> &ladder) {
    json array = json::array();
    for (const auto &[kernel, shortage] : ladder) {
        const KernelResources &used = kernel->resources;
        array.push_back({{"row", kernel->row},
                         {"kernel", kernel->name},
                         {"shared_bytes", number_or_null(used.shared_bytes())},
                         {"registers", number_or_null(used.registers)},
                         {"threads", number_or_null(used.threads)},
                         {"fits", shortage.empty()},
                         {"shortage", shortage.empty() ? json(nullptr) : json(shortage)}});
    }
    return array;
}

// The place of the row that is taken.
json rung_json(const Choice &choice) {
    for (size_t i = 0; i < choice.ladder.size(); i++) {
        if (choice.ladder[i].kernel == choice.kernel) return i;
    }
    return nullptr;
}

// The first device of each kind, under HK_SHARED_LIMIT.
Target target_of(DeviceType type) {
    const Device first = type == DeviceType::cpu    ? Device::cpu()
                         : type == DeviceType::cuda ? Device::cuda()
                                                    : Device::opencl();
    if (first.available()) return {type, first.limits(), first.description()};
    return {type, absent::usual_limits(type), "none here; as " + absent::whose_limits(type)};
}

}  // namespace

std::vector<Choice> choices_of(Problem &problem, bool count) {
    std::vector<DeviceType> devices;
    const std::span<const KernelInfo> kernels = problem.kernels();
    for (DeviceType device : {DeviceType::cpu, DeviceType::cuda, DeviceType::opencl}) {
        if (std::any_of(kernels.begin(), kernels.end(),
                        [&](const KernelInfo &kernel) { return kernel.device == device; })) {
            devices.push_back(device);
        }
    }
    // Before a real driver is opened: the launches of every row that may be chosen.
    std::map<const KernelInfo *, std::vector<Launch>> launches;
    for (const KernelInfo &kernel : problem.kernels()) {
        if (kernel.device == DeviceType::cuda && problem.serves(kernel)) {
            launches[&kernel] = launches_of([&] {
                problem.bind(made_up_tensors(problem));
                problem.run(&kernel);
            });
        }
    }
    std::optional<counts::SoftwareDevice> counter;
    if (count && std::ranges::find(devices, DeviceType::cuda) != devices.end()) counter.emplace();
    std::vector<Choice> result;
    for (DeviceType device : devices) {
        Choice choice;
        choice.target = target_of(device);
        choice.arithmetic = problem.arithmetic();
        const Selection selection = problem.select(choice.target.type, choice.target.limits, true);
        choice.kernel = selection.kernel;
        if (device != DeviceType::cpu) choice.ladder = selection.ladder;
        for (const Rejection &rejection : selection.rejected) {
            choice.rejected.push_back({rejection.kernel->row, rejection.reason});
        }
        choice.regions = regions_of(problem, device);
        if (choice.kernel && device != DeviceType::cpu) {
            choice.launches = launches[cuda_twin(problem, *choice.kernel)];
        }
        if (choice.kernel && device == DeviceType::cuda && counter)
            choice.counts = counter->count(problem, choice.kernel);
        result.push_back(std::move(choice));
    }
    return result;
}

void print(const std::string &words, const std::vector<Choice> &choices) {
    std::printf("%s\n", words.c_str());
    if (!choices.empty() && choices.front().arithmetic)
        print_arithmetic(*choices.front().arithmetic);
    for (const Choice &choice : choices) {
        const std::string target(name_of(choice.target.type));
        std::printf("\n%s (%s)\n", target.c_str(), choice.target.description.c_str());
        if (!choice.kernel) {
            std::printf("  no row takes this problem\n");
        } else {
            const KernelInfo &kernel = *choice.kernel;
            const KernelResources &used = kernel.resources;
            std::printf("  row        %s (%s: algorithm %s, schedule %s%s%s)\n", kernel.row,
                        kernel.name, kernel.algorithm, kernel.schedule, *kernel.knobs ? ", " : "",
                        kernel.knobs);
            if (choice.target.type != DeviceType::cpu) {
                const DeviceLimits &limits = choice.target.limits;
                std::printf("  shared     %s of %s a block\n",
                            known(used.shared_bytes(), " bytes").c_str(), allowed(limits).c_str());
                std::printf("  registers  %s a thread\n", known(used.registers, "").c_str());
                std::printf("  stack      %s a thread, spills %s\n",
                            known(used.stack_bytes, " bytes").c_str(),
                            known(used.spill_bytes, " bytes").c_str());
                std::printf("  threads    %s a block\n", known(used.threads, "").c_str());
            }
            for (const Launch &launch : choice.launches) {
                std::printf("  grid       %s blocks of %s threads\n", extents(launch.grid).c_str(),
                            extents(launch.block).c_str());
            }
        }
        if (choice.counts) std::printf("%s", counts::text_of(*choice.counts, "  ").c_str());
        print_ladder(choice);
        for (const Region &region : choice.regions) {
            std::printf("  region     %s: %s\n", region.row.c_str(), region.conditions.c_str());
        }
        for (const Rejected &rejected : choice.rejected) {
            std::printf("  not %s: %s\n", rejected.row.c_str(), rejected.reason.c_str());
        }
    }
}

json to_json(const std::vector<Choice> &choices) {
    json array = json::array();
    for (const Choice &choice : choices) {
        const bool cpu = choice.target.type == DeviceType::cpu;
        json rejected = json::array();
        for (const Rejected &r : choice.rejected) {
            rejected.push_back({{"row", r.row}, {"reason", r.reason}});
        }
        json regions = json::array();
        for (const Region &region : choice.regions) {
            regions.push_back({{"row", region.row}, {"conditions", region.conditions}});
        }
        json launches = json::array();
        for (const Launch &launch : choice.launches) {
            launches.push_back({{"grid", launch.grid},
                                {"block", launch.block},
                                {"dynamic_shared_bytes", launch.shared_bytes}});
        }
        const DeviceLimits &limits = choice.target.limits;
        json object = {{"target", name_of(choice.target.type)},
                       {"device", choice.target.description},
                       {"limits",
                        {{"shared_bytes", limits.shared_bytes},
                         {"shared_bytes_opt_in", limits.shared_bytes_opt_in},
                         {"threads", limits.threads},
                         {"registers", limits.registers},
                         {"compute_capability", limits.compute_capability}}},
                       {"arithmetic", arithmetic_json(choice.arithmetic)},
                       {"row", nullptr},
                       {"shared_bytes", nullptr},
                       {"registers", nullptr},
                       {"stack_bytes", nullptr},
                       {"spill_bytes", nullptr},
                       {"threads", nullptr},
                       {"grid", launches.empty() ? json(nullptr) : launches.back()["grid"]},
                       {"launches", launches},
                       {"ladder", ladder_json(choice.ladder)},
                       {"rung", rung_json(choice)},
                       {"regions", regions},
                       {"rejected", rejected},
                       {"counts", nullptr}};
        if (choice.counts) object["counts"] = counts::to_json(*choice.counts);
        if (const KernelInfo *kernel = choice.kernel) {
            const KernelResources &used = kernel->resources;
            object["row"] = kernel->row;
            object["kernel"] = kernel->name;
            object["family"] = kernel->family;
            object["algorithm"] = kernel->algorithm;
            object["schedule"] = kernel->schedule;
            object["knobs"] = kernel->knobs;
            object["shared_bytes"] = cpu ? json(0) : number_or_null(used.shared_bytes());
            object["registers"] = number_or_null(used.registers);
            object["stack_bytes"] = number_or_null(used.stack_bytes);
            object["spill_bytes"] = number_or_null(used.spill_bytes);
            object["threads"] = number_or_null(used.threads);
        }
        array.push_back(std::move(object));
    }
    return array;
}

}  // namespace hk::explain
