#include "on_demand.h"

#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "candidate.h"
#include "compiler/tools.h"
#include "report.h"
#include "row_files.h"

namespace hk::explorer {

namespace {

using nlohmann::json;

// As the build compiles it, so that the cache has it after a build.
class Loaded {
public:
    explicit Loaded(const KernelInfo &row) {
        const compiler::TemporaryFolder folder(std::filesystem::temp_directory_path(), row.name);
        const std::string base = (folder.path() / row.name).string();
        compile(row, folder.path());
        // Its calls of the runtime are those of this program.
        compiler::run_program({HK_CXX, "-shared", "-nostdlib", "-o", base + ".so",
                               "-Wl,--whole-archive", base + ".a", "-Wl,--no-whole-archive"});
        // Never closed: rows are taken until the program ends.
        void *library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) throw std::runtime_error(dlerror());
        call_ = reinterpret_cast<int (*)(void **)>(
            dlsym(library, (std::string(row.name) + "_argv").c_str()));
        if (!call_) throw std::runtime_error(dlerror());
        report_ = json::parse(compiler::read_file(base + ".json"));
        describe_arguments();
    }
    Loaded(const Loaded &) = delete;
    Loaded &operator=(const Loaded &) = delete;

    void give(KernelInfo &row) const {
        row.resources = resources_of(report_);
        row.call = call_;
        row.arguments = arguments_;
        row.load = nullptr;
    }

private:
    static void compile(const KernelInfo &row, const std::filesystem::path &folder) {
        const Candidate candidate = Candidate::of(row);
        const bool is_cpu = row.device == DeviceType::cpu;
        std::vector<std::string> command =
            generator_command(candidate, is_cpu ? HK_TABLE_TARGET_CPU : candidate.target(),
                              row.name, folder.string(), "static_library,c_header,resources");
        command.emplace_back("--pack");
        if (!is_cpu) command.push_back("--budget=" + text_of(row).budget);
        compiler::run_program(command);
    }

    void describe_arguments() {
        for (const json &argument : report_.at("arguments")) {
            names_.push_back(argument.at("name"));
            extents_.push_back(argument.at("extents"));
        }
        for (size_t i = 0; i < names_.size(); i++)
            arguments_.push_back(
                {names_[i].c_str(), report_["arguments"][i].at("bytes"), extents_[i]});
    }

    int (*call_)(void **) = nullptr;
    json report_;
    std::vector<std::string> names_;
    std::vector<std::vector<int64_t>> extents_;
    std::vector<KernelArgument> arguments_;
};

// Never destroyed: what has been loaded may run until the program ends.
std::map<std::string, std::unique_ptr<Loaded>> &all_loaded() {
    static auto &all = *new std::map<std::string, std::unique_ptr<Loaded>>;
    return all;
}

}  // namespace

void load(const KernelInfo &row) {
    std::unique_ptr<Loaded> &loaded = all_loaded()[row.name];
    if (!loaded) loaded = std::make_unique<Loaded>(row);
    // The tables on demand, and copies of their rows, are not const.
    loaded->give(const_cast<KernelInfo &>(row));
}

void load_all(const std::vector<const KernelInfo *> &rows) {
    std::vector<std::unique_ptr<Loaded>> made(rows.size());
    std::atomic<size_t> next = 0;
    const auto work = [&] {
        for (size_t i = next++; i < rows.size(); i = next++) {
            if (!rows[i]->load || all_loaded().contains(rows[i]->name)) continue;
            try {
                made[i] = std::make_unique<Loaded>(*rows[i]);
            } catch (const std::exception &) {  // thrown again where a problem takes the row
            }
        }
    };
    std::vector<std::thread> others;
    const size_t threads = std::min<size_t>(rows.size(), std::thread::hardware_concurrency());
    for (size_t t = 1; t < threads; t++) others.emplace_back(work);
    work();
    for (std::thread &thread : others) thread.join();
    for (size_t i = 0; i < rows.size(); i++) {
        if (!made[i]) continue;
        all_loaded()[rows[i]->name] = std::move(made[i]);
        load(*rows[i]);
    }
}

}  // namespace hk::explorer
