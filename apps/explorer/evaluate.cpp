#include "evaluate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "HalideRuntime.h"
#include "compiled.h"
#include "hk/error.h"
#include "timing.h"

namespace hk::explorer {

using nlohmann::json;

Prepared::Prepared(const Subject &subject, const bench::CaseInfo &info)
    : subject_(subject), info_(info) {
    halide_set_num_threads(1);  // nothing starts a thread before the children are made
    if (subject.settings.device.is_cpu()) case_ = info.prepare();
}

bench::Case &Prepared::get() {
    if (!case_) case_ = info_.prepare();
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

json survey(Prepared &prepared) {
    bench::Case &test = prepared.get();
    const KernelInfo &selected = prepared.selected();
    const std::vector<const KernelInfo *> rows =
        prepared.subject().family.rows(prepared.subject().settings);
    const auto at = std::find(rows.begin(), rows.end(), &selected);
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
    return {{"work", test.work()},
            {"shapes", test.shapes()},
            {"row", at - rows.begin()},
            {"refused", refused}};
}

json evaluate(Prepared &prepared, const Candidate &candidate, double seconds, Parent &parent) {
    bench::Case &test = prepared.get();
    const KernelInfo &selected = prepared.selected();
    CallArguments sizes;
    if (is_autoscheduler(candidate.schedule)) {
        sizes = arguments_of(selected, [&](const KernelInfo &listener) {
            test.use(&listener);
            test.run(1);
        });
        sizes.threads = prepared.subject().settings.threads;
    }
    const Compiled compiled(candidate, sizes);
    parent.say_compiled();
    return check_and_time(test, selected, compiled.kernel(), prepared.subject().settings, seconds,
                          parent);
}

}  // namespace hk::explorer
