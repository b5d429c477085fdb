#include "compiler/lowering.h"

#include <functional>
#include <set>
#include <string>

#include "compiler/approximations.h"
#include "compiler/async_copies.h"
#include "compiler/clamps.h"
#include "compiler/dense_loads.h"
#include "compiler/fetch_ahead.h"
#include "compiler/half_as_bits.h"
#include "compiler/loop_ends.h"
#include "compiler/masked_stores.h"
#include "compiler/next_pass.h"
#include "compiler/prefetch.h"
#include "compiler/privatize_registers.h"
#include "compiler/tensor_cores.h"
#include "compiler/tile_registers.h"
#include "compiler/transposed_blocks.h"
#include "compiler/uniform_branches.h"
#include "compiler/wide_vectors.h"

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

// What a thread stores in its own registers needs no atomic operation. Halide keeps one around a
// vector reduction in a loop over threads: it hides from dp4a what the products are added to, and
// OpenCL has no atomics there.
class DropAtomicsOfRegisters : public IRMutator {
    using IRMutator::visit;

    std::set<std::string> registers_;
    bool elsewhere_ = false;

    Stmt visit(const Allocate *op) override {
        if (op->memory_type == MemoryType::Register) registers_.insert(op->name);
        return IRMutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        elsewhere_ |= registers_.count(op->name) == 0;
        return IRMutator::visit(op);
    }
    Stmt visit(const Atomic *op) override {
        elsewhere_ = false;
        const Stmt body = mutate(op->body);
        return elsewhere_ || !op->mutex_name.empty()
                   ? Atomic::make(op->producer_name, op->mutex_name, body)
                   : body;
    }
};

}  // namespace

void add_lowering_passes(Halide::Pipeline pipeline, const Halide::Target &target) {
    const HalfTypes types = half_types_without_hardware(target);
    if (target.has_gpu_feature()) {
        pipeline.add_custom_lowering_pass(new DropDeviceAssertions);
        pipeline.add_custom_lowering_pass(new Pass(privatize_registers));
        pipeline.add_custom_lowering_pass(new DropAtomicsOfRegisters);
        pipeline.add_custom_lowering_pass(new Pass(widen_vectors));
        pipeline.add_custom_lowering_pass(new Pass(use_tensor_cores));
        pipeline.add_custom_lowering_pass(new Pass(end_loops_early));
        pipeline.add_custom_lowering_pass(new Pass(copy_asynchronously));
        pipeline.add_custom_lowering_pass(new Pass(fetch_ahead));
        pipeline.add_custom_lowering_pass(new Pass(branch_where_uniform));
        pipeline.add_custom_lowering_pass(new Pass(clamp_by_instruction));
        pipeline.add_custom_lowering_pass(new Pass(approximate_by_instruction));
    } else {
        pipeline.add_custom_lowering_pass(new Pass(transpose_blocks));
        if (has_tile_registers(target))
            pipeline.add_custom_lowering_pass(new Pass(use_tile_registers));
        pipeline.add_custom_lowering_pass(new Pass(prefetch_next_pass));
    }
    pipeline.add_custom_lowering_pass(new Pass(prefetch_to_second_cache));
    pipeline.add_custom_lowering_pass(new Pass(make_loads_dense));
    pipeline.add_custom_lowering_pass(new Pass(unclamp_masked_stores));
    pipeline.add_custom_lowering_pass(
        new Pass([types](const Stmt &body) { return half_as_bits(body, types); }));
}

}  // namespace hk::compiler
