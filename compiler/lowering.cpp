#include "compiler/lowering.h"

#include <functional>

#include "compiler/dense_loads.h"
#include "compiler/half_as_bits.h"
#include "compiler/privatize_registers.h"

using namespace Halide;
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

// Device code cannot report an error: the back ends drop its assertions, with a warning for each.
// Ours are those of bound_extent, which hold by construction.
class DropDeviceAssertions : public IRMutator {
    using IRMutator::visit;

    bool in_device_ = false;

    Stmt visit(const For *op) override {
        const bool outside = in_device_;
        in_device_ |= op->device_api == DeviceAPI::CUDA || op->device_api == DeviceAPI::OpenCL;
        Stmt result = IRMutator::visit(op);
        in_device_ = outside;
        return result;
    }
    Stmt visit(const AssertStmt *op) override {
        return in_device_ ? Evaluate::make(0) : IRMutator::visit(op);
    }
};

}  // namespace

void add_lowering_passes(Halide::Pipeline pipeline, const Halide::Target &target) {
    const HalfTypes types = half_types_without_hardware(target);
    if (target.has_gpu_feature()) {
        pipeline.add_custom_lowering_pass(new DropDeviceAssertions);
        pipeline.add_custom_lowering_pass(new Pass(privatize_registers));
    }
    pipeline.add_custom_lowering_pass(new Pass(make_loads_dense));
    pipeline.add_custom_lowering_pass(
        new Pass([types](const Stmt &body) { return half_as_bits(body, types); }));
}

}  // namespace hk::compiler
