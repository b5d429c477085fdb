#pragma once
// A model in ONNX Runtime: one input, one output or several.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hk::bench {

struct OnnxTensor {
    std::string name;  // in the model
    std::vector<std::byte> data;
    std::vector<int64_t> shape;
    int type;  // ONNX's number
};

class OnnxruntimeSession {
public:
    // Throws std::runtime_error where the library is not installed or refuses the model.
    OnnxruntimeSession(const std::string &model, OnnxTensor input, std::vector<OnnxTensor> outputs,
                       int threads);
    ~OnnxruntimeSession();

    void run();
    const std::vector<OnnxTensor> &outputs() const { return outputs_; }  // of the last run

private:
    struct Parts;

    OnnxTensor input_;
    std::vector<OnnxTensor> outputs_;
    std::unique_ptr<Parts> parts_;
};

}  // namespace hk::bench
