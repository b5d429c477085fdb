#include "schedules/topk/topk_unpack.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every item by itself, nothing stored in between.
void root(TopKUnpack &, const TopKUnpackContext &context) { Knobs(context.knobs).end(); }

}  // namespace

const Table<TopKUnpack, TopKUnpackContext> &topk_unpack_schedules() {
    static const Table<TopKUnpack, TopKUnpackContext> table = {{"root", root},
                                                               {"gpu_unstaged", gpu::topk_unpack}};
    return table;
}

}  // namespace hk::schedules
