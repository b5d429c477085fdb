#pragma once
// A library that is reached through Python, for comparison: a process that holds a problem's arrays
// and runs a task of a script on command (python_peer.py). It takes turns with our own kernels as
// other libraries do, and is pinned to the core that this process is pinned to when it starts.

#include <sys/types.h>

#include <nlohmann/json.hpp>

#include "peers/peer.h"

namespace hk::bench {

// What a script says of its library, as "NumPy 2.4.6 with scipy-openblas 0.3.31"; empty where it,
// or Python, is not installed.
std::string python_version(const std::string &script);

struct PythonArray {
    std::string name;
    Tensor tensor;  // packed, in host memory; not bf16, which NumPy does not have
};

struct PythonTask {
    std::string script, name;  // a function of it
    std::vector<PythonArray> arrays;
    nlohmann::json options;
    int threads = 1;
    double tolerance = 0;  // the peer's
};

class PythonPeer : public Peer {
public:
    // `name` and `variant` are the peer's. Throws std::runtime_error where the process does not
    // start.
    PythonPeer(std::string name, std::string variant, const PythonTask &task);

    std::string name() const override { return name_; }
    std::string variant() const override { return variant_; }
    double tolerance() const override { return tolerance_; }
    void run() override { repeat(1); }
    double repeat(int count) override;
    Outputs outputs() override;

private:
    // Ends, and takes its folder with it.
    struct Process {
        Process();
        ~Process();
        Process(const Process &) = delete;
        Process &operator=(const Process &) = delete;

        void start(std::string script, int threads);
        std::string ask(const std::string &line) const;  // its answer

        std::string folder;
        pid_t id = -1;
        int socket = -1;
    };

    std::string name_, variant_;
    double tolerance_;
    Process process_;
};

}  // namespace hk::bench
