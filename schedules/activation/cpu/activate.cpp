#include "schedules/activation/activate.h"
#include "schedules/cpu_elementwise.h"

using namespace hk::generators;

namespace hk::schedules::cpu {

void activate(Activate &stages, const ElementwiseContext &context) {
    chunks_of_elements(stages.output, stages.output.args(), context);
}

}  // namespace hk::schedules::cpu
