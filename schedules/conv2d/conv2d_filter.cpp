#include "schedules/conv2d/conv2d_filter.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself.
void root(Conv2dFilter &, const Conv2dFilterContext &context) { Knobs(context.knobs).end(); }

}  // namespace

const Table<Conv2dFilter, Conv2dFilterContext> &conv2d_filter_schedules() {
    static const Table<Conv2dFilter, Conv2dFilterContext> table = {{"root", root},
                                                                   {"cpu", cpu::conv2d_filter}};
    return table;
}

}  // namespace hk::schedules
