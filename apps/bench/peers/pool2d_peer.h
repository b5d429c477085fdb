#pragma once
// Other libraries' pooling and its gradient, for comparison.

#include "hk/pool2d.h"
#include "peers/peer.h"

namespace hk::bench {

// Host memory, packed, in the problem's own layout and type. The gradient of a maximum has the
// input too.
struct PoolData {
    Pool2dProblem problem;
    bool backward;
    const void *input;
    const void *output_gradient;
};

// oneDNN, tensors in the problem's layout, and, as another peer, in the layout that it likes best,
// whose reorders are not timed: not the same task, for comparison only. The gradient of a maximum
// reads where it was from what oneDNN's own forward pass has kept, which is not timed; ours finds
// it again.
Peers onednn_pool2d(const PoolData &data, int threads);

}  // namespace hk::bench
