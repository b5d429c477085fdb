// counts: every CUDA row of the table on a problem that it takes, on the CUDA device in software,
// and what was counted. docs/kernels.md and the contracts of the table are of it. --list: what the
// model says of a network instead.

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "list_model.h"
#include "program/file.h"
#include "program/program.h"
#include "rates.h"
#include "row_case.h"
#include "software_device.h"

namespace hk::counts {

namespace {

// Of kernels with a text in their names; of all, where only calls of others run these.
std::vector<RowCase> cases_of(const std::string &filter) {
    std::vector<RowCase> cases = row_cases(Device::cuda(), filter);
    return cases.empty() ? row_cases_beside(Device::cuda(), filter) : cases;
}

// All kernels of the table with a text in their names.
class Table {
public:
    explicit Table(const std::string &filter) : filter_(filter), cases_(cases_of(filter)) {
        for (const RowCase &one : cases_) own_.insert(one.row->name);
    }

    nlohmann::json count() {
        if (cases_.empty()) refuse_filter(filter_);
        std::printf("%-56s %-36s %7s %9s %8s %7s\n", "kernel", "case", "FMA", "conflicts",
                    "sectors", "memory");
        for (const RowCase &one : cases_)
            first_that_runs(one, [&](const bench::CaseInfo &info) { return count_on(one, info); });
        for (const auto &[name, behind] : behind_) add(*behind.row, behind.of, behind.counts);
        if (all_.empty()) refuse_filter(filter_);
        return std::move(all_);
    }

private:
    // A row without problems of its own, which calls of others run.
    struct Behind {
        const KernelInfo *row;
        std::string of;  // the case
        CallCounts counts;
        double distance() const { return distance_of(counts.least_bytes); }
    };

    const std::string filter_;
    const std::vector<RowCase> cases_;
    const SoftwareDevice device_;
    std::set<std::string, std::less<>> own_;
    std::map<std::string, Behind> behind_;
    nlohmann::json all_ = nlohmann::json::array();

    bool is_wanted(std::string_view name) const { return name.find(filter_) != name.npos; }

    // Whether the call runs the row.
    bool count_on(const RowCase &one, const bench::CaseInfo &info) {
        const std::unique_ptr<bench::Problem> problem = info.problem();
        bool launched = false;
        CallOfRows counts = device_.count_rows(*problem, *one.row);
        for (RowCounts &of : counts.rows) {
            const std::string_view name = of.row->name;
            launched |= name == one.row->name;
            if (!own_.contains(name) && is_wanted(name))
                keep({of.row, info.name, std::move(of.counts)});
        }
        if (launched && is_wanted(one.row->name)) add(*one.row, info.name, counts.call);
        return launched;
    }

    void keep(Behind behind) {
        const auto [known, is_first] = behind_.try_emplace(behind.row->name, behind);
        if (!is_first && behind.distance() < known->second.distance())
            known->second = std::move(behind);
    }

    void add(const KernelInfo &row, const std::string &of, const CallCounts &counts) {
        nlohmann::json result = to_json(counts);
        result["kernel"] = row.name;
        result["family"] = row.family;
        result["case"] = of;
        std::printf("%-56s %-36s %5.0f %% %9.2f %8.2f %7.2f\n", row.name, of.c_str(),
                    100 * counts.share_of_multiply_adds(), counts.conflicts(), counts.sectors(),
                    counts.of_least_bytes());
        std::fflush(stdout);
        all_.push_back(std::move(result));
    }
};

void count_table(const std::string &filter, const std::string &output) {
    const nlohmann::json all = Table(filter).count();
    if (!output.empty()) program::write_file(output, all.dump(1) + "\n");
}

// Those of --list, which is returned.
program::Flag add_list_flags(program::Flags &flags, ListChoice &list) {
    program::Flag of = flags.add(
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
    return of;
}

}  // namespace

}  // namespace hk::counts

int main(int argc, char **argv) {
    using hk::program::Flag;
    hk::program::Flags flags(
        "What every CUDA row of the table executes, counted on the CUDA device in software");
    std::string output, filter;
    bool rates = false;
    hk::counts::ListChoice list;
    const Flag to = flags.add("--output", output, "write it to this file, as JSON");
    const Flag only = flags.add("--filter", filter, "only kernels whose names have this in them");
    const Flag rate =
        flags.add("--rates", rates, "instead, how fast a core of this machine executes some")
            .excludes(to);
    hk::counts::add_list_flags(flags, list).excludes(rate).excludes(to).excludes(only);
    return hk::program::run("counts", flags, argc, argv, [&] {
        if (rates)
            hk::counts::print_rates(filter);
        else if (list.list.empty())
            hk::counts::count_table(filter, output);
        else
            print(model_of(hk::counts::SoftwareDevice(), list));
        return 0;
    });
}
