// In place of onednn*.cpp where oneDNN is not installed.

#include "peers/conv2d_backward_peer.h"
#include "peers/pool2d_peer.h"
#include "peers/quantized_conv2d_peer.h"

namespace hk::bench {

Peers onednn_conv2d(const Conv2dData &, int) { return {}; }

Peers onednn_quantized_conv2d(const QuantizedConv2dData &, int) { return {}; }

Peers onednn_gradient(const GradientData &, int) { return {}; }

Peers onednn_pool2d(const PoolData &, int) { return {}; }

std::string onednn_version() { return ""; }

}  // namespace hk::bench
