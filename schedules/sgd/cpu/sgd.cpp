#include "schedules/sgd/sgd.h"
#include "schedules/cpu_elementwise.h"

using namespace hk::generators;

namespace hk::schedules::cpu {

void sgd(Sgd &stages, const ElementwiseContext &context) {
    chunks_of_elements(stages.output.update(), stages.output.args(), context);
}

}  // namespace hk::schedules::cpu
