#pragma once
// NumPy, for comparison: a Python process that holds a problem's arrays and runs a task of
// numpy_tasks.py on command. It takes turns with our own kernels as other libraries do, and is
// pinned to the core that this process is pinned to when it starts.

#include <sys/types.h>

#include <nlohmann/json.hpp>

#include "peers/peer.h"

namespace hk::bench {

// "NumPy 2.4.6 with scipy-openblas 0.3.31"; empty where Python or NumPy is not installed.
const std::string &numpy_version();

struct NumpyArray {
    std::string name;
    Tensor tensor;  // packed, in host memory; not bf16, which NumPy does not have
};

struct NumpyTask {
    std::string name;  // of a function in numpy_tasks.py
    std::vector<NumpyArray> arrays;
    nlohmann::json options;
    int threads = 1;
};

class NumpyPeer : public Peer {
public:
    // `name` and `variant` are the peer's. Throws std::runtime_error where the process does not
    // start.
    NumpyPeer(std::string name, std::string variant, const NumpyTask &task);

    std::string name() const override { return name_; }
    std::string variant() const override { return variant_; }
    void run() override { repeat(1); }
    void repeat(int count) override;
    Outputs outputs() override;

private:
    // Ends, and takes its folder with it.
    struct Process {
        Process();
        ~Process();
        Process(const Process &) = delete;
        Process &operator=(const Process &) = delete;

        void start(int threads);
        std::string ask(const std::string &line) const;  // its answer

        std::string folder;
        pid_t id = -1;
        int socket = -1;
    };

    std::string name_, variant_;
    Process process_;
};

}  // namespace hk::bench
