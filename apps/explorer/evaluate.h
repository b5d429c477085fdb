#pragma once
// What a sweep's children do: look at a case, time a candidate, find what the machine can do.

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "compiled.h"
#include "subject.h"
#include "worker.h"

namespace hk::explorer {

// A case for children. The CPU's is prepared once, here, and children see a copy; another device's
// by each child, as a driver's context does not live on in a copy of its process. Of a device
// elsewhere with a driver that does nothing, and has no limits.
class Prepared {
public:
    Prepared(const Subject &subject, const bench::CaseInfo &info);

    bench::Case &get();            // a child's own
    const KernelInfo &selected();  // the table's row. Throws InvalidArgument for none.
    const Subject &subject() const { return subject_; }
    const bench::CaseInfo &info() const { return info_; }

private:
    const Subject &subject_;
    const bench::CaseInfo &info_;
    std::unique_ptr<bench::Case> case_;
};

// {"work", "shapes", "row": index, "refused": {index: why}, "sizes"}, of the family's rows;
// "sizes", what the table's row is called with, if it is, and measured elsewhere. Nothing runs.
nlohmann::json survey(Prepared &prepared);

// Survey's "sizes", for autoschedulers.
CallArguments sizes_of(const nlohmann::json &sizes);

// {"ns", "table_ns", "max_error"}: compiled, checked, and measured in turn with the table's row.
// Throws Failure "wrong", "over budget".
nlohmann::json evaluate(Prepared &prepared, const Candidate &candidate, double seconds,
                        Parent &parent);

}  // namespace hk::explorer
