#include "schedules/activation/activate_backward.h"
#include "schedules/gpu_elementwise.h"

using namespace hk::generators;

namespace hk::schedules::gpu {

void activate_backward(ActivateBackward &stages, const ElementwiseContext &context) {
    element_a_thread(stages.output, stages.output.args(), context);
}

}  // namespace hk::schedules::gpu
