#include "schedules/activation/activate.h"
#include "schedules/gpu_elementwise.h"

using namespace hk::generators;

namespace hk::schedules::gpu {

void activate(Activate &stages, const ElementwiseContext &context) {
    element_a_thread(stages.output, stages.output.args(), context);
}

}  // namespace hk::schedules::gpu
