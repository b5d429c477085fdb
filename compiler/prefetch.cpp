#include "compiler/prefetch.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

class ToSecondCache : public IRMutator {
    using IRMutator::visit;

    // args: buffer, offset of the first element, extent and stride, which are of one cache line.
    Stmt visit(const Evaluate *op) override {
        const Call *call = op->value.as<Call>();
        if (!call || !call->is_intrinsic(Call::prefetch)) return IRMutator::visit(op);
        const Expr address = reinterpret(UInt(64), call->args[0]) +
                             cast(UInt(64), cast<int64_t>(call->args[1]) * call->type.bytes());
        constexpr int read = 0, second_cache = 2, data = 1;
        // Halide's runtime declares LLVM's intrinsic, of no result.
        return Evaluate::make(
            Call::make(Int(32), "llvm.prefetch.p0",
                       {reinterpret(Handle(), address), read, second_cache, data}, Call::Extern));
    }
};

}  // namespace

Stmt prefetch_to_second_cache(const Stmt &stmt) { return ToSecondCache().mutate(stmt); }

}  // namespace hk::compiler
