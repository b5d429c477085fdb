#include "evaluate.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "HalideRuntime.h"
#include "hk/error.h"
#include "stand_in.h"
#include "timing.h"
#include "usual_limits.h"

namespace hk::explorer {

using nlohmann::json;

Prepared::Prepared(const Subject &subject, const bench::CaseInfo &info)
    : subject_(subject), info_(info) {
    halide_set_num_threads(1);  // nothing starts a thread before the children are made
    if (subject.settings.device.is_cpu()) case_ = info.prepare();
}

bench::Case &Prepared::get() {
    if (case_) return *case_;
    const DeviceType device = subject_.settings.device.type();
    if (subject_.place == Place::elsewhere) {
        constexpr int much = std::numeric_limits<int>::max();
        absent::use_stand_in(
            device, {much, much, much, much, absent::usual_limits(device).compute_capability});
    }
    case_ = info_.prepare();
    return *case_;
}

const KernelInfo &Prepared::selected() {
    const KernelInfo *row = info_.row;
    if (!row) {
        get().use(nullptr);
        row = get().kernel();
    }
    if (!row) throw InvalidArgument("no row of " + subject_.family.name + " takes " + info_.name);
    return *row;
}

namespace {

CallArguments sizes_of(Prepared &prepared) {
    bench::Case &test = prepared.get();
    CallArguments sizes = arguments_of(prepared.selected(), [&](const KernelInfo &listener) {
        test.use(&listener);
        test.run(1);
    });
    sizes.threads = prepared.subject().settings.threads;
    return sizes;
}

json to_json(const CallArguments &sizes) {
    json arguments = json::array();
    for (const CallArguments::Argument &argument : sizes.arguments)
        arguments.push_back(
            {{"mins", argument.mins}, {"extents", argument.extents}, {"scalar", argument.scalar}});
    return {{"arguments", arguments}, {"threads", sizes.threads}};
}

}  // namespace

json survey(Prepared &prepared) {
    bench::Case &test = prepared.get();
    const KernelInfo &selected = prepared.selected();
    const std::vector<const KernelInfo *> rows =
        prepared.subject().family.rows(prepared.subject().settings);
    // By name: a family may put together its rows from several tables.
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const KernelInfo *row) {
        return std::string_view(row->name) == selected.name;
    });
    if (at == rows.end()) throw Error(std::string("the table has no row ") + selected.row);
    json refused = json::object();
    for (size_t i = 0; i < rows.size(); i++) {
        try {
            arguments_of(*rows[i], [&](const KernelInfo &listener) {
                test.use(&listener);
                test.run(1);
            });
        } catch (const std::exception &error) {
            refused[std::to_string(i)] = error.what();
        }
    }
    json found = {{"work", test.work()},
                  {"shapes", test.shapes()},
                  {"row", at - rows.begin()},
                  {"refused", refused}};
    if (prepared.subject().place == Place::here) return found;
    try {
        found["sizes"] = to_json(sizes_of(prepared));
    } catch (const std::exception &) {  // topk may leave all to rows of smaller tiles
    }
    return found;
}

CallArguments sizes_of(const json &sizes) {
    CallArguments result;
    for (const json &argument : sizes["arguments"])
        result.arguments.push_back({argument["mins"], argument["extents"], argument["scalar"]});
    result.threads = sizes["threads"];
    return result;
}

json evaluate(Prepared &prepared, const Candidate &candidate, double seconds, Parent &parent) {
    bench::Case &test = prepared.get();
    const KernelInfo &selected = prepared.selected();
    CallArguments sizes;
    if (is_autoscheduler(candidate.schedule)) sizes = sizes_of(prepared);
    const bench::Settings &settings = prepared.subject().settings;
    const Compiled compiled(candidate, sizes);
    check_budget(candidate, compiled.resources(), bench::limits_of(settings));
    parent.report_compiled();
    return check_and_time(test, selected, compiled.kernel(), settings, seconds, parent);
}

}  // namespace hk::explorer
