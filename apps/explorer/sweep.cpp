// explorer sweep: a search over the knobs of all schedules that take a case, in processes of their
// own, kept candidate by candidate.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <tuple>

#include "bundle.h"
#include "compiler/tools.h"
#include "hk/error.h"
#include "machine.h"
#include "program/flags.h"
#include "results.h"
#include "sweep_case.h"
#include "timing.h"
#include "verb.h"
#include "verdict.h"

namespace hk::explorer {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

json settings_of(const Subject &subject) {
    const bench::Settings &s = subject.settings;
    return {{"type", name_of(s.type)},
            {"output_type", name_of(s.output_type)},
            {"layout", name_of(s.layout)},
            {"device", s.device.name()},
            {"threads", s.threads}};
}

// report.py, which prints what was found too, and needs the Python environment of setup.sh. Without
// it the results remain. The exit status.
int report(const fs::path &folder) try {
    if (fs::exists(HK_REPORT))
        std::fputs(compiler::run_program({HK_PYTHON, HK_REPORT, folder.string()}).c_str(), stdout);
    return 0;
} catch (const std::runtime_error &error) {
    std::fprintf(stderr, "explorer: %s has no report: %s\n", folder.c_str(), error.what());
    return 1;
}

class SweepVerb : public Verb {
public:
    void add_to(program::Flags &flags) override {
        command_ = &flags.add_verb(
            "sweep", "search the knobs of all schedules that take a case; the same again goes on");
        flags_.add_to(*command_);
        command_->find("family").optional();
        command_->find("shape").optional();
        command_->add("--budget", budget_, "minutes for each case")
            .check(program::between(0.01, 10000))
            .show_default();
        command_->add("--strategy", options_.strategy, "grid, random or evolve")
            .check(program::one_of(Search::strategies()))
            .show_default();
        command_->add("--schedule", schedules_,
                      "only these: ALGORITHM/SCHEDULE, SCHEDULE, or an autoscheduler of "
                      "Halide's; all but root");
        command_->add("--output", folder_, "folder of the results; sweep-FAMILY-SHAPE");
        command_->add("--seed", options_.seed, "of the search").show_default();
        command_->add("--part", part_, "only this part of the candidates: 1/4 to 4/4");
        const program::Flag bundle = command_->add(
            "--bundle", bundle_.folder,
            "measure elsewhere: a folder with a program for it, which needs nothing there");
        command_->add("--candidates", bundle_.candidates, "of each case, in a bundle")
            .check(program::range(1, 100000))
            .needs(bundle)
            .show_default();
        command_->add("--collect", collect_, "a bundle's folder: merge the results that lie in it")
            .excludes(bundle);
        command_
            ->add("--timeout", options_.limits.compile_seconds,
                  "seconds a candidate may take to compile, and half of it to run")
            .check(program::between(0.1, 3600))
            .show_default();
        command_->add("--memory", memory_gib_, "GiB that compiling a candidate may take")
            .check(program::between(0.5, 1024))
            .show_default();
        command_
            ->add("--excess", options_.excess,
                  "leave out what needs so many times the registers and shared memory "
                  "that there are")
            .check(program::between(0.1, 100))
            .show_default();
    }

    int run() override {
        std::tie(options_.part, options_.parts) = part_of(part_);
        if (!collect_.empty()) return collect_results();
        if (flags_.choice.family.empty() || flags_.shapes.empty())
            throw InvalidArgument("sweep takes a family and shapes, or --collect DIR");
        const bool is_bundle = !bundle_.folder.empty();
        const Subject subject = look(is_bundle ? Place::elsewhere : Place::here);
        // CUDA reserves address space as large as all memory.
        if (is_bundle || subject.settings.device.is_cpu())
            options_.limits.bytes = static_cast<int64_t>(memory_gib_ * (1 << 30));
        if (is_bundle) {
            options_.limits.compile_seconds *= 4;  // several targets
            make_bundle(subject, schedules_, options_, bundle_, header(subject));
            return 0;
        }
        options_.budget = budget_ * 60;
        options_.limits.run_seconds = options_.limits.compile_seconds / 2;
        if (folder_.empty())
            folder_ = "sweep-" + subject.family.name + "-" +
                      file_name_of(fs::path(flags_.shapes.front()).filename().string());
        return sweep(subject);
    }

private:
    Subject look(Place place) const {
        try {
            return Subject(flags_, place);
        } catch (const DeviceMissing &missing) {
            throw InvalidArgument(std::string(missing.what()) +
                                  "; --bundle DIR makes a program for a machine that has it");
        }
    }

    int collect_results() const {
        auto [state, records] = collect(collect_);
        note_lines(state, records);
        write_json(fs::path(collect_) / "sweep.json", state);
        return report(collect_);
    }

    json header(const Subject &subject) const {
        return {{"family", subject.family.name},
                {"settings", settings_of(subject)},
                {"unit", subject.family.unit(subject.settings).name},
                {"strategy", options_.strategy},
                {"seed", options_.seed},
                {"budget_seconds", options_.budget},
                {"part", options_.part_name()},
                {"machine", bench::cpu_model()},
                {"date", bench::today()},
                {"ceilings", nullptr},
                {"cases", json::array()}};
    }

    // What an earlier run has said, brought up to date; another sweep's folder is not ours.
    json begin(const Subject &subject) const {
        json now = header(subject);
        const json before = read_json(fs::path(folder_) / "sweep.json");
        if (!before.is_object()) return now;
        for (const char *key : {"family", "settings", "machine"}) {
            if (before.value(key, json()) != now[key])
                throw InvalidArgument(folder_ + " has a sweep of another " + key + ": " +
                                      before.value(key, json()).dump() + ", not " +
                                      now[key].dump() + "; give another --output");
        }
        now["cases"] = before["cases"];
        now["ceilings"] = before["ceilings"];
        return now;
    }

    int sweep(const Subject &subject) {
        const bool alone = subject.settings.threads > 1;
        json state = begin(subject);
        std::error_code failed;
        fs::create_directories(folder_, failed);
        if (failed) throw InvalidArgument("--output is " + folder_ + ": " + failed.message());
        Journal journal(fs::path(folder_) / "results.csv");
        const Cores cores = Cores::of_process();
        cores.bind_to_others();
        if (state["ceilings"].is_null())
            state["ceilings"] = Workers::run(cores, options_.limits, [&](Parent &parent) {
                return ceilings(subject.family, subject.settings, parent);
            });
        int64_t dropped = 0;
        for (const bench::CaseInfo &info : subject.cases) {
            Prepared prepared(subject, info);
            const CaseSpace space = space_of(prepared, schedules_, cores, options_.limits);
            note(state["cases"], to_json(space, info.name));
            write_json(fs::path(folder_) / "sweep.json", state);
            CaseSweep one(
                info.name, space, options_, cores, alone,
                [&](const Candidate &candidate, Parent &parent) {
                    return evaluate(prepared, candidate, options_.measure_seconds, parent);
                },
                journal);
            one.run();
            dropped += one.dropped();
        }
        note_lines(state, journal.records());
        write_json(fs::path(folder_) / "sweep.json", state);
        std::printf("%lld were left out before compiling\n", static_cast<long long>(dropped));
        return report(folder_);
    }

    static void note(json &cases, json of) {
        for (json &known : cases) {
            if (known["name"] != of["name"]) continue;
            known = std::move(of);
            return;
        }
        cases.push_back(std::move(of));
    }

    SubjectFlags flags_;
    SweepOptions options_;
    BundleOptions bundle_;
    double budget_ = 10, memory_gib_ = 6;
    std::vector<std::string> schedules_;
    std::string folder_, collect_, part_ = "1/1";
};

}  // namespace

std::unique_ptr<Verb> sweep_verb() { return std::make_unique<SweepVerb>(); }

}  // namespace hk::explorer
