#include "candidate.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

namespace hk::explorer {

namespace {

// HK_KNOWN_FIELDS is "FAMILY field field …,FAMILY …".
std::set<std::string> known_fields(const std::string &family) {
    std::istringstream families(HK_KNOWN_FIELDS);
    for (std::string line; std::getline(families, line, ',');) {
        std::istringstream words(line);
        std::string first;
        words >> first;
        if (first == family) return {std::istream_iterator<std::string>(words), {}};
    }
    return {};
}

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, separator);) words.push_back(word);
    return words;
}

std::string halide_name(DataType type) {
    const std::string name(name_of(type));
    if (name == "bf16") return "bfloat16";
    const char kind = name.front();
    return (kind == 'f' ? "float" : kind == 'u' ? "uint" : "int") + name.substr(1);
}

}  // namespace

std::vector<std::string> autoschedulers(DeviceType device) {
    if (device == DeviceType::cpu) return {"Mullapudi2016", "Li2018", "Adams2019"};
    return {"Li2018", "Anderson2021"};
}

bool is_autoscheduler(const std::string &schedule) {
    for (const DeviceType device : {DeviceType::cpu, DeviceType::cuda}) {
        const std::vector<std::string> names = autoschedulers(device);
        if (std::find(names.begin(), names.end(), schedule) != names.end()) return true;
    }
    return false;
}

Candidate Candidate::of(const KernelInfo &row) {
    Candidate candidate{.family = row.family,
                        .algorithm = row.algorithm,
                        .schedule = row.schedule,
                        .knobs = row.knobs,
                        .fixed = {},
                        .type = row.type,
                        .layout = row.layout,
                        .device = row.device,
                        .where = {row.where.begin(), row.where.end()}};
    const std::set<std::string> known = known_fields(row.family);
    for (const Constraint &condition : row.where) {
        if (condition.relation == Constraint::Relation::equal && known.contains(condition.field))
            candidate.fixed[condition.field] = condition.value;
    }
    return candidate;
}

std::string Candidate::fixed_text() const {
    std::string text;
    for (const auto &[field, value] : fixed)
        text += (text.empty() ? "" : " ") + field + "=" + std::to_string(value);
    return text;
}

std::string Candidate::base() const {
    return algorithm + "/" + schedule + (fixed.empty() ? "" : " " + fixed_text());
}

std::string Candidate::name() const {
    return base() + (knobs.empty() ? "" : " " + knobs) + (cpu.empty() ? "" : ", " + cpu);
}

std::map<std::string, std::string> Candidate::parameters() const {
    std::map<std::string, std::string> result = {
        {"type", halide_name(type)},
        {"algorithm", algorithm},
        {"schedule", is_autoscheduler(schedule) ? "root" : schedule}};
    if (!knobs.empty()) result["knobs"] = knobs;
    if (layout != Layout::any) result["layout"] = name_of(layout);
    for (const auto &[field, value] : fixed) result["fix_" + field] = std::to_string(value);
    return result;
}

std::vector<std::string> cpu_levels() { return split(HK_CPU_LEVELS, ','); }

std::string Candidate::target() const {
    if (device == DeviceType::cpu && cpu.empty()) return HK_TARGET_CPU;
    if (device == DeviceType::cpu) {
        const std::vector<std::string> levels = cpu_levels();
        const auto level = std::ranges::find(levels, cpu) - levels.begin();
        return split(HK_PORTABLE_TARGET_CPU, ',').at(static_cast<size_t>(level));
    }
    if (device == DeviceType::cuda) return HK_TARGET_CUDA;
    return std::string(HK_TARGET_OPENCL) + (type == DataType::f64 ? "-cl_doubles" : "");
}

}  // namespace hk::explorer
