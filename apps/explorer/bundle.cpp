#include "bundle.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "bundle_source.h"
#include "compiler/tools.h"
#include "hk/error.h"
#include "program/file.h"

namespace hk::explorer {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string targets_of(const Candidate &candidate) {
    if (candidate.device == DeviceType::cpu) return HK_PORTABLE_TARGET_CPU;
    return std::string(HK_PORTABLE_HOST) +
           (candidate.device == DeviceType::cuda ? "-cuda-cuda_capability_80" : "-opencl") +
           (candidate.device == DeviceType::opencl && candidate.type == DataType::f64
                ? "-cl_doubles"
                : "") +
           "-user_context-no_runtime";
}

// Candidates that are not in the program, with their reasons.
constexpr const char *left_out = "left-out.csv";

class Bundling {
public:
    Bundling(const Subject &subject, const SweepOptions &options, const BundleOptions &bundle)
        : subject_(subject),
          options_(options),
          bundle_(bundle),
          parts_(bundle.folder / "parts"),
          cores_(Cores::of_process()) {
        std::error_code failed;
        fs::create_directories(parts_, failed);
        if (failed)
            throw InvalidArgument("--bundle is " + bundle.folder.string() + ": " +
                                  failed.message());
    }

    ~Bundling() {
        std::error_code ignored;
        fs::remove_all(parts_, ignored);
    }
    Bundling(const Bundling &) = delete;
    Bundling &operator=(const Bundling &) = delete;

    void add(const bench::CaseInfo &info, const CaseSpace &space) {
        if (info.list.ends_with(".csv"))
            throw InvalidArgument("a bundle has no file " + info.list +
                                  " with it: give the sizes of its cases");
        add_rows(space);
        BundleCase one{info.list, info.name, {}};
        const CaseSearch search(space, options_);
        while (static_cast<int>(one.items.size()) < bundle_.candidates) {
            const auto point = search.order().next();
            if (!point) break;
            one.items.push_back(item_of(search.at(*point), nullptr, space.sizes));
        }
        cases_.push_back(std::move(one));
    }

    // Each in a child, as several as there are cores.
    void compile() {
        Workers workers(cores_, options_.limits, false);
        size_t next = 0, done = 0;
        while (done < items_.size()) {
            while (next < items_.size() && workers.has_room()) {
                const BundleItem &item = items_[next];
                workers.start(next++, [&](Parent &) { return compile_one(item); });
            }
            for (const Finished &finished : workers.wait(1)) {
                finish(items_[finished.id], finished);
                done++;
                if (isatty(STDERR_FILENO))
                    std::fprintf(stderr, "\r\033[K%zu of %zu compiled", done, items_.size());
            }
        }
        if (isatty(STDERR_FILENO)) std::fputc('\n', stderr);
        write_records(bundle_.folder / left_out, left_out_);
    }

    void link() const {
        const std::string object = (parts_ / "unhooked.o").string(),
                          runtime = (parts_ / "halide_runtime.o").string();
        compiler::run_program(
            {HK_RUNTIME_GENERATOR, object, HK_PORTABLE_HOST "-cuda-opencl-user_context"});
        compiler::run_program({HK_LINKER, "-r", "-u", "hk_halide_hooks", object, "-o", runtime});
        program::write_file(parts_ / "table.cpp",
                            bundle_source(subject_, options_, items_, cases_));
        std::vector<std::string> words = {HK_CXX,
                                          "-std=c++20",
                                          "-O1",
                                          "-march=x86-64",
                                          "-I",
                                          HK_RUNTIME_HEADERS,
                                          "-I",
                                          HK_RUNTIME_HEADERS "/../../apps/explorer",
                                          (parts_ / "table.cpp").string(),
                                          runtime};
        for (const BundleItem &item : items_)
            if (item.compiled) words.push_back(archive(item).string());
        words.push_back("-Wl,--start-group");
        std::ifstream parts(HK_BUNDLE_PARTS);
        for (std::string part; std::getline(parts, part);)
            if (!part.empty()) words.push_back(part);
        for (const char *word : {"-Wl,--end-group", "-static-libstdc++", "-static-libgcc",
                                 "-Wl,--gc-sections", "-pthread", "-ldl", "-s", "-o"})
            words.push_back(word);
        words.push_back((bundle_.folder / "measure").string());
        compiler::run_program(words);
    }

    size_t size() const {
        return static_cast<size_t>(std::count_if(items_.begin(), items_.end(),
                                                 [](const BundleItem &i) { return i.compiled; }));
    }

private:
    fs::path archive(const BundleItem &item) const { return parts_ / (item.function + ".a"); }

    // Of a GPU all rows that take the case, as selection there may pass over what the device is too
    // small for; a CPU is large enough for the first.
    void add_rows(const CaseSpace &space) {
        item_of(Candidate::of(*space.row), space.row, {});
        if (!subject_.settings.device.is_cpu())
            for (const KernelInfo *row : space.taking) item_of(Candidate::of(*row), row, {});
        if (!subject_.family.helpers) return;
        for (const KernelInfo *row : subject_.family.helpers(subject_.settings))
            item_of(Candidate::of(*row), row, {});
    }

    // An autoscheduler's is of one case's sizes.
    size_t item_of(const Candidate &candidate, const KernelInfo *row, const CallArguments &sizes) {
        const bool is_sized = is_autoscheduler(candidate.schedule);
        for (size_t i = 0; i < items_.size() && !is_sized; i++)
            if (items_[i].row == row && items_[i].candidate.name() == candidate.name()) return i;
        items_.push_back({candidate, "hk_candidate_" + std::to_string(items_.size()), row,
                          is_sized ? sizes : CallArguments()});
        return items_.size() - 1;
    }

    // Its resources and arguments. Rows may be too large for the usual limits.
    json compile_one(const BundleItem &item) const {
        const Archive made = compile_archive(item.candidate, item.sizes, targets_of(item.candidate),
                                             item.function, archive(item));
        if (!item.row)
            check_budget(item.candidate, made.kernels, bench::limits_of(subject_.settings));
        const KernelResources r = resources_of(made.kernels);
        json arguments = json::array();
        for (const compiler::FunctionArgument &argument : made.arguments)
            arguments.push_back({argument.name, argument.bytes, argument.extents});
        return {{"resources",
                 {r.registers, r.stack_bytes, r.spill_bytes, r.shared_static, r.shared_dynamic,
                  r.threads}},
                {"arguments", arguments}};
    }

    void finish(BundleItem &item, const Finished &finished) {
        item.compiled = finished.status == "ok";
        if (item.compiled) {
            const json &r = finished.result["resources"];
            item.resources = {r[0], r[1], r[2], r[3], r[4], r[5]};
            for (const json &a : finished.result["arguments"])
                item.arguments.push_back({a[0], a[1], a[2]});
            return;
        }
        const Candidate &c = item.candidate;
        if (item.row)
            throw Error(std::string("the table's row ") + item.row->row +
                        " does not compile: " + finished.reason);
        std::fprintf(stderr, "left out, %s: %s (%s)\n", c.name().c_str(), finished.status.c_str(),
                     finished.reason.c_str());
        const size_t place = static_cast<size_t>(&item - items_.data());
        for (const BundleCase &one : cases_) {
            if (std::find(one.items.begin(), one.items.end(), place) == one.items.end()) continue;
            left_out_.push_back({.of = one.name,
                                 .candidate = c.name(),
                                 .algorithm = c.algorithm,
                                 .schedule = c.schedule,
                                 .fixed = c.fixed_text(),
                                 .knobs = c.knobs,
                                 .status = finished.status,
                                 .reason = finished.reason,
                                 .compile_seconds = finished.compile_seconds,
                                 .seconds = finished.seconds,
                                 .part = options_.part_name()});
        }
    }

    const Subject &subject_;
    const SweepOptions &options_;
    const BundleOptions &bundle_;
    const fs::path parts_;
    const Cores cores_;
    std::vector<BundleItem> items_;
    std::vector<BundleCase> cases_;
    std::vector<Record> left_out_;
};

}  // namespace

void make_bundle(const Subject &subject, const std::vector<std::string> &schedules,
                 const SweepOptions &options, const BundleOptions &bundle, json state) {
    Bundling bundling(subject, options, bundle);
    for (const bench::CaseInfo &info : subject.cases) {
        Prepared prepared(subject, info);
        const CaseSpace space = space_of(prepared, schedules, Cores::of_process(), options.limits);
        state["cases"].push_back(to_json(space, info.name));
        bundling.add(info, space);
    }
    bundling.compile();
    bundling.link();
    state["machine"] = nullptr;  // collect says on which
    write_json(bundle.folder / "sweep.json", state);
    std::printf(
        "%s/measure has %zu kernels: run it elsewhere, bring its results-* back, then "
        "explorer sweep --collect %s\n",
        bundle.folder.c_str(), bundling.size(), bundle.folder.c_str());
}

std::pair<json, std::vector<Record>> collect(const fs::path &folder) {
    json state = read_json(folder / "sweep.json");
    if (!state.is_object())
        throw InvalidArgument("--collect is " + folder.string() +
                              ", which has no sweep.json: give the folder of a bundle");
    std::vector<fs::path> files;
    for (const auto &entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("results-") && name.ends_with(".csv")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    if (files.empty())
        throw InvalidArgument("--collect is " + folder.string() +
                              ", which has no results-*.csv: run its program measure first");
    std::vector<Record> records;
    std::set<std::pair<std::string, std::string>> seen;
    if (fs::exists(folder / left_out)) records = read_records(folder / left_out);
    for (const Record &record : records) seen.emplace(record.of, record.candidate);
    state["machines"] = json::array();
    for (fs::path &file : files) {
        for (Record &record : read_records(file))
            if (seen.emplace(record.of, record.candidate).second)
                records.push_back(std::move(record));
        json machine = read_json(file.replace_extension(".json"));
        if (!machine.is_object()) continue;
        if (state["machine"].is_null()) {
            state["machine"] = machine["machine"];
            state["ceilings"] = machine["ceilings"];
            state["date"] = machine["date"];
        }
        state["machines"].push_back(std::move(machine));
    }
    write_records(folder / "results.csv", records);
    write_json(folder / "sweep.json", state);
    return {std::move(state), std::move(records)};
}

}  // namespace hk::explorer
