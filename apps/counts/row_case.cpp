#include "row_case.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "hk/error.h"
#include "usual_limits.h"

namespace hk::counts {

namespace {

constexpr double kWork = 2e6;
constexpr double kMostOfFallbacks = 1e8;  // which the device in software computes in seconds

struct Candidate {
    const KernelInfo *row;
    bench::CaseInfo info;
    bool is_wasteful, is_long;
    size_t rung;
    double distance;  // of its work from that, as a ratio

    bool better_than(const Candidate &other) const {
        return std::tie(is_wasteful, is_long, rung, distance) <
               std::tie(other.is_wasteful, other.is_long, other.rung, other.distance);
    }
};

using Candidates = std::map<std::string, std::vector<Candidate>>;  // by the names of kernels

bool is_wanted(const KernelInfo &kernel, std::string_view filter) {
    return std::string_view(kernel.name).find(filter) != std::string_view::npos;
}

void look_at(const bench::CaseInfo &info, const bench::Settings &settings, std::string_view filter,
             Candidates &candidates) {
    const std::unique_ptr<bench::Problem> problem = info.problem();
    // Selection loads what the explorer compiles.
    if (std::ranges::none_of(problem->kernels(), [&](const KernelInfo &kernel) {
            return kernel.device == settings.device.type() && is_wanted(kernel, filter) &&
                   problem->serves(kernel);
        }))
        return;
    const Selection selection =
        problem->select(settings.device.type(), bench::limits_of(settings), true);
    const double work = problem->work();
    for (size_t rung = 0; rung < selection.ladder.size(); rung++) {
        const KernelInfo *row = selection.ladder[rung].kernel;
        // A row that is not for groups computes a tile of channels for each.
        const bool is_wasteful =
            rung > 0 && (info.kind.starts_with("depthwise") || info.kind.starts_with("grouped"));
        const bool is_long = rung > 0 && work > kMostOfFallbacks;
        candidates[row->name].push_back({row, info, is_wasteful, is_long, rung, distance_of(work)});
    }
}

// Not counted: the table's own cases; images that leave most of a chip idle; shapes of no network.
constexpr std::array<std::string_view, 3> kUncounted = {"table", "small_images", "drawn"};

// Cases of all lists in these settings but those.
std::vector<bench::CaseInfo> cases_of(const bench::Family &family,
                                      const bench::Settings &settings) {
    std::vector<bench::CaseInfo> cases;
    for (const std::string &list : family.lists()) {
        if (std::ranges::find(kUncounted, list) != kUncounted.end()) continue;
        for (bench::CaseInfo &info : family.cases(list, settings)) {
            if (!info.type || *info.type == settings.type) cases.push_back(std::move(info));
        }
    }
    return cases;
}

bool offers_tf32(const bench::Family &family) {
    return std::ranges::any_of(family.problem()->fields(), [](const bench::Field &field) {
        return field.name == "allow_tf32";
    });
}

// Calls `visit` for all families and settings on a kind of device.
void each_settings(
    Device device,
    const std::function<void(const bench::Family &, const bench::Settings &)> &visit) {
    for (const bench::Family &family : bench::families()) {
        if (!family.has_rows) continue;
        for (bench::Settings settings : family.settings()) {
            settings.device = device;
            settings.limits = absent::usual_limits(device.type());
            visit(family, settings);
            // Rows that ask for it are among those of the same type.
            settings.allow_tf32 = settings.type == DataType::f32 && offers_tf32(family);
            if (settings.allow_tf32) visit(family, settings);
        }
    }
}

std::vector<RowCase> row_cases_of(Device device, std::string_view filter,
                                  const std::function<bool(const bench::Family &)> &is_asked) {
    std::vector<RowCase> result;
    std::set<std::string> seen;
    each_settings(device, [&](const bench::Family &family, const bench::Settings &settings) {
        if (!is_asked(family)) return;
        Candidates candidates;
        for (const bench::CaseInfo &info : cases_of(family, settings))
            look_at(info, settings, filter, candidates);
        for (auto &[name, of_row] : candidates) {
            if (!is_wanted(*of_row.front().row, filter) || !seen.insert(name).second) continue;
            std::ranges::stable_sort(of_row, &Candidate::better_than);
            const Candidate &best = of_row.front();
            RowCase &one =
                result.emplace_back(RowCase{best.row, family.name, best.info.name, best.info});
            for (size_t i = 1; i < of_row.size(); i++) one.others.push_back(of_row[i].info);
        }
    });
    return result;
}

}  // namespace

double distance_of(double work) { return std::max(work / kWork, kWork / work); }

std::vector<RowCase> row_cases(Device device, std::string_view filter) {
    return row_cases_of(device, filter, [](const bench::Family &) { return true; });
}

std::vector<RowCase> row_cases_beside(Device device, std::string_view filter) {
    std::set<std::string, std::less<>> names;
    each_settings(device, [&](const bench::Family &family, const bench::Settings &settings) {
        if (family.helpers && std::ranges::any_of(family.helpers(settings), [&](auto *kernel) {
                return is_wanted(*kernel, filter);
            }))
            names.insert(family.name);
    });
    return row_cases_of(device, "",
                        [&](const bench::Family &family) { return names.contains(family.name); });
}

void refuse_filter(const std::string &filter) {
    if (filter.empty()) throw InvalidArgument("there is no problem of a CUDA kernel");
    throw InvalidArgument("there is no problem of a CUDA kernel with \"" + filter +
                          "\" in its name");
}

const bench::CaseInfo &first_that_runs(const RowCase &one,
                                       const std::function<bool(const bench::CaseInfo &)> &runs) {
    if (runs(one.info)) return one.info;
    const auto other = std::ranges::find_if(one.others, runs);
    if (other == one.others.end()) throw Error("no case runs " + std::string(one.row->name));
    return *other;
}

RowCase named_case(const KernelInfo &row, const std::string &name) {
    std::optional<RowCase> result;
    std::string complaint = "there is no case \"" + name + "\"";
    const bool sizes = name.find('=') != std::string::npos;
    const auto look = [&](const bench::Family &family, const bench::Settings &settings) {
        for (bench::CaseInfo &info :
             sizes ? family.cases(name, settings) : cases_of(family, settings)) {
            if (result || !(sizes || info.name == name)) continue;
            const std::unique_ptr<bench::Problem> problem = info.problem();
            for (const KernelInfo &kernel : problem->kernels()) {
                if (std::string_view(kernel.name) == row.name && problem->serves(kernel))
                    result = RowCase{&row, family.name, info.name, info};
            }
        }
    };
    each_settings(
        Device::cuda(), [&](const bench::Family &family, const bench::Settings &settings) {
            if (result || !std::string_view(row.family).starts_with(family.name)) return;
            try {
                look(family, settings);
            } catch (const InvalidArgument &error) {  // another family may have such sizes
                complaint = error.what();
            }
        });
    if (!result) throw InvalidArgument(std::string(row.name) + ": " + complaint);
    return *result;
}

}  // namespace hk::counts
