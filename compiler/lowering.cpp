#include "compiler/lowering.h"

#include <functional>

#include "compiler/half_as_bits.h"
#include "compiler/privatize_registers.h"

using namespace Halide::Internal;

namespace hk::compiler {

namespace {

class Pass : public IRMutator {
public:
    explicit Pass(std::function<Stmt(const Stmt &)> apply) : apply_(std::move(apply)) {}
    using IRMutator::mutate;
    Stmt mutate(const Stmt &body) override { return apply_(body); }

private:
    const std::function<Stmt(const Stmt &)> apply_;
};

}  // namespace

void add_lowering_passes(Halide::Pipeline pipeline, const Halide::Target &target) {
    if (!target.has_gpu_feature()) return;
    const HalfTypes types = half_types_without_hardware(target);
    pipeline.add_custom_lowering_pass(new Pass(privatize_registers));
    pipeline.add_custom_lowering_pass(new Pass([types](const Stmt &body) { return half_as_bits(body, types); }));
}

}  // namespace hk::compiler
