#pragma once
// Another library doing the same work, for comparison. A library that is not installed, or does not
// support the problem, has no peers.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "case.h"

namespace hk::bench {

// What one run made, packed: the bytes of each tensor.
using Outputs = std::vector<std::vector<std::byte>>;

class Peer {
public:
    virtual ~Peer() = default;
    virtual std::string name() const = 0;            // of the library
    virtual std::string variant() const = 0;         // what of it: layout, …
    virtual bool same_task() const { return true; }  // counts in the ratio
    virtual void run() = 0;
    virtual double repeat(int count) {  // the seconds that it took
        return Work([this](int times) {
            for (int i = 0; i < times; ++i) run();
        })(count);
    }
    virtual Outputs outputs() = 0;  // of the last run, in the problem's layout
};

using Peers = std::vector<std::unique_ptr<Peer>>;

// Runs each once; those whose outputs are right take part, others are named on stderr.
std::vector<Contestant> right_ones(Peers peers,
                                   const std::function<bool(const Outputs &)> &is_right);

// Versions of the installed libraries, as "oneDNN 3.2.0"; empty where there are none.
const std::string &numpy_version();
const std::string &ncnn_version();
std::string onednn_version();
std::string onnxruntime_version();

}  // namespace hk::bench
