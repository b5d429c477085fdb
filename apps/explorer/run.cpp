// explorer run: one candidate, compiled here, checked, and measured in turn with the row that
// selection takes.

#include <cstdio>

#include "compiled.h"
#include "hk/error.h"
#include "subject.h"
#include "verb.h"

namespace hk::explorer {

namespace {

class RunVerb : public Verb {
public:
    void add_to(CLI::App &app) override {
        command_ = app.add_subcommand(
            "run", "compile one candidate, check it, measure it beside the table's row");
        flags_.add_to(*command_, false);
        command_->add_option(
            "--schedule", schedule_,
            "ALGORITHM/SCHEDULE, SCHEDULE, or an autoscheduler of Halide's; the row's");
        command_->add_option("--row", row_,
                             "start from this row of the table, not from what selection takes");
        command_->add_option("--knobs", knobs_, "sizes of the schedule: tile_x:8,tile_k:32");
        command_->add_option("--seconds", seconds_, "time for the rounds of measuring")
            ->check(CLI::Range(0.01, 60.0))
            ->capture_default_str();
    }

    int run() override {
        const Subject subject(flags_);
        if (subject.cases.size() != 1)
            throw InvalidArgument("run takes one case, " + flags_.shapes[0] + " are " +
                                  std::to_string(subject.cases.size()));
        if (!subject.settings.device.available())
            throw InvalidArgument("there is no device " + subject.settings.device.name() + " here");
        bench::use_threads(subject.settings);
        const auto test = subject.cases.front().prepare();
        if (!test->kernel())
            throw InvalidArgument("no row of " + subject.family.name + " takes this case");
        const KernelInfo &selected = *test->kernel();
        Candidate candidate = base_of(subject, selected, schedule_, row_);
        if (!knobs_.empty()) candidate.knobs = knobs_;
        return measure(subject, *test, selected, candidate);
    }

private:
    int measure(const Subject &subject, bench::Case &test, const KernelInfo &selected,
                const Candidate &candidate) {
        const schedules::KnobSpace space = space_of(candidate);
        CallArguments sizes;
        if (is_autoscheduler(candidate.schedule)) {
            sizes = arguments_of(selected, [&](const KernelInfo &listener) {
                test.use(&listener);
                test.run(1);
            });
            sizes.threads = subject.settings.threads;
        }
        const Compiled compiled(candidate, sizes);
        test.use(&compiled.kernel());
        const bench::Check check = test.check();
        if (!check.failure.empty()) {
            std::fprintf(stderr, "explorer: %s is wrong: %s\n", candidate.name().c_str(),
                         check.failure.c_str());
            return 1;
        }
        bench::MeasureOptions how;
        how.budget_seconds = seconds_;
        const std::vector<bench::Work> work = {runs(test, nullptr), runs(test, &compiled.kernel())};
        const std::vector<double> ns = bench::measure(work, how);
        print(subject, test, selected, candidate, ns);
        std::printf("compiled in %.1f s; largest error %.1e\n", compiled.seconds(),
                    check.max_error);
        for (const schedules::Estimate &e : space.estimates)
            std::printf("%s: %lld of %lld\n", e.what.c_str(), static_cast<long long>(e.uses),
                        static_cast<long long>(e.has));
        return 0;
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

    static void print(const Subject &subject, const bench::Case &test, const KernelInfo &selected,
                      const Candidate &candidate, const std::vector<double> &ns) {
        const std::string unit = subject.family.unit(subject.settings).name;
        const auto line = [&](const char *what, const std::string &name, double time) {
            std::printf("%-10s %10.4f ms %9.2f %s  %s\n", what, time * 1e-6, test.work() / time,
                        unit.c_str(), name.c_str());
        };
        std::printf("%s %s\n", subject.family.name.c_str(), subject.cases.front().name.c_str());
        line("table", std::string(selected.row) + ": " + Candidate::of(selected).name(), ns[0]);
        line("candidate", candidate.name(), ns[1]);
        std::printf("ratio %.3f\n", ns[0] / ns[1]);
    }

    SubjectFlags flags_;
    std::string schedule_, row_, knobs_;
    double seconds_ = 1;
};

}  // namespace

std::unique_ptr<Verb> run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace hk::explorer
