#include "list_model.h"

#include <algorithm>
#include <cstdio>

#include "hk/error.h"

namespace hk::counts {

namespace {

const Gpu &gpu_named(const std::string &name) {
    std::string known;
    for (const Gpu &gpu : gpus()) {
        if (gpu.name == name) return gpu;
        known += (known.empty() ? "" : ", ") + gpu.name;
    }
    throw InvalidArgument("no GPU is called \"" + name + "\"; known: " + known);
}

bool has_products(const CallCounts &counts) {
    return std::ranges::any_of(counts.kernels, [](const KernelCounts &kernel) {
        return Instructions::number_of(kernel.instructions.warps, "tensor") > 0;
    });
}

// Multiply-adds a second, of all multiprocessors.
double rate(const Gpu &gpu, DataType type, bool products) {
    const double of_unit =
        products ? gpu.products * kMultiplyAddsOfBytes / static_cast<double>(size_of(type))
                 : gpu.multiply_adds;
    return of_unit * gpu.multiprocessors * gpu.clock;
}

ModelledCase modelled(const CallCounts &counts, const Gpu &gpu, const bench::Settings &settings,
                      double operations) {
    ModelledCase result;
    double longest = 0;
    for (const KernelCounts &kernel : counts.kernels) {
        const Roofline roof = roofline(kernel, gpu);
        const Bound &bound = roof.highest();
        result.seconds += bound.seconds;
        if (bound.seconds <= longest) continue;
        longest = bound.seconds;
        result.bound_by = bound.part;
        result.filled = filled(kernel, gpu);
    }
    result.operations = operations / 2 / rate(gpu, settings.type, has_products(counts));
    result.memory = counts.least_bytes / gpu.bytes_a_second;
    result.least = std::max(result.operations, result.memory);
    return result;
}

}  // namespace

std::vector<ModelledCase> model_of(const SoftwareDevice &device, const ListChoice &choice) {
    const Gpu &gpu = gpu_named(choice.gpu);
    bench::Settings settings;
    bench::Choice on_cuda = choice.choice;
    on_cuda.device = "cuda:0";
    const bench::Family family = bench::choose(on_cuda, settings);
    if (!family.has_rows) throw InvalidArgument(family.name + " runs no kernel of the table");
    settings.batch = choice.batch;
    settings.allow_tf32 = choice.allow_tf32;
    settings.limits = Device::cuda().limits();
    std::vector<ModelledCase> result;
    for (const bench::CaseInfo &info : family.cases(choice.list, settings)) {
        const std::unique_ptr<bench::Problem> problem = info.problem();
        const KernelInfo *row = info.select();
        ModelledCase one = modelled(device.count(*problem, row), gpu, settings, problem->work());
        one.name = info.name;
        one.row = row ? row->row : "";
        one.count = info.count;
        result.push_back(std::move(one));
    }
    return result;
}

void print(const std::vector<ModelledCase> &cases) {
    const auto line = [](const std::string &name, const std::string &row, const ModelledCase &of) {
        std::printf("%-32s %-20s %8.2f %-14s %10.2f %8.2f %8.2f %8.2f\n", name.c_str(), row.c_str(),
                    1e6 * of.seconds, of.bound_by.c_str(), 1e6 * of.operations, 1e6 * of.memory,
                    of.share(), of.filled);
    };
    std::printf("%-32s %-20s %8s %-14s %10s %8s %8s %8s\n", "case", "row", "us", "bound by",
                "operations", "memory", "of limit", "filled");
    ModelledCase all;
    for (const ModelledCase &one : cases) {
        line(one.name, one.row, one);
        const auto often = static_cast<double>(one.count);
        all.seconds += often * one.seconds;
        all.operations += often * one.operations;
        all.memory += often * one.memory;
        all.least += often * one.least;
    }
    line("all, as often as they are there", "", all);
    std::printf("Models are lower bounds from counts and published rates; nothing was measured.\n");
}

}  // namespace hk::counts
