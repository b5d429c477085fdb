#include "compiler/prefetch.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kLine = 64;  // bytes, of a call

// Of more than a line Halide makes a loop over lines, whose offsets are of kLine elements, where
// bytes are meant (SplitPrefetch of Halide 21).
bool over_lines(const For *op) { return op->name.rfind("prefetch_split_", 0) == 0; }

class ToSecondCache : public IRMutator {
    using IRMutator::visit;

    Expr line_ = 0;  // of those that a loop is over

    Stmt visit(const For *op) override {
        if (!over_lines(op)) return IRMutator::visit(op);
        const Stmt body = substitute(op->name, 0, op->body);
        const auto lines = as_const_int(op->extent);
        if (!lines) {
            line_ = Variable::make(Int(32), op->name);
            const Stmt loop = For::make(op->name, op->min, op->extent, op->for_type,
                                        op->partition_policy, op->device_api, mutate(body));
            line_ = 0;
            return loop;
        }
        std::vector<Stmt> all;
        for (int64_t line = 0; line < *lines; line++) {
            line_ = Expr(static_cast<int32_t>(line));
            all.push_back(mutate(body));
        }
        line_ = 0;
        return Block::make(all);
    }

    // args: buffer, offset of the first element, extent and stride, which are of one cache line.
    Stmt visit(const Evaluate *op) override {
        const Call *call = op->value.as<Call>();
        if (!call || !call->is_intrinsic(Call::prefetch)) return IRMutator::visit(op);
        const Expr address = reinterpret(UInt(64), call->args[0]) +
                             cast(UInt(64), cast<int64_t>(call->args[1]) * call->type.bytes() +
                                                cast<int64_t>(line_) * kLine);
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
