#include "schedules/softmax_cross_entropy/softmax_cross_entropy.h"

using namespace hk::generators;

namespace hk::schedules {

// Two vectors of a CPU, so that as many sums, and maxima, are on their way at once; the threads of
// a GPU's block; a thread, or a lane of a vector, that has a row.
SoftmaxCrossEntropyTile softmax_cross_entropy_tile(const SoftmaxCrossEntropyContext &context) {
    const bool block = context.schedule == "block_per_row",
               alone = context.schedule == "thread_per_row" || context.schedule == "vector_of_rows";
    const int vectors = 2 * context.target.natural_vector_size<float>();
    SoftmaxCrossEntropyTile tile{block ? 256 : alone ? 1 : vectors};
    Knobs knobs(context.knobs);
    if (!alone) knobs.take("lanes", tile.lanes, block ? powers(16, 1024) : powers(1, 128));
    if (!alone && !block) knobs.take("keep", tile.keep, {0, 1});
    knobs.end();
    return tile;
}

}  // namespace hk::schedules
