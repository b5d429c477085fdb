#include "compiler/half_as_bits.h"

#include <string>
#include <vector>

#include "compiler/tensor_cores.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// compiler/instruction_calls.h
constexpr const char *kRoundToBf16 = "hk_cvt_bf16x2_0", *kRoundToF16 = "hk_cvt_f16x2_0";

// Of a value that is evaluated once, branches of it too.
Expr rounded_once(const Expr &value, Expr (*bits)(const Expr &)) {
    const std::string name = unique_name("unrounded");
    return Let::make(name, value, bits(Variable::make(value.type(), name)));
}

Expr bf16_bits(const Expr &value) {
    const Type u32 = UInt(32, value.type().lanes());
    const Expr bits = reinterpret(u32, value);
    const Expr upper = bits >> 16;
    const Expr rounded = (bits + 0x7fff + (upper & 1)) >> 16;
    const Expr is_nan = (bits & 0x7fffffff) > make_const(u32, 0x7f800000);
    return cast(UInt(16, value.type().lanes()), select(is_nan, upper | 0x40, rounded));
}

// The same by an instruction, of two at once. Its NaN is 0x7fff.
Expr bits_of_pairs(const Expr &value, const char *instruction) {
    const auto round = [&](const Expr &high, const Expr &low) {
        return Call::make(UInt(32), instruction, {high, low}, Call::Extern);
    };
    const int lanes = value.type().lanes();
    if (lanes == 1) return cast(UInt(16), round(make_zero(Float(32)), value));
    const std::string name = unique_name("rounded");
    const Expr all = Variable::make(value.type(), name);
    const auto lane = [&](int i) {
        return i < lanes ? Shuffle::make_extract_element(all, i) : make_zero(Float(32));
    };
    std::vector<Expr> words;
    for (int i = 0; i < lanes; i += 2) words.push_back(round(lane(i + 1), lane(i)));
    Expr bits = reinterpret(UInt(16, 2 * static_cast<int>(words.size())),
                            words.size() == 1 ? words[0] : Shuffle::make_concat(words));
    if (lanes % 2 != 0) bits = Shuffle::make_slice(bits, 0, 1, lanes);
    return Let::make(name, value, bits);
}

Expr f16_bits(const Expr &value) {
    const Type u32 = UInt(32, value.type().lanes());
    const Expr bits = reinterpret(u32, value);
    const Expr magnitude = bits & 0x7fffffff;
    // 0.5f has the unit in the last place of f16's subnormals, so that adding it rounds to them.
    const Expr small = reinterpret(u32, reinterpret(value.type(), magnitude) + 0.5f) - 0x3f000000;
    const Expr normal = ((magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13) - (112 << 10);
    const Expr nan = 0x7e00 | ((magnitude >> 13) & 0x3ff);
    const Expr result = select(magnitude > make_const(u32, 0x7f800000), nan,  //
                               magnitude >= make_const(u32, 0x477ff000), make_const(u32, 0x7c00),
                               magnitude < make_const(u32, 0x38800000), small, normal);
    return cast(UInt(16, value.type().lanes()), result | ((bits >> 16) & 0x8000));
}

// Expressions of a narrow type become expressions of its bits.
class NarrowTypes : public IRMutator {
public:
    using IRMutator::mutate;

    explicit NarrowTypes(HalfTypes types) : types_(types) {}

private:
    using IRMutator::visit;

    const HalfTypes types_;

    bool narrow(Type type) const {
        return type.is_bfloat() ? types_.bf16 : type.is_float() && type.bits() == 16 && types_.f16;
    }
    static Type bits_type(Type type) { return UInt(16, type.lanes()); }

    Expr to_f32(const Expr &bits, Type type) const {
        if (type.is_bfloat()) return bfloat16_to_float32(bits);
        return types_.in_pairs ? cast(Float(32, type.lanes()), reinterpret(type, bits))
                               : float16_to_float32(bits);
    }
    Expr from_f32(const Expr &value, Type type) const {
        if (types_.in_pairs)
            return bits_of_pairs(value, type.is_bfloat() ? kRoundToBf16 : kRoundToF16);
        return rounded_once(value, type.is_bfloat() ? bf16_bits : f16_bits);
    }

    Expr visit(const FloatImm *op) override {
        if (!narrow(op->type)) return op;
        const uint16_t bits =
            op->type.is_bfloat() ? bfloat16_t(op->value).to_bits() : float16_t(op->value).to_bits();
        return make_const(UInt(16), bits);
    }

    Expr visit(const Variable *op) override {
        return narrow(op->type) ? Variable::make(bits_type(op->type), op->name) : Expr(op);
    }

    Expr visit(const Cast *op) override {
        const Type from = op->value.type(), to = op->type;
        if (!narrow(from) && !narrow(to)) return IRMutator::visit(op);
        const Type f32 = Float(32, to.lanes());
        Expr value = mutate(op->value);
        value = narrow(from) ? to_f32(value, from) : cast(f32, value);
        return narrow(to) ? from_f32(value, to) : cast(to, value);
    }

    Expr visit(const Reinterpret *op) override {
        const Expr value = mutate(op->value);
        const Type type = narrow(op->type) ? bits_type(op->type) : op->type;
        // A vector's bits as words, which it may be made of.
        if (const Let *let = value.as<Let>())
            return Let::make(let->name, let->value, as_bits(let->body, type));
        return as_bits(value, type);
    }

    static Expr as_bits(const Expr &value, Type type) {
        if (const Reinterpret *bits = value.as<Reinterpret>(); bits && bits->value.type() == type)
            return bits->value;
        return value.type() == type ? value : Reinterpret::make(type, value);
    }

    Expr visit(const Load *op) override {
        if (!narrow(op->type)) return IRMutator::visit(op);
        return Load::make(bits_type(op->type), op->name, mutate(op->index), op->image, op->param,
                          mutate(op->predicate), op->alignment);
    }

    Stmt visit(const Allocate *op) override {
        if (!narrow(op->type)) return IRMutator::visit(op);
        return Allocate::make(op->name, bits_type(op->type), op->memory_type, op->extents,
                              op->condition, mutate(op->body), op->new_expr, op->free_function);
    }

    // What Halide makes of sums, differences and products of two values that were cast to f32.
    Expr widened(const Call *op) {
        const Expr a = to_f32(mutate(op->args[0]), op->args[0].type());
        const Expr b = to_f32(mutate(op->args[1]), op->args[1].type());
        if (op->is_intrinsic(Call::widening_add)) return a + b;
        return op->is_intrinsic(Call::widening_sub) ? a - b : a * b;
    }

    Expr visit(const Call *op) override {
        const bool widens =
            op->is_intrinsic({Call::widening_add, Call::widening_sub, Call::widening_mul});
        if (widens && narrow(op->args[0].type()) && narrow(op->args[1].type())) return widened(op);
        if (op->is_intrinsic(Call::if_then_else) && narrow(op->type)) {
            std::vector<Expr> arguments;
            for (const Expr &argument : op->args) arguments.push_back(mutate(argument));
            return Call::make(bits_type(op->type), op->name, arguments, op->call_type);
        }
        bool touched = narrow(op->type);
        for (const Expr &argument : op->args) touched |= narrow(argument.type());
        if (touched)
            throw CompileError("half_as_bits: " + op->name +
                               " of a 16-bit float; compute it in f32.\n");
        return IRMutator::visit(op);
    }

    // Exact: f32 holds sums, differences, products and quotients of f16 or bf16 well enough that
    // the second rounding does no harm (24 >= 2 * 11 + 2 bits).
    template<typename Node>
    Expr in_f32(const Node *op) {
        const Type type = op->a.type();
        if (!narrow(type)) return IRMutator::visit(op);
        const Expr result = Node::make(to_f32(mutate(op->a), type), to_f32(mutate(op->b), type));
        return narrow(op->type) ? from_f32(result, type) : result;
    }
    Expr visit(const Add *op) override { return in_f32(op); }
    Expr visit(const Sub *op) override { return in_f32(op); }
    Expr visit(const Mul *op) override { return in_f32(op); }
    Expr visit(const Div *op) override { return in_f32(op); }
    Expr visit(const Min *op) override { return in_f32(op); }
    Expr visit(const Max *op) override { return in_f32(op); }
    Expr visit(const EQ *op) override { return in_f32(op); }
    Expr visit(const NE *op) override { return in_f32(op); }
    Expr visit(const LT *op) override { return in_f32(op); }
    Expr visit(const LE *op) override { return in_f32(op); }
    Expr visit(const GT *op) override { return in_f32(op); }
    Expr visit(const GE *op) override { return in_f32(op); }
};

class DeviceLoops : public IRMutator {
public:
    using IRMutator::mutate;

    explicit DeviceLoops(HalfTypes types) : types_(types) {}

private:
    using IRMutator::visit;

    const HalfTypes types_;

    Stmt visit(const For *op) override {
        const bool device =
            op->device_api == DeviceAPI::OpenCL || op->device_api == DeviceAPI::CUDA;
        if (!device) return IRMutator::visit(op);
        HalfTypes types = types_;
        types.f16 |= uses_tensor_cores(op);
        return NarrowTypes(types).mutate(Stmt(op));
    }
};

}  // namespace

HalfTypes half_types_without_hardware(const Target &target) {
    HalfTypes types;
    types.bf16 = target.has_gpu_feature();
    types.in_pairs = target.get_cuda_capability_lower_bound() >= 80;
    types.f16 = target.has_feature(Target::OpenCL) && !target.has_feature(Target::CLHalf);
    types.f16_on_host = target.arch == Target::X86 && !target.has_feature(Target::F16C) &&
                        !target.has_gpu_feature();
    return types;
}

Stmt half_as_bits(const Stmt &body, HalfTypes types) {
    const Stmt device = DeviceLoops(types).mutate(body);
    return types.f16_on_host ? NarrowTypes({.f16 = true}).mutate(device) : device;
}

}  // namespace hk::compiler
