#include "schedules/conv2d/conv2d.h"

using namespace hk::generators;

namespace hk::schedules {

PackedSum packed_sum(const Conv2dContext &context) {
    return context.schedule == "cpu_grouped" ? cpu::grouped_sum(context) : cpu::packed_sum(context);
}

}  // namespace hk::schedules
