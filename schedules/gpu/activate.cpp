#include "schedules/activate.h"
#include "schedules/gpu/elementwise.h"

using namespace hk::generators;

namespace hk::schedules::gpu {

void activate(Activate &stages, const ElementwiseContext &context) {
    element_a_thread(stages.output, stages.output.args(), context);
}

}  // namespace hk::schedules::gpu
