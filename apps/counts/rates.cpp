#include "rates.h"

#include <algorithm>
#include <cstdio>

#include "row_case.h"

namespace hk::counts {

namespace {

constexpr const char *kUsual[] = {"conv2d_products_f32_nhwc_cuda",
                                  "topk_tiles_tile_1024_indices_u32_cuda",
                                  "conv2d_matrices_bf16_nhwc_cuda"};

struct Column {
    const char *title, *check;
    bool counts;
};
constexpr Column kColumns[] = {{"bounds", "none", false},
                               {"unwritten", "memory", false},
                               {"races", "all", false},
                               {"counted", "none", true}};

std::vector<RowCase> cases_of(const std::string &filter) {
    std::vector<RowCase> cases = row_cases(Device::cuda(), filter);
    if (filter.empty()) {
        std::erase_if(cases, [](const RowCase &one) {
            return std::ranges::none_of(
                kUsual, [&](std::string_view name) { return one.row->name == name; });
        });
    }
    if (cases.empty()) refuse_filter(filter);
    return cases;
}

bool runs(const SoftwareDevice &device, const bench::CaseInfo &info, const KernelInfo &row) {
    const CallOfRows counts = device.count_rows(*info.problem(), row);
    return std::ranges::any_of(counts.rows, [&](const RowCounts &of) {
        return std::string_view(of.row->name) == row.name;
    });
}

}  // namespace

void print_rates(const std::string &filter) {
    const std::vector<RowCase> cases = cases_of(filter);
    const SoftwareDevice device;
    std::printf("%-40s %-24s", "thread instructions a ns and core", "case");
    for (const Column &column : kColumns) std::printf(" %9s", column.title);
    std::printf("\n");
    for (const RowCase &one : cases) {
        const bench::CaseInfo &info = first_that_runs(
            one, [&](const bench::CaseInfo &tried) { return runs(device, tried, *one.row); });
        std::printf("%-40s %-24s", one.row->name, info.name.c_str());
        const std::unique_ptr<bench::Problem> problem = info.problem();
        for (const Column &column : kColumns) {
            std::printf(" %9.2f",
                        1e-9 * device.rate(*problem, *one.row, column.check, column.counts));
            std::fflush(stdout);
        }
        std::printf("\n");
    }
}

}  // namespace hk::counts
