#include "compiler/clamps.h"

#include "compiler/tensor_cores.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

class ClampByInstruction : public IRMutator {
    using IRMutator::visit;

    bool products_ = false;

    Stmt visit(const For *op) override {
        if (products_ || op->device_api != DeviceAPI::CUDA) return IRMutator::visit(op);
        products_ = uses_tensor_cores(op);
        Stmt result = IRMutator::visit(op);
        products_ = false;
        return result;
    }

    // LLVM has the instruction as a function of numbers.
    static Expr called(const char *function, const Expr &a, const Expr &b) {
        const auto lane = [](const Expr &vector, int i) {
            if (vector.type().is_scalar()) return vector;
            const Broadcast *all = vector.as<Broadcast>();
            return all ? all->value : Shuffle::make_extract_element(vector, i);
        };
        const std::string name = unique_name("bounded");
        const Expr value = a.type().is_scalar() ? a : Variable::make(a.type(), name);
        std::vector<Expr> lanes;
        for (int i = 0; i < a.type().lanes(); i++)
            lanes.push_back(
                Call::make(Float(32), function, {lane(value, i), lane(b, i)}, Call::PureExtern));
        if (lanes.size() == 1) return lanes[0];
        return Let::make(name, a, Shuffle::make_concat(lanes));
    }

    // Of a NaN in place of the bound the choice is the value.
    static bool is_bound(const Expr &e) {
        const Broadcast *all = e.as<Broadcast>();
        const Expr one = all ? all->value : e;
        const Variable *argument = one.as<Variable>();
        return is_const(one) || (argument && argument->param.defined());
    }

    Expr visit(const Select *op) override {
        const Call *less = op->condition.as<Call>();
        const bool compares = products_ && op->type.element_of() == Float(32) && less &&
                              less->is_intrinsic(Call::strict_lt) && is_bound(op->true_value);
        if (!compares) return IRMutator::visit(op);
        const Expr &value = op->false_value, &bound = op->true_value;
        if (equal(less->args[0], value) && equal(less->args[1], bound))
            return called("llvm.maximum.f32", mutate(value), mutate(bound));
        if (equal(less->args[0], bound) && equal(less->args[1], value))
            return called("llvm.minimum.f32", mutate(value), mutate(bound));
        return IRMutator::visit(op);
    }
};

}  // namespace

Stmt clamp_by_instruction(const Stmt &stmt) { return ClampByInstruction().mutate(stmt); }

}  // namespace hk::compiler
