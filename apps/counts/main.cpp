// counts: every CUDA row of the table on a problem that it takes, on the CUDA device in software,
// and what was counted. docs/kernels.md and the contracts of the table are of it. --list: what the
// model says of a network instead.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "hk/error.h"
#include "list_model.h"
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

void count_table(const std::string &filter, const std::string &output) {
    const auto cases = row_cases(Device::cuda(), filter);
    if (cases.empty()) throw InvalidArgument("no CUDA kernel has \"" + filter + "\" in its name");
    const SoftwareDevice device;
    std::printf("%-56s %-36s %7s %9s %8s %7s\n", "kernel", "case", "FMA", "conflicts", "sectors",
                "memory");
    nlohmann::json all = nlohmann::json::array();
    for (const RowCase &one : cases) all.push_back(count(device, one));
    if (!output.empty()) program::write_file(output, all.dump(1) + "\n");
}

void add_list_flags(program::Flags &flags, ListChoice &list) {
    const program::Flag of = flags.add(
        "--list", list.list,
        "instead, the model of a list of bench's, a .csv file or sizes: input=1x56x56x64,…");
    flags.add("--family", list.choice.family, "as bench has them").needs(of);
    flags.add("--type", list.choice.type, "the family's first").needs(of);
    flags.add("--layout", list.choice.layout, "nhwc or nchw; nhwc").needs(of);
    flags.add("--batch", list.batch, "whatever the list says")
        .check(program::range(1, 65535))
        .needs(of);
    flags.add("--allow-tf32", list.allow_tf32, "products of f32 as TF32").needs(of);
    flags.add("--gpu", list.gpu, "H100 SXM, A100 SXM or RTX 4090").needs(of).show_default();
}

}  // namespace

}  // namespace hk::counts

int main(int argc, char **argv) {
    hk::program::Flags flags(
        "What every CUDA row of the table executes, counted on the CUDA device in software");
    std::string output, filter;
    hk::counts::ListChoice list;
    flags.add("--output", output, "write it to this file, as JSON");
    flags.add("--filter", filter, "only kernels whose names have this in them");
    hk::counts::add_list_flags(flags, list);
    return hk::program::run("counts", flags, argc, argv, [&] {
        if (list.list.empty())
            hk::counts::count_table(filter, output);
        else
            print(model_of(hk::counts::SoftwareDevice(), list));
        return 0;
    });
}
