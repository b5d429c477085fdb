#include "schedules/conv2d/conv2d.h"

using namespace hk::generators;

namespace hk::schedules {

PackedSum packed_sum(const Conv2dContext &context) {
    if (context.schedule == "columns") return cpu::columns_sum(context);
    return context.schedule == "grouped" ? cpu::grouped_sum(context) : cpu::broadcast_sum(context);
}

}  // namespace hk::schedules
