// The program of a bundle: checks its candidates, measures each in turn with the table's row, and
// writes results-HOST-PART.csv beside itself. The same command goes on after an interruption.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "HalideRuntime.h"
#include "bundle_table.h"
#include "choice.h"
#include "hk/error.h"
#include "machine.h"
#include "program/flags.h"
#include "program/program.h"
#include "record.h"
#include "results.h"
#include "timing.h"

namespace hk::explorer {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Options {
    fs::path folder;
    std::string part = "1/1", label = bundle().part;  // of these candidates; in the results
    int number = 1, of = 1;
    double seconds = bundle().seconds;
    std::string device = bundle().device;
};

bench::CaseInfo case_of(const bench::Family &family, const bench::Settings &settings,
                        const BundledCase &wanted) {
    for (bench::CaseInfo &info : family.cases(wanted.list, settings))
        if (info.name == wanted.name) return std::move(info);
    throw Error(std::string("no case ") + wanted.name);
}

// A row of its own table, or one that the case names.
const KernelInfo &row_of(const bench::CaseInfo &info, bench::Case &test) {
    test.use(nullptr);
    const KernelInfo *row = info.row ? info.row : test.kernel();
    if (!row) throw Error("no row takes " + info.name);
    return *row;
}

class Measuring {
public:
    Measuring(const Options &options, const DeviceHere &here, Journal &journal)
        : options_(options), journal_(journal), cores_(Cores::of_process()) {
        family_ = bench::choose(
            {bundle().family, bundle().type, bundle().output_type, layout(), options.device},
            settings_);
        settings_.threads = bundle().threads;
        settings_.peers = false;
        limits_.compile_seconds = limits_.run_seconds = 60;
        settings_.limits = here.limits;
        machine_ = bench::cpu_model();
        if (!settings_.device.is_cpu()) machine_ = here.description + ", " + machine_;
        halide_set_num_threads(1);  // no thread before the children are made
    }

    json machine() {
        cores_.bind_to_others();
        return {{"machine", machine_},
                {"date", bench::today()},
                {"part", options_.label},
                {"ceilings", Workers::run(cores_, limits_, [&](Parent &parent) {
                     return ceilings(family_, settings_, parent);
                 })}};
    }

    void run() {
        for (const BundledCase &one : bundle().cases) run_case(one);
    }

private:
    static std::string layout() {
        const std::string name = bundle().layout;
        return name == "any" ? "" : name;
    }

    void run_case(const BundledCase &one) {
        std::set<std::string> done;
        double before = 0;
        for (const Record &record : journal_.records()) {
            if (record.of != one.name) continue;
            done.insert(record.candidate);
            before = std::max(before, record.at);
        }
        const bench::CaseInfo info = case_of(family_, settings_, one);
        std::unique_ptr<bench::Case> test;
        if (settings_.device.is_cpu()) test = info.prepare();
        const auto start = std::chrono::steady_clock::now();
        Workers workers(cores_, limits_, true);
        int number = 0;
        for (const int index : one.candidates) {
            const BundledCandidate &candidate = bundle().candidates[static_cast<size_t>(index)];
            if (number++ % options_.of != options_.number - 1) continue;
            if (done.contains(candidate.name)) continue;
            workers.start(0, [&](Parent &parent) {
                parent.report_compiled();
                if (!test) test = info.prepare();
                json result = check_and_time(*test, row_of(info, *test), candidate.kernel,
                                             settings_, options_.seconds, parent);
                result["work"] = test->work();
                return result;
            });
            std::vector<Finished> finished;
            while (finished.empty()) finished = workers.wait(1);
            const double now =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            keep(one, candidate, finished.front(), before + now);
        }
    }

    void keep(const BundledCase &one, const BundledCandidate &candidate, const Finished &finished,
              double at) {
        Record record{.of = one.name,
                      .candidate = candidate.name,
                      .algorithm = candidate.algorithm,
                      .schedule = candidate.schedule,
                      .fixed = candidate.fixed,
                      .knobs = candidate.knobs,
                      .status = finished.status,
                      .reason = finished.reason,
                      .compile_seconds = 0,
                      .seconds = finished.seconds,
                      .at = at,
                      .part = options_.label};
        if (record.ok()) {
            record.ns = finished.result["ns"];
            record.table_ns = finished.result["table_ns"];
            record.max_error = finished.result["max_error"];
            record.rate = finished.result["work"].get<double>() / record.ns;
        }
        journal_.append(record);
        if (record.ok())
            std::printf("%s %10.4f ms %6.3f  %s\n", one.name, record.ns * 1e-6, record.ratio(),
                        candidate.name);
        else
            std::printf("%s %s: %s  %s\n", one.name, record.status.c_str(), record.reason.c_str(),
                        candidate.name);
        std::fflush(stdout);
    }

    const Options &options_;
    Journal &journal_;
    Cores cores_;
    Limits limits_;
    bench::Settings settings_;
    bench::Family family_;
    std::string machine_;
};

DeviceHere look_for_device(const Options &options) {
    const Device device = Device::parse(options.device), meant = Device::parse(bundle().device);
    if (device.type() != meant.type())
        throw InvalidArgument("--device is " + options.device + ", these kernels are for " +
                              std::string(name_of(meant.type())));
    return find_device(device, Cores::of_process());
}

void measure(Options &options) {
    const auto [number, of] = part_of(options.part);
    options.number = number;
    options.of = of;
    if (of > 1) options.label = options.part;
    if (options.folder.empty()) options.folder = fs::read_symlink("/proc/self/exe").parent_path();
    char host[256] = "host";
    gethostname(host, sizeof host - 1);
    std::string part = options.label;
    std::replace(part.begin(), part.end(), '/', '-');
    const std::string stem = "results-" + file_name_of(host) + "-" + part;
    const DeviceHere here = look_for_device(options);
    Journal journal(options.folder / (stem + ".csv"));
    Measuring measuring(options, here, journal);
    write_json(options.folder / (stem + ".json"), measuring.machine());
    measuring.run();
}

}  // namespace

}  // namespace hk::explorer

int main(int argc, char **argv) {
    hk::explorer::Options options;
    hk::program::Flags flags("Checks and measures the candidates of a sweep");
    flags.add("--part", options.part, "only this part of the candidates: 1/4 to 4/4")
        .show_default();
    flags.add("--seconds", options.seconds, "time for the rounds of a candidate")
        .check(hk::program::between(0.01, 60))
        .show_default();
    flags.add("--device", options.device, "another of the same kind: cuda:1, opencl:2")
        .show_default();
    flags.add("--output", options.folder, "folder of the results; that of this program");
    return hk::program::run("measure", flags, argc, argv, [&] {
        hk::explorer::measure(options);
        return 0;
    });
}
