#include "compiler/approximations.h"

#include "compiler/tensor_cores.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

class ApproximateByInstruction : public IRMutator {
    using IRMutator::visit;

    bool in_kernel_ = false, products_ = false;

    Stmt visit(const For *op) override {
        if (in_kernel_ || op->device_api != DeviceAPI::CUDA) return IRMutator::visit(op);
        in_kernel_ = true;
        products_ = uses_tensor_cores(op);
        Stmt result = IRMutator::visit(op);
        in_kernel_ = products_ = false;
        return result;
    }

    static Expr called(const char *function, const Expr &value) {
        return Call::make(Float(32), function, {value}, Call::PureExtern);
    }

    Expr visit(const Call *op) override {
        if (!in_kernel_ || op->type != Float(32)) return IRMutator::visit(op);
        if (op->name == "fast_inverse_f32")
            return called("llvm.nvvm.rcp.approx.ftz.f", mutate(op->args[0]));
        if (products_ && op->name == "exp_f32")
            return called("llvm.nvvm.ex2.approx.f", mutate(op->args[0]) * 1.44269504f);
        return IRMutator::visit(op);
    }
};

}  // namespace

Stmt approximate_by_instruction(const Stmt &stmt) {
    return ApproximateByInstruction().mutate(stmt);
}

}  // namespace hk::compiler
