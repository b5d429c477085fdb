#pragma once
// Other libraries' convolutions, for comparison. A library that is not installed, or does not
// support the problem, has no peers.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "family.h"
#include "hk/conv2d.h"

namespace hk::bench {

// A convolution without bias, residual or activation, with its data in host memory, packed, in the
// problem's own layout and type.
struct Conv2dData {
    Conv2dProblem problem;
    const void *input;
    const void *weight;
};

class Peer {
public:
    virtual ~Peer() = default;
    virtual std::string name() const = 0;            // of the library
    virtual std::string variant() const = 0;         // what of it: layout, …
    virtual bool same_task() const { return true; }  // counts in the ratio
    virtual void run() = 0;
    virtual std::vector<std::byte> output() = 0;  // of the last run, in the problem's layout
};

using Peers = std::vector<std::unique_ptr<Peer>>;

// Runs each once; those whose output is right take part, others are named on stderr.
std::vector<Contestant> right_ones(Peers peers,
                                   const std::function<bool(const std::byte *)> &is_right);

// oneDNN, its weights reordered to the form that it asks for before anything is timed. Variants:
// activations in the problem's layout, and, as another peer, in the blocked layout that oneDNN
// likes best, whose reorders are not timed: not the same task, for comparison only.
Peers onednn_conv2d(const Conv2dData &data, int threads);

// ONNX Runtime: a model of one Conv node whose weight is an initializer, which it packs when it
// loads. ONNX is NCHW; for nhwc problems the peer gets transposed data, which is not timed.
Peers onnxruntime_conv2d(const Conv2dData &data, int threads);

// Versions of the installed libraries, as "oneDNN 3.2.0"; empty where there are none.
std::string onednn_version();
std::string onnxruntime_version();

}  // namespace hk::bench
