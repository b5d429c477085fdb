#include "compiler/dense_loads.h"

#include <optional>
#include <set>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kBlockBytes = 64;  // a vector of AVX-512, a line of the caches

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
        const Load *first =
            op->is_interleave() && count > 1 ? sliced(op->vectors[0], count) : nullptr;
        for (int i = 1; first && i < count; i++) {
            const Load *load = sliced(op->vectors[i], count);
            const auto base = [](const Load *l) { return l->index.as<Ramp>()->base; };
            if (!load || load->name != first->name ||
                !is_const_zero(simplify(base(load) - base(first) - i)))
                first = nullptr;
        }
        if (first) return first;
        const Expr spread = op->vectors.size() == 1 ? spread_of_block(op) : Expr();
        return spread.defined() ? spread : IRMutator::visit(op);
    }

    // The shuffle of a whole aligned block, of which `op` takes every n-th element; undefined where
    // it is not that of a buffer of this kernel, which starts at an aligned address.
    Expr spread_of_block(const Shuffle *op) const {
        const Load *load = op->vectors[0].as<Load>();
        const Ramp *index = load ? load->index.as<Ramp>() : nullptr;
        const auto step = index ? as_const_int(index->stride) : std::nullopt;
        if (!step || *step < 2 || !is_const_one(load->predicate) || !allocated_.count(load->name))
            return Expr();
        const int lanes = static_cast<int>(*step) * index->lanes;
        const ModulusRemainder at = load->alignment;
        if ((lanes & (lanes - 1)) != 0 || lanes * load->type.bytes() > kBlockBytes ||
            at.modulus % lanes != 0 || at.remainder % lanes >= *step)
            return Expr();
        const int offset = static_cast<int>(at.remainder % lanes);
        const Expr block = Load::make(load->type.with_lanes(lanes), load->name,
                                      Ramp::make(simplify(index->base - offset), 1, lanes),
                                      load->image, load->param, const_true(lanes),
                                      ModulusRemainder(at.modulus, at.remainder - offset));
        std::vector<int> indices;
        for (const int i : op->indices) indices.push_back(i * static_cast<int>(*step) + offset);
        return Shuffle::make({block}, indices);
    }

    Stmt visit(const Allocate *op) override {
        allocated_.insert(op->name);
        return IRMutator::visit(op);
    }
    // Of a GPU's threads each has its own vectors.
    Stmt visit(const For *op) override {
        return op->device_api == DeviceAPI::CUDA || op->device_api == DeviceAPI::OpenCL
                   ? Stmt(op)
                   : IRMutator::visit(op);
    }

    std::set<std::string> allocated_;
};

}  // namespace

Stmt make_loads_dense(const Stmt &stmt) { return DenseLoads().mutate(stmt); }

}  // namespace hk::compiler
