#include "row_files.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "report.h"

namespace hk::explorer {

namespace {

std::string path_of(const KernelInfo &kernel, const std::string &extension) {
    return std::string(HK_KERNELS "/") + kernel.family + "/" + kernel.name + extension;
}

}  // namespace

std::map<std::string, int> values_of(const std::string &text) {
    std::map<std::string, int> values;
    std::istringstream in(text);
    for (std::string knob; std::getline(in, knob, ',');) {
        const size_t colon = knob.find(':');
        values[knob.substr(0, colon)] = std::stoi(knob.substr(colon + 1));
    }
    return values;
}

RowText text_of(const KernelInfo &kernel) {
    std::ifstream in(std::string(HK_KERNELS "/") + kernel.family + "/rows.txt");
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(std::string(kernel.name) + "|")) continue;
        const size_t contract = line.rfind('|'), budget = line.rfind('|', contract - 1),
                     where = line.rfind('|', budget - 1);
        return {line.substr(where + 1, budget - where - 1),
                line.substr(budget + 1, contract - budget - 1), line.substr(contract + 1)};
    }
    throw std::runtime_error(std::string("rows.txt of ") + kernel.family + " has no " +
                             kernel.name + ": build it");
}

int registers_of(const KernelInfo &row) { return values_of(text_of(row).budget).at("registers"); }

std::optional<LastBuild> last_build_of(const KernelInfo &kernel) {
    std::error_code missing;
    const uintmax_t bytes = std::filesystem::file_size(path_of(kernel, ".a"), missing);
    std::ifstream in(path_of(kernel, ".json"));
    if (missing || !in) return {};
    const nlohmann::json report = nlohmann::json::parse(in);
    return LastBuild{resources_of(report), static_cast<int64_t>(bytes), report.at("seconds")};
}

std::vector<std::string> generator_command(const Candidate &candidate, const std::string &target,
                                           const std::string &function, const std::string &folder,
                                           const std::string &outputs) {
    std::vector<std::string> words = {HK_GENERATORS "/" + candidate.family + ".generator",
                                      "-g",
                                      candidate.family,
                                      "-f",
                                      function,
                                      "-o",
                                      folder,
                                      "-e",
                                      outputs,
                                      "target=" + target};
    for (const auto &[name, value] : candidate.parameters()) words.push_back(name + "=" + value);
    return words;
}

}  // namespace hk::explorer
