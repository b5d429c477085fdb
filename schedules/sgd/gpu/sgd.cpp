#include "schedules/sgd/sgd.h"
#include "schedules/gpu_elementwise.h"

using namespace hk::generators;

namespace hk::schedules::gpu {

// The first stage stores nothing and becomes no kernel; outside of threads Halide would ask for
// the outputs on the host.
void sgd(Sgd &stages, const ElementwiseContext &context) {
    element_a_thread(stages.output, stages.output.args(), context);
    element_a_thread(stages.output.update(), stages.output.args(), context);
}

}  // namespace hk::schedules::gpu
