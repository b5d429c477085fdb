// explorer run: one candidate, compiled here, checked, and measured in turn with the row that
// selection takes.

#include <cmath>
#include <cstdio>

#include "compiled.h"
#include "hk/error.h"
#include "program/flags.h"
#include "subject.h"
#include "verb.h"

namespace hk::explorer {

namespace {

class RunVerb : public Verb {
public:
    void add_to(program::Flags &flags) override {
        command_ = &flags.add_verb(
            "run", "compile one candidate, check it, measure it beside the table's row");
        flags_.add_to(*command_);
        command_->add("--schedule", schedule_,
                      "ALGORITHM/SCHEDULE, SCHEDULE, or an autoscheduler of Halide's; the row's");
        command_->add("--row", row_,
                      "start from this row of the table, not from what selection takes");
        command_->add("--knobs", knobs_, "sizes of the schedule: tile_x:8,tile_k:32");
        command_->add("--cpu", cpu_, "compile for this CPU of the portable preset; this machine's")
            .check(program::one_of(cpu_levels()));
        command_->add("--seconds", seconds_, "time for the rounds of measuring")
            .check(program::between(0.01, 60))
            .show_default();
    }

    int run() override {
        const Subject subject(flags_);
        bench::use_threads(subject.settings);
        for (const bench::CaseInfo &info : subject.cases) measure(subject, info);
        if (subject.cases.size() > 1 && measured_ > 0)
            std::printf("%d of %zu cases, geometric mean of ratios %.3f\n", measured_,
                        subject.cases.size(), std::exp(logs_ / measured_));
        return failed_ || measured_ == 0 ? 1 : 0;
    }

private:
    void measure(const Subject &subject, const bench::CaseInfo &info) {
        const auto test = info.prepare();
        if (!test->kernel())
            throw InvalidArgument("no row of " + subject.family.name + " takes " + info.name);
        const KernelInfo &selected = *test->kernel();
        Candidate candidate = base_of(subject, selected, schedule_, row_);
        if (!knobs_.empty()) candidate.knobs = knobs_;
        if (!cpu_.empty() && candidate.device != DeviceType::cpu)
            throw InvalidArgument("--cpu is of the target cpu, not of " +
                                  subject.settings.device.name());
        candidate.cpu = cpu_;
        const Compiled &compiled = compile(subject, *test, selected, candidate);
        test->use(&compiled.kernel());
        try {
            const bench::Check check = test->check();
            if (!check.failure.empty()) {
                failed_ = true;
                std::printf("%s: %s is wrong: %s\n", info.name.c_str(), candidate.name().c_str(),
                            check.failure.c_str());
                return;
            }
            bench::MeasureOptions how;
            how.budget_seconds = seconds_;
            how.threads = subject.settings.threads;
            const std::vector<bench::Work> work = {runs(*test, nullptr),
                                                   runs(*test, &compiled.kernel())};
            const std::vector<double> ns = bench::measure(work, how);
            print(subject, info, *test, selected, candidate, ns, check);
            logs_ += std::log(ns[0] / ns[1]);
            measured_++;
        } catch (const InvalidArgument &error) {
            if (subject.cases.size() == 1) throw;
            std::printf("%-34s %s\n", info.name.c_str(), error.what());
        }
    }

    // The one of the case before where it is the same; autoschedulers schedule for a case's sizes.
    const Compiled &compile(const Subject &subject, bench::Case &test, const KernelInfo &selected,
                            const Candidate &candidate) {
        const bool is_sized = is_autoscheduler(candidate.schedule);
        if (compiled_ && !is_sized && compiled_->kernel().name == candidate.name())
            return *compiled_;
        space_ = space_of(candidate);
        CallArguments sizes;
        if (is_sized) {
            sizes = arguments_of(selected, [&](const KernelInfo &listener) {
                test.use(&listener);
                test.run(1);
            });
            sizes.threads = subject.settings.threads;
        }
        compiled_.reset();
        compiled_ = std::make_unique<Compiled>(candidate, sizes);
        return *compiled_;
    }

    // Illegal knobs are bad input.
    static schedules::KnobSpace space_of(const Candidate &candidate) {
        try {
            return knob_space(candidate);
        } catch (const std::runtime_error &error) {
            throw InvalidArgument(error.what());
        }
    }

    static bench::Work runs(bench::Case &test, const KernelInfo *kernel) {
        return [&test, kernel](int count) {
            test.use(kernel);
            test.run(count);
        };
    }

    void print(const Subject &subject, const bench::CaseInfo &info, const bench::Case &test,
               const KernelInfo &selected, const Candidate &candidate,
               const std::vector<double> &ns, const bench::Check &check) const {
        const std::string unit = subject.family.unit(subject.settings).name;
        const double ratio = ns[0] / ns[1];
        if (subject.cases.size() > 1) {
            std::printf("%-34s %9.2f %9.2f %s  ratio %.3f  %s\n", info.name.c_str(),
                        test.work() / ns[0], test.work() / ns[1], unit.c_str(), ratio,
                        selected.row);
            return;
        }
        const auto line = [&](const char *what, double time, const std::string &name) {
            std::printf("%-10s %10.4f ms %9.2f %s  %s\n", what, time * 1e-6, test.work() / time,
                        unit.c_str(), name.c_str());
        };
        std::printf("%s %s\n", subject.family.name.c_str(), info.name.c_str());
        line("table", ns[0], selected.row + (": " + Candidate::of(selected).name()));
        line("candidate", ns[1], candidate.name());
        std::printf("ratio %.3f\ncompiled in %.1f s; largest error %.1e\n", ratio,
                    compiled_->seconds(), check.max_error);
        for (const schedules::Estimate &e : space_.estimates)
            std::printf("%s: %lld of %lld\n", e.what.c_str(), static_cast<long long>(e.uses),
                        static_cast<long long>(e.has));
    }

    SubjectFlags flags_;
    std::string schedule_, row_, knobs_, cpu_;
    double seconds_ = 1;
    schedules::KnobSpace space_;  // of what is compiled
    std::unique_ptr<Compiled> compiled_;
    double logs_ = 0;
    int measured_ = 0;
    bool failed_ = false;
};

}  // namespace

std::unique_ptr<Verb> run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace hk::explorer
