#include "schedules/gpu_elements.h"
#include "schedules/topk/topk_unpack.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

void topk_unpack(TopKUnpack &stages, const Context &context) {
    element_a_thread(stages.output, stages.output.args(), threads_of(Knobs(context.knobs)));
}

}  // namespace hk::schedules::gpu
