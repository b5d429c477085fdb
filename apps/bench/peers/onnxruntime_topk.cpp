#include <stdexcept>

#include "data.h"
#include "peers/onnx_model.h"
#include "peers/onnxruntime_session.h"
#include "peers/topk_peer.h"

namespace hk::bench {

namespace {

class OnnxruntimeTopK : public Peer {
public:
    OnnxruntimeTopK(const TopKProblem &p, const Tensor &input, int threads)
        : both_(p.values && p.indices),
          session_(onnx_topk_model(p),
                   {"x",
                    {bytes_of(input), bytes_of(input) + input.elements() * size_of(p.type)},
                    {p.rows, p.columns},
                    onnx_type(p.type)},
                   {empty("values", p, p.type), empty("indices", p, DataType::s64)}, threads) {}

    std::string name() const override { return "ONNX Runtime"; }
    std::string variant() const override { return "TopK, sorted, values and indices"; }
    bool same_task() const override { return both_; }
    void run() override { session_.run(); }

    Outputs outputs() override { return {session_.outputs()[0].data, session_.outputs()[1].data}; }

private:
    static OnnxTensor empty(const char *name, const TopKProblem &p, DataType type) {
        return {name,
                std::vector<std::byte>(p.rows * p.k * size_of(type)),
                {p.rows, p.k},
                onnx_type(type)};
    }

    bool both_;
    OnnxruntimeSession session_;
};

}  // namespace

Peers onnxruntime_topk(const TopKProblem &problem, const Tensor &input, int threads) {
    Peers peers;
    if (onnxruntime_version().empty()) return peers;
    try {
        peers.push_back(std::make_unique<OnnxruntimeTopK>(problem, input, threads));
    } catch (const std::runtime_error &) {
        // It has no kernel for some types: f16, bf16, most integers.
    }
    return peers;
}

}  // namespace hk::bench
