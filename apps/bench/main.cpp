// bench: our kernels against other libraries on lists of shapes.
//
// Every case is checked against a reference first; a wrong result is reported, never timed, and
// makes the exit status 1. Bad options and shapes make it 2.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "against_general.h"
#include "choice.h"
#include "hk/error.h"
#include "lists.h"
#include "machine.h"
#include "measure_case.h"
#include "program/file.h"
#include "program/flags.h"
#include "program/program.h"
#include "selection.h"

namespace hk::bench {

namespace {

struct Options {
    Choice choice;
    std::string json, filter, selection;
    std::vector<std::string> lists;
    bool show_lists = false, show_families = false, show_devices = false, against_general = false;
    double seconds = 0.5;
    Settings settings;
};

void print_introduction(const Family &family, const Run &run) {
    const Settings &settings = run.settings;
    std::string types(name_of(settings.type));
    if (settings.output_type != settings.type) {
        types += " to " + std::string(name_of(settings.output_type));
    }
    if (settings.layout != Layout::any) types += ", " + std::string(name_of(settings.layout));
    std::printf("%s, %s on %s, %d thread%s; %s\n", family.name.c_str(), types.c_str(),
                settings.device.name().c_str(), settings.threads, settings.threads == 1 ? "" : "s",
                run.cpu.c_str());
    std::printf("one core: %s\n", run.abilities.c_str());
    if (run.peak > 0) {
        std::printf("peak of this CPU: %.1f %s (%s)\n", run.peak, run.unit.name.c_str(),
                    run.unit.peak_of.c_str());
    }
    std::printf("peers:");
    for (const std::string &version : run.versions()) std::printf(" %s;", version.c_str());
    std::printf("%s\n\n", !run.versions().empty() ? ""
                          : settings.peers        ? " none (make bench-peers installs them)"
                                                  : " none asked for");
}

// What cases run on that their names don't say.
void print_data(const std::vector<CaseInfo> &cases) {
    std::set<std::string> told;
    for (const CaseInfo &info : cases) {
        if (!info.problem) continue;
        try {
            const std::string data = info.problem()->data();
            if (data.empty() || !told.insert(data).second) continue;
            std::printf("%s%s", told.size() > 1 ? "; " : "", data.c_str());
        } catch (const InvalidArgument &) {
            // The case itself says so.
        }
    }
    if (!told.empty()) std::printf("\n");
}

int run_lists(const Family &family, const Options &options, Run run) {
    const Settings &settings = options.settings;
    if (settings.peers) run.peers = family.peers(settings);
    if (!settings.row.empty()) row_named(family, settings);
    std::vector<std::vector<CaseInfo>> lists;
    for (const std::string &list : options.lists) {
        std::vector<CaseInfo> cases = family.cases(list, settings);
        std::erase_if(cases, [&](const CaseInfo &info) {
            return info.name.find(options.filter) == std::string::npos;
        });
        if (!cases.empty()) lists.push_back(std::move(cases));
    }
    if (lists.empty()) throw InvalidArgument("no case is named like \"" + options.filter + "\"");

    if (!use_threads(settings))
        std::cerr << "bench: not pinned: this process may not choose its core\n";
    run.abilities = measure_abilities().text();
    run.unit = family.unit(settings);
    if (run.unit.peak) run.peak = run.unit.peak(0.2);
    print_introduction(family, run);

    MeasureOptions how;
    how.budget_seconds = options.seconds;
    how.threads = settings.threads;
    std::vector<Result> results;
    bool bad = false;
    for (const auto &cases : lists) {
        print_data(cases);
        print_header(run);
        for (const CaseInfo &info : cases) {
            if (run.unit.peak) run.peak = std::max(run.peak, run.unit.peak(0.01));
            try {
                results.push_back(measure_case(family, info, settings, how));
                print_row(results.back(), run);
            } catch (const BadCase &error) {
                std::cerr << "bench: " << error.what() << '\n';
                bad = true;
            }
        }
        print_summary(cases.front().list, results, run);
    }
    if (lists.size() > 1) print_summary("", results, run);
    if (!options.json.empty()) {
        program::write_file(options.json, to_json(results, run).dump(1) + '\n');
    }
    const bool failed = std::any_of(results.begin(), results.end(), [](const Result &r) {
        return !r.failure.empty() && !r.skipped;
    });
    return bad ? 2 : failed ? 1 : 0;
}

// Of all lists, where none is named.
int run_rows(const Family &family, const Options &options, Run run) {
    if (!family.has_rows) throw InvalidArgument(family.name + " has no rows");
    const Settings &settings = options.settings;
    if (!settings.row.empty()) row_named(family, settings);
    if (!use_threads(settings))
        std::cerr << "bench: not pinned: this process may not choose its core\n";
    run.settings.peers = false;
    run.abilities = measure_abilities().text();
    MeasureOptions how;
    how.budget_seconds = options.seconds;
    how.threads = settings.threads;
    std::vector<std::string> lists = options.lists;
    if (lists.empty()) lists = embedded_lists(family.folder);
    print_introduction(family, run);
    print_header();
    const std::vector<RowCase> cases =
        against_general(family, lists, options.filter, settings, how, print_line);
    if (cases.empty()) throw InvalidArgument("no case of these lists has a row and a later one");
    print_verdicts(cases);
    if (!options.json.empty())
        program::write_file(options.json, to_json(cases, run).dump(1) + '\n');
    return std::ranges::any_of(cases, [](const RowCase &one) { return !one.failure.empty(); });
}

std::string names_with_types() {
    std::string text;
    for (const Family &family : families()) {
        text += (text.empty() ? " " : ", ") + family.name + " (";
        for (const DataType type : family.types)
            text += (text.back() == '(' ? "" : " ") + std::string(name_of(type));
        text += ")";
    }
    return text;
}

int run(const Options &given, const std::string &command) {
    Options options = given;
    if (!options.selection.empty()) {
        program::write_file(options.selection, selection_page());
        return 0;
    }
    if (options.show_devices) {
        for (const Device &device : Device::all())
            std::printf("%s %s\n", device.name().c_str(), device.description().c_str());
        return 0;
    }
    if (options.show_families) {
        for (const Family &each : families()) std::printf("%s\n", each.name.c_str());
        return 0;
    }
    const Family family = choose(options.choice, options.settings);
    if (options.show_lists) {
        for (const std::string &list : family.lists()) std::printf("%s\n", list.c_str());
        return 0;
    }
    if (!options.settings.device.available()) {
        throw InvalidArgument("there is no device " + options.choice.device + " here");
    }
    options.lists.clear();
    for (const std::string &text : given.lists)
        for (std::string &name : list_names(text)) options.lists.push_back(std::move(name));
    const Run run{options.settings, command, cpu_model(), "", today(), {}, {}, 0};
    if (options.against_general) return run_rows(family, options, run);
    if (options.lists.empty()) options.lists = family.usual;
    return run_lists(family, options, run);
}

}  // namespace
}  // namespace hk::bench

int main(int argc, char **argv) {
    hk::bench::Options options;
    hk::bench::Settings &settings = options.settings;
    bool no_peers = false;
    hk::program::Flags flags(
        "Measures our kernels, next to other libraries where they are installed");
    flags.add("--family", options.choice.family,
              "family of kernels; the first that has the type where none is named:" +
                  hk::bench::names_with_types());
    flags.add(
        "--list", options.lists,
        "lists of shapes, by name or as a .csv file, or the sizes of one: input=1x56x56x64,…");
    flags.add("--type", options.choice.type, "of the input; the family's first");
    flags.add("--output-type", options.choice.output_type,
              "where the family makes several: u8, s8, f32 or s32");
    flags.add("--layout", options.choice.layout,
              "nhwc or nchw, where the family has layouts; nhwc");
    flags.add("--device", options.choice.device, "cpu, cuda:0, opencl:0, …").show_default();
    flags.add("--threads", settings.threads, "threads; 1 is pinned to a core")
        .check(hk::program::range(1, 1024))
        .show_default();
    flags.add("--batch", settings.batch, "the first extent of the input, whatever the list says")
        .check(hk::program::range(1, 1 << 20));
    flags.add("--allow-tf32", settings.allow_tf32,
              "products of f32 may be of operands cut off to TF32, where the family has that");
    flags.add("--row", settings.row, "run this row of the table, whatever selection takes");
    flags.add("--filter", options.filter, "only cases whose name contains this");
    flags.add("--seconds", options.seconds, "time for the rounds of one case")
        .check(hk::program::between(0.01, 60))
        .show_default();
    flags.add("--json", options.json, "write the results there");
    flags.add("--no-peers", no_peers, "our kernels only");
    flags.add("--against-general", options.against_general,
              "time each row of the table on shapes of its own against the later rows that take "
              "them too, of all lists where none is named");
    flags.add("--selection", options.selection,
              "write the row that selection takes for each case of all lists there, and "
              "measure nothing");
    flags.add("--devices", options.show_devices, "print the devices that are here");
    flags.add("--families", options.show_families, "print the names of the families");
    flags.add("--lists", options.show_lists, "print the names of the family's lists");
    return hk::program::run("bench", flags, argc, argv, [&] {
        settings.peers = !no_peers;
        std::string command = "bench";
        for (int i = 1; i < argc; ++i) {
            const std::string_view argument = argv[i];
            if (argument == "--json") ++i;
            if (!argument.starts_with("--json")) command.append(" ").append(argument);
        }
        return hk::bench::run(options, command);
    });
}
