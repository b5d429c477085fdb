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
    // The error, as Check has it, that is right whatever the bound of a direct sum: of what
    // transforms its data, so that an element's error is not bounded by the products that it sums.
    virtual double tolerance() const { return 0; }
    virtual void run() = 0;
    virtual double repeat(int count) {  // the seconds that it took
        return Work([this](int times) {
            for (int i = 0; i < times; ++i) run();
        })(count);
    }
    virtual Outputs outputs() = 0;  // of the last run, in the problem's layout
};

using Peers = std::vector<std::unique_ptr<Peer>>;

bool is_right(const Peer &peer, const Check &check);

// Runs each once; those whose outputs are right take part, others are named on stderr.
std::vector<Contestant> right_ones(Peers peers, const std::function<Check(const Outputs &)> &check);

// Versions of the installed libraries, as "oneDNN 3.2.0"; empty where there are none.
const std::string &numpy_version();
const std::string &ncnn_version();
std::string onednn_version();
std::string onnxruntime_version();

}  // namespace hk::bench
