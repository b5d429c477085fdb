#include "schedules/conv2d_backward/conv2d_backward_weight.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

WeightTiles root_tiles(const Conv2dBackwardWeightContext &context) {
    int lanes = 1, step = 1, pixels = 8;
    Knobs knobs(context.knobs);
    knobs.take("lanes", lanes, {1, 2, 4, 8, 16});
    knobs.take("step", step, steps(1, 8));
    knobs.take("pixels", pixels, steps(1, 64));
    knobs.end();
    return {pixels, lanes, step, false, false};
}

}  // namespace

WeightTiles backward_weight_tiles(const Conv2dBackwardWeightContext &context) {
    if (context.schedule == "register_tiles") return cpu::tiles_in_registers(context);
    if (context.schedule == "columns" || context.schedule == "columns_or_copies")
        return cpu::tiles_of_columns(context);
    return root_tiles(context);
}

}  // namespace hk::schedules
