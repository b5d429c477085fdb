#pragma once
// Other libraries' top-k, for comparison.

#include "hk/topk.h"
#include "peers/peer.h"

namespace hk::bench {

// ONNX Runtime: a model of one TopK node, whose outputs are values and s64 indices, best first; it
// has no other. Where the problem asks for one of them it does not count. `input`: packed rows.
Peers onnxruntime_topk(const TopKProblem &problem, const Tensor &input, int threads);

}  // namespace hk::bench
