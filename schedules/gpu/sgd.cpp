#include "schedules/gpu/elementwise.h"
#include "schedules/sgd.h"

using namespace hk::generators;

namespace hk::schedules::gpu {

void sgd(Sgd &stages, const ElementwiseContext &context) {
    element_a_thread(stages.output.update(), stages.output.args(), context);
}

}  // namespace hk::schedules::gpu
