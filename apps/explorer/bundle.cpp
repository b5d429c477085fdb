#include "bundle.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "compiled.h"
#include "hk/error.h"

namespace hk::explorer {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string quoted(const std::string &text) { return json(text).dump(); }

void run_program(const std::vector<std::string> &words) {
    std::vector<char *> arguments;
    for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    int status = -1;
    if (child > 0) waitpid(child, &status, 0);
    if (status != 0)
        throw Error(words[0] + " failed, with " + std::to_string(words.size() - 1) +
                    " arguments, the first " + words[1]);
}

void write(const fs::path &file, const std::string &text) {
    std::ofstream out(file);
    out << text;
    out.close();
    if (!out) throw Error("can't write " + file.string());
}

std::string targets_of(DeviceType device) {
    if (device == DeviceType::cpu) return HK_PORTABLE_TARGET_CPU;
    return std::string(HK_PORTABLE_HOST) +
           (device == DeviceType::cuda ? "-cuda-cuda_capability_80" : "-opencl") +
           "-user_context-no_runtime";
}

struct Item {
    Candidate candidate;
    std::string function;
    const KernelInfo *row = nullptr;  // of the table that selection sees; null: a candidate alone
    bool compiled = false;
};

struct CaseOfBundle {
    std::string list, name;
    std::vector<size_t> items;
};

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

    void add(const bench::CaseInfo &info, const CaseSpace &space) {
        if (info.list.ends_with(".csv"))
            throw InvalidArgument("a bundle has no file " + info.list +
                                  " with it: give the sizes of its cases");
        item_of(Candidate::of(*space.row), space.row);
        CaseOfBundle one{info.list, info.name, {}};
        std::vector<BaseOfCase> entries;
        std::vector<Base> bases;
        for (const BaseOfCase &entry : space.bases) {
            if (!entry.refused.empty() || is_autoscheduler(entry.candidate.schedule)) continue;
            entries.push_back(entry);
            bases.push_back(entry.base);
        }
        const auto candidate_of = [&](const Point &point) {
            Candidate candidate = entries[point.base].candidate;
            candidate.knobs = knobs_of(bases[point.base], point);
            return candidate;
        };
        const auto search = Search::of(
            options_.strategy, bases,
            [&](const Point &point) {
                const Candidate candidate = candidate_of(point);
                return options_.is_ours(candidate.name()) &&
                       is_legal(candidate, candidate.knobs, options_.excess);
            },
            options_.seed);
        while (static_cast<int>(one.items.size()) < bundle_.candidates) {
            const auto point = search->next();
            if (!point) break;
            one.items.push_back(item_of(candidate_of(*point), nullptr));
        }
        cases_.push_back(std::move(one));
    }

    // Each in a child, as several as there are cores.
    void compile() {
        Workers workers(cores_, options_.limits, false);
        size_t next = 0, done = 0;
        while (done < items_.size()) {
            while (next < items_.size() && workers.has_room()) {
                const Item &item = items_[next];
                workers.start(next++, [&](Parent &) -> json {
                    compile_archive(item.candidate, {}, targets_of(item.candidate.device),
                                    item.function, archive(item));
                    return json();
                });
            }
            for (const Finished &finished : workers.wait(1)) {
                Item &item = items_[finished.id];
                item.compiled = finished.status == "ok";
                done++;
                if (isatty(STDERR_FILENO))
                    std::fprintf(stderr, "\r\033[K%zu of %zu compiled", done, items_.size());
                if (item.compiled) continue;
                std::fprintf(stderr, "left out, %s: %s (%s)\n", item.candidate.name().c_str(),
                             finished.status.c_str(), finished.reason.c_str());
                if (item.row)
                    throw Error(std::string("the table's row ") + item.row->row +
                                " does not compile: " + finished.reason);
            }
        }
        if (isatty(STDERR_FILENO)) std::fputc('\n', stderr);
    }

    void link() const {
        const std::string object = (parts_ / "unhooked.o").string(),
                          runtime = (parts_ / "halide_runtime.o").string();
        run_program({HK_RUNTIME_GENERATOR, object, HK_PORTABLE_HOST "-cuda-opencl-user_context"});
        run_program({HK_LINKER, "-r", "-u", "hk_halide_hooks", object, "-o", runtime});
        write(parts_ / "table.cpp", table());
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
        for (const Item &item : items_)
            if (item.compiled) words.push_back(archive(item).string());
        words.push_back("-Wl,--start-group");
        std::ifstream parts(HK_BUNDLE_PARTS);
        for (std::string part; std::getline(parts, part);)
            if (!part.empty()) words.push_back(part);
        for (const char *word : {"-Wl,--end-group", "-static-libstdc++", "-static-libgcc",
                                 "-Wl,--gc-sections", "-pthread", "-ldl", "-s", "-o"})
            words.push_back(word);
        words.push_back((bundle_.folder / "measure").string());
        run_program(words);
        fs::remove_all(parts_);
    }

    size_t size() const {
        return static_cast<size_t>(
            std::count_if(items_.begin(), items_.end(), [](const Item &i) { return i.compiled; }));
    }

private:
    fs::path archive(const Item &item) const { return parts_ / (item.function + ".a"); }

    size_t item_of(const Candidate &candidate, const KernelInfo *row) {
        for (size_t i = 0; i < items_.size(); i++)
            if (items_[i].row == row && items_[i].candidate.name() == candidate.name()) return i;
        items_.push_back({candidate, "hk_candidate_" + std::to_string(items_.size()), row});
        return items_.size() - 1;
    }

    static std::string text_of(const Item &item) {
        const Candidate &c = item.candidate;
        const std::string row = item.row ? item.row->row : "candidate";
        return "{\"" + item.function + "\", \"" + c.family + "\", \"" + row + "\", \"" +
               c.algorithm + "\", \"" + c.schedule + "\", \"" + c.knobs +
               "\", DataType::" + std::string(name_of(c.type)) +
               ", Layout::" + std::string(name_of(c.layout)) +
               ", DeviceType::" + device_name(c.device) + ", where_" + item.function + ", {}, " +
               item.function + "_argv, " + item.function + "_metadata}";
    }

    static std::string device_name(DeviceType device) {
        return device == DeviceType::cpu ? "cpu" : device == DeviceType::cuda ? "cuda" : "opencl";
    }

    static std::string where_of(const Item &item) {
        const char *relations[] = {"equal", "at_least", "at_most", "multiple_of"};
        std::string listed;
        for (const Constraint &c : item.candidate.where)
            listed += "{\"" + std::string(c.field) +
                      "\", Constraint::Relation::" + relations[static_cast<int>(c.relation)] +
                      ", " + std::to_string(c.value) + "}, ";
        return "const std::vector<Constraint> where_" + item.function + " = {" + listed + "};\n";
    }

    static std::string fixed_text(const Candidate &candidate) {
        std::string text;
        for (const auto &[field, value] : candidate.fixed)
            text += (text.empty() ? "" : " ") + field + "=" + std::to_string(value);
        return text;
    }

    // The rows that selection takes stand in the table's order, so that it takes them again.
    std::string table() const {
        std::ostringstream out;
        std::string declarations;
        for (const Item &item : items_)
            if (item.compiled)
                declarations += "int " + item.function +
                                "_argv(void **);\nconst halide_filter_metadata_t *" +
                                item.function + "_metadata();\n";
        out << "#include <vector>\n#include \"bundle_table.h\"\n#include \"hk/kernel_info.h\"\n"
            << "extern \"C\" {\n"
            << declarations << "}\nnamespace hk {\nnamespace {\n";
        for (const Item &item : items_)
            if (item.compiled) out << where_of(item);
        out << "}\n";
        std::istringstream families(HK_FIXED_FIELDS);
        for (std::string line; std::getline(families, line, ',');) {
            const std::string family = line.substr(0, line.find(' '));
            out << "std::span<const KernelInfo> " << family << "_kernels() {\n"
                << "    static const std::vector<KernelInfo> rows = {\n";
            for (const KernelInfo *row : subject_.family.rows(subject_.settings))
                for (const Item &item : items_)
                    if (item.row == row && row->family == family) out << text_of(item) << ",\n";
            out << "};\n    return rows;\n}\n";
        }
        out << "namespace explorer {\nconst Bundle &bundle() {\n"
            << "    static const std::vector<BundledCandidate> candidates = {\n";
        std::map<size_t, size_t> places;
        for (size_t i = 0; i < items_.size(); i++) {
            const Candidate &c = items_[i].candidate;
            if (items_[i].row || !items_[i].compiled) continue;
            places.emplace(i, places.size());
            out << "{" << quoted(c.name()) << ", " << quoted(c.algorithm) << ", "
                << quoted(c.schedule) << ", " << quoted(fixed_text(c)) << ", " << quoted(c.knobs)
                << ", " << text_of(items_[i]) << "},\n";
        }
        out << "};\n    static const std::vector<std::vector<int>> of = {";
        for (const CaseOfBundle &one : cases_) {
            out << "{";
            for (const size_t item : one.items)
                if (places.contains(item)) out << places.at(item) << ", ";
            out << "}, ";
        }
        out << "};\n    static const std::vector<BundledCase> cases = {";
        for (size_t i = 0; i < cases_.size(); i++)
            out << "{" << quoted(cases_[i].list) << ", " << quoted(cases_[i].name) << ", of[" << i
                << "]}, ";
        const bench::Settings &s = subject_.settings;
        out << "};\n    static const Bundle all = {" << quoted(subject_.family.name) << ", "
            << quoted(std::string(name_of(s.type))) << ", "
            << quoted(std::string(name_of(s.output_type))) << ", "
            << quoted(std::string(name_of(s.layout))) << ", " << quoted(s.device.name()) << ", "
            << s.threads << ", " << options_.measure_seconds << ", " << quoted(options_.part_name())
            << ", cases, candidates};\n    return all;\n}\n}\n}\n";
        return out.str();
    }

    const Subject &subject_;
    const SweepOptions &options_;
    const BundleOptions &bundle_;
    const fs::path parts_;
    const Cores cores_;
    std::vector<Item> items_;
    std::vector<CaseOfBundle> cases_;
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
