#include "schedules/partial_sums.h"

#include "schedules/schedule.h"

namespace hk::schedules {

PartialSums PartialSums::with(const std::string &text) const {
    PartialSums sums = *this;
    Knobs knobs(text);
    knobs.take("lanes", sums.lanes);
    knobs.take("parts", sums.parts);
    knobs.end();
    if (sums.lanes < 1 || sums.parts < 1)
        throw Halide::CompileError("knobs " + text + ": none may be 0");
    return sums;
}

}  // namespace hk::schedules
