#include "compiler/dense_loads.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

class DenseLoads : public IRMutator {
    using IRMutator::visit;

    // The load of which `vector` takes every `step`-th element, the first one first.
    static const Load *sliced(const Expr &vector, int step) {
        const Shuffle *slice = vector.as<Shuffle>();
        if (!slice || !slice->is_slice() || slice->slice_begin() != 0 ||
            slice->slice_stride() != step || slice->vectors.size() != 1)
            return nullptr;
        const Load *load = slice->vectors[0].as<Load>();
        const Ramp *index = load ? load->index.as<Ramp>() : nullptr;
        const bool dense = index && is_const_one(index->stride) && is_const_one(load->predicate);
        return dense && index->lanes == step * slice->type.lanes() ? load : nullptr;
    }

    Expr visit(const Shuffle *op) override {
        const int count = static_cast<int>(op->vectors.size());
        const Load *first = op->is_interleave() && count > 1 ? sliced(op->vectors[0], count) : nullptr;
        for (int i = 1; first && i < count; i++) {
            const Load *load = sliced(op->vectors[i], count);
            const auto base = [](const Load *l) { return l->index.as<Ramp>()->base; };
            if (!load || load->name != first->name ||
                !is_const_zero(simplify(base(load) - base(first) - i)))
                first = nullptr;
        }
        return first ? Expr(first) : IRMutator::visit(op);
    }
};

}  // namespace

Stmt make_loads_dense(const Stmt &stmt) { return DenseLoads().mutate(stmt); }

}  // namespace hk::compiler
