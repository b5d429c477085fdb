#pragma once
// One case: checked, then timed in turn with its peers.

#include "hk/error.h"
#include "results.h"

namespace hk::bench {

// A case whose sizes don't fit together: bad input. Names the case.
struct BadCase : InvalidArgument {
    using InvalidArgument::InvalidArgument;
};

// A case that can't run or whose result is wrong has a failure and no times; one that settings.row
// does not take is skipped. Throws BadCase.
Result measure_case(const Family &family, const CaseInfo &info, const Settings &settings,
                    const MeasureOptions &options);

}  // namespace hk::bench
