#include "subject.h"

#include <algorithm>
#include <set>

#include "hk/error.h"
#include "timing.h"
#include "usual_limits.h"

namespace hk::explorer {

namespace {

// Cases that a word stands for: a case of a list, or all of a list.
std::vector<bench::CaseInfo> cases_of(const bench::Family &family, const bench::Settings &settings,
                                      const std::string &word) {
    const bool of_its_own = word.find('=') != std::string::npos || word.ends_with(".csv");
    const std::vector<std::string> all = family.lists();
    if (of_its_own || std::ranges::find(all, word) != all.end())
        return family.cases(word, settings);
    for (const std::string &list : all) {
        for (const bench::CaseInfo &info : family.cases(list, settings))
            if (info.name == word) return {info};
    }
    std::string lists;
    for (const std::string &list : all) lists += " " + list;
    throw InvalidArgument(family.name + " has no case \"" + word +
                          "\": give a name of its lists (bench --family " + family.name +
                          " --list LIST), a list (" + lists.substr(1) +
                          "), a .csv file, or sizes such as " + family.sizes());
}

}  // namespace

void SubjectFlags::add_to(program::Flags &flags) {
    flags.add("family", choice.family, "family of kernels").required();
    flags
        .add("shape", shapes,
             "a case of the benchmark's lists, a list, a .csv file, or sizes: input=1x56x56x64,…")
        .required();
    flags.add("--target", choice.device, "cpu, cuda:0, opencl:0, …").show_default();
    flags.add("--type", choice.type, "of the input; the family's first");
    flags.add("--output-type", choice.output_type, "where the family makes several");
    flags.add("--layout", choice.layout, "nhwc or nchw, where the family has layouts; nhwc");
    flags.add("--threads", threads, "threads; 1 is pinned to a core")
        .check(program::range(1, 1024))
        .show_default();
}

Subject::Subject(const SubjectFlags &flags, Place place) : place(place) {
    family = bench::choose(flags.choice, settings);
    settings.threads = flags.threads;
    settings.peers = false;
    settings.limits = place == Place::here
                          ? find_device(settings.device, Cores::of_process()).limits
                          : absent::usual_limits(settings.device.type());
    if (!family.has_rows) throw InvalidArgument(family.name + " runs no kernel of the table");
    for (const std::string &word : flags.shapes)
        for (bench::CaseInfo &info : cases_of(family, settings, word))
            cases.push_back(std::move(info));
}

std::vector<Candidate> Subject::rows() const {
    std::vector<Candidate> result;
    for (const KernelInfo *row : family.rows(settings)) result.push_back(Candidate::of(*row));
    return result;
}

Candidate base_of(const Subject &subject, const KernelInfo &selected, const std::string &schedule,
                  const std::string &row) {
    std::set<std::string> names;
    bench::Settings settings = subject.settings;
    settings.row = row;
    Candidate chosen =
        Candidate::of(row.empty() ? selected : bench::row_named(subject.family, settings));
    if (schedule.empty()) return chosen;
    if (is_autoscheduler(schedule)) {
        chosen.schedule = schedule;
        chosen.knobs.clear();
        return chosen;
    }
    std::vector<Candidate> all;
    if (row.empty()) all = subject.rows();
    all.insert(all.begin(), chosen);
    for (const Candidate &candidate : all) {
        const std::string full = candidate.algorithm + "/" + candidate.schedule;
        if (schedule == full || schedule == candidate.schedule) return candidate;
        names.insert(full);
    }
    std::string allowed;
    for (const std::string &name : names) allowed += (allowed.empty() ? "" : ", ") + name;
    for (const std::string &name : autoschedulers(selected.device)) allowed += ", " + name;
    const std::string of = row.empty() ? subject.family.name : "the row " + row;
    throw InvalidArgument("no schedule \"" + schedule + "\" of " + of +
                          "; there are: " + allowed);
}

}  // namespace hk::explorer
