#pragma once
// A model x -> y in ONNX Runtime.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hk::bench {

struct OnnxTensor {
    std::vector<std::byte> data;
    std::vector<int64_t> shape;
    int type;  // ONNX's number
};

class OnnxruntimeSession {
public:
    // Throws std::runtime_error where the library is not installed or refuses the model.
    OnnxruntimeSession(const std::string &model, OnnxTensor input, OnnxTensor output, int threads);
    ~OnnxruntimeSession();

    void run();
    const std::vector<std::byte> &output() const { return output_.data; }  // of the last run

private:
    struct Parts;

    OnnxTensor input_, output_;
    std::unique_ptr<Parts> parts_;
};

}  // namespace hk::bench
