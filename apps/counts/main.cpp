// counts: every CUDA row of the table on a problem that it takes, on the CUDA device in software,
// and what was counted. docs/kernels.md and the contracts of the table are of it.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "hk/error.h"
#include "program/file.h"
#include "program/program.h"
#include "row_case.h"
#include "software_device.h"

namespace hk::counts {

namespace {

nlohmann::json count(const SoftwareDevice &device, const RowCase &one) {
    const std::unique_ptr<bench::Problem> problem = one.info.problem();
    const CallCounts counts = device.count(*problem, one.row);
    if (counts.kernels.empty()) throw Error(std::string(one.row->name) + " launched nothing");
    nlohmann::json result = to_json(counts);
    result["kernel"] = one.row->name;
    result["family"] = one.family;
    result["case"] = one.name;
    std::printf("%-56s %-36s %5.0f %% %9.2f %8.2f %7.2f\n", one.row->name, one.name.c_str(),
                100 * counts.share_of_multiply_adds(), counts.conflicts(), counts.sectors(),
                counts.of_least_bytes());
    std::fflush(stdout);
    return result;
}

}  // namespace

}  // namespace hk::counts

int main(int argc, char **argv) {
    hk::program::Flags flags(
        "What every CUDA row of the table executes, counted on the CUDA device in software");
    std::string output, filter;
    flags.add("--output", output, "write it to this file, as JSON");
    flags.add("--filter", filter, "only kernels whose names have this in them");
    return hk::program::run("counts", flags, argc, argv, [&] {
        const auto cases = hk::counts::row_cases(hk::Device::cuda(), filter);
        if (cases.empty())
            throw hk::InvalidArgument("no CUDA kernel has \"" + filter + "\" in its name");
        const hk::counts::SoftwareDevice device;
        std::printf("%-56s %-36s %7s %9s %8s %7s\n", "kernel", "case", "FMA", "conflicts",
                    "sectors", "memory");
        nlohmann::json all = nlohmann::json::array();
        for (const hk::counts::RowCase &one : cases)
            all.push_back(hk::counts::count(device, one));
        if (!output.empty()) hk::program::write_file(output, all.dump(1) + "\n");
        return 0;
    });
}
