#include "shown.h"

#include <algorithm>
#include <cstdlib>

#include "compiled.h"
#include "compiler/tools.h"
#include "hk/error.h"
#include "row_case.h"
#include "row_files.h"
#include "software_device.h"

namespace hk::explorer {

using nlohmann::json;

Shown::Shown(const KernelInfo &row, const std::string &knobs)
    : row_(row), candidate_(Candidate::of(row)) {
    if (!knobs.empty()) candidate_.knobs = knobs;
    try {
        space_ = knob_space(candidate_);
    } catch (const std::runtime_error &error) {
        throw InvalidArgument(error.what());
    }
}

void Shown::compile(const std::filesystem::path &folder, bool pages) {
    const bool cpu = row_.device == DeviceType::cpu;
    const std::string code = cpu ? ",assembly" : ",device_code";
    const std::string outputs =
        std::string("conceptual_stmt,resources") + (pages ? ",stmt_html" : "");
    const auto command = [&](const std::string &kinds) {
        std::vector<std::string> words =
            generator_command(candidate_, candidate_.target(), row_.name, folder.string(), kinds);
        // A kernel over its budget is shown too, with the registers that the row allows.
        words.emplace_back("--allow=stack,spills,dynamic_shared");
        if (!cpu)
            words.push_back("--budget=registers:" + std::to_string(registers_of(row_)));
        return words;
    };
    command_ = command(outputs + code);
    // Halide's page has the assembly too: most of the time is LLVM's, which would run twice.
    const bool has_code = !cpu || !pages;
    compiler::run_program(has_code ? command_ : command(outputs));

    const std::string base = (folder / row_.name).string();
    files_ = {{"conceptual", base + ".conceptual.stmt"}};
    if (pages) files_["lowered_html"] = base + ".stmt.html";
    if (has_code) files_["code"] = base + (cpu ? ".s" : ".device_code");
    resources_ = json::parse(compiler::read_file(base + ".json"));
}

void Shown::count(const std::string &name) {
    if (row_.device != DeviceType::cuda)
        throw InvalidArgument(std::string(row_.name) + " is no CUDA kernel, which --count runs");
    const std::vector<counts::RowCase> own = name.empty()
                                                 ? counts::row_cases(Device::cuda(), row_.name)
                                                 : std::vector{counts::named_case(row_, name)};
    const auto of_row = std::ranges::find_if(own, [&](const counts::RowCase &one) {
        return std::string_view(one.row->name) == row_.name;
    });
    if (of_row == own.end())
        throw InvalidArgument(std::string(row_.name) + " takes no case of bench's lists: --case");
    const counts::SoftwareDevice device;
    const Compiled compiled(candidate_);
    counts_ = counts::to_json(device.count(*of_row->info.problem(), &compiled.kernel()));
    counts_["case"] = of_row->family + " " + of_row->name;
}

json Shown::knob_facts() const {
    const std::map<std::string, int> row = values_of(row_.knobs),
                                     given = values_of(candidate_.knobs);
    json knobs = json::array();
    for (const schedules::Knob &knob : space_.knobs) {
        const bool of_row = row.contains(knob.name) && row.at(knob.name) == knob.value;
        const char *set_by = !given.contains(knob.name) ? "chooser" : of_row ? "row" : "you";
        knobs.push_back({{"name", knob.name},
                         {"value", knob.value},
                         {"legal", knob.legal},
                         {"set_by", set_by}});
    }
    return knobs;
}

json Shown::facts() const {
    const RowText text = text_of(row_);
    const std::optional<LastBuild> built = last_build_of(row_);
    json estimates = json::array();
    for (const schedules::Estimate &e : space_.estimates)
        estimates.push_back({{"what", e.what}, {"uses", e.uses}, {"has", e.has}});
    return {{"name", row_.name},
            {"family", row_.family},
            {"row", row_.row},
            {"algorithm", row_.algorithm},
            {"schedule", row_.schedule},
            {"row_knobs", row_.knobs},
            {"candidate_knobs", candidate_.knobs},
            {"type", name_of(row_.type)},
            {"layout", name_of(row_.layout)},
            {"device", name_of(row_.device)},
            {"target", candidate_.target()},
            {"where", text.where},
            {"budget", values_of(text.budget)},
            {"contract", text.contract},
            {"counts", counts_},
            {"parameters", candidate_.parameters()},
            {"command", command_},
            {"library_bytes", built ? json(built->bytes) : json()},
            {"chooser", {{"file", space_.file}, {"line", space_.line}}},
            {"knobs", knob_facts()},
            {"estimates", estimates},
            {"resources", resources_},
            {"files", files_}};
}

}  // namespace hk::explorer
