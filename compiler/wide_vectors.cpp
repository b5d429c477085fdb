#include "compiler/wide_vectors.h"

#include <set>
#include <string>

#include "compiler/async_copies.h"
#include "compiler/tensor_cores.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kBits = 128, kWordBits = 32;

int words_in(const Type &vector) { return vector.bits() * vector.lanes() / kWordBits; }

class WidenVectors : public IRMutator {
    using IRMutator::visit;

    bool in_device_ = false, products_ = false;
    bool staged_ = false;  // in a loop of copies in stages
    Scope<ModulusRemainder> lets_;
    std::set<std::string> registers_;

    Stmt visit(const Allocate *op) override {
        if (op->memory_type == MemoryType::Register) registers_.insert(op->name);
        return IRMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        if (op->value.type() != Int(32)) return IRMutator::visit(op);
        const ScopedBinding<ModulusRemainder> bound(lets_, op->name,
                                                    modulus_remainder(op->value, lets_));
        return IRMutator::visit(op);
    }
    Stmt visit(const For *op) override {
        if (in_device_) {
            const ScopedValue<bool> staged(staged_, staged_ || stages_of(op->name).value_or(1) > 1);
            return IRMutator::visit(op);
        }
        if (op->device_api != DeviceAPI::CUDA) return IRMutator::visit(op);
        in_device_ = true;
        products_ = has_products(op);
        Stmt result = IRMutator::visit(op);
        in_device_ = products_ = false;
        return result;
    }

    // The place of a vector in words; undefined where it is none of four of them, or of two that
    // are copied in stages.
    Expr words_at(Type type, const Expr &index, const Parameter &buffer,
                  const ModulusRemainder &alignment) const {
        const Ramp *ramp = index.as<Ramp>();
        const int bits = type.bits() * type.lanes(), words = words_in(type);
        // What a kernel allocates begins at more.
        if (buffer.defined() && buffer.host_alignment() * 8 < bits) return Expr();
        const bool half = products_ && staged_ && type.bits() == 16 && bits == kBits / 2;
        const bool wide = type.bits() == 16 || (products_ && type.bits() == 8) ||
                          ((products_ || staged_) && type.element_of() == Float(32));
        if (!in_device_ || !wide || (bits != kBits && !half) || !ramp ||
            !is_const_one(ramp->stride))
            return Expr();
        const ModulusRemainder known = modulus_remainder(ramp->base, lets_);
        const int lanes = type.lanes();
        const auto whole = [&](const ModulusRemainder &at) {
            return at.modulus % lanes == 0 && at.remainder % lanes == 0;
        };
        if (!whole(alignment) && !whole(known)) return Expr();
        return Ramp::make(simplify(ramp->base / (lanes / words)), 1, words);
    }

    static bool always(const Expr &predicate) { return is_const_one(predicate); }

    // How many lanes a condition takes, the first ones. Halide compares such lanes in 16 bits.
    static Expr first_lanes(const Expr &condition) {
        const LT *less = condition.as<LT>();
        const Broadcast *end = less ? less->b.as<Broadcast>() : nullptr;
        if (!end) return Expr();
        const Cast *narrow = less->a.as<Cast>();
        const Ramp *ramp = (narrow ? narrow->value : less->a).as<Ramp>();
        if (!ramp || !is_const_one(ramp->stride)) return Expr();
        return cast<int32_t>(end->value) - cast<int32_t>(ramp->base);
    }

    Expr words_of(const Expr &vector) {
        const int count = words_in(vector.type());
        const Type words = UInt(kWordBits, count);
        const Select *choice = vector.as<Select>();
        if (const Expr first = choice ? first_lanes(choice->condition) : Expr();
            staged_ && first.defined() && is_const_zero(choice->false_value))
            return Call::make(
                words, kFirstBytes,
                {words_of(choice->true_value), simplify(first * vector.type().bytes())},
                Call::PureExtern);
        if (choice)
            if (const Broadcast *all = choice->condition.as<Broadcast>())
                return Select::make(Broadcast::make(all->value, count),
                                    words_of(choice->true_value), words_of(choice->false_value));
        if (const Reinterpret *of = vector.as<Reinterpret>(); of && of->value.type() == words)
            return of->value;
        if (is_const_zero(vector)) return make_zero(words);
        if (const Broadcast *all = vector.as<Broadcast>(); all && all->type == UInt(8, kBits / 8))
            return Broadcast::make(cast<uint32_t>(all->value) * make_const(UInt(32), 0x01010101),
                                   count);
        return Reinterpret::make(words, vector);
    }

    Expr visit(const Load *op) override {
        const Expr at = words_at(op->type, op->index, op->param, op->alignment);
        if (!at.defined() || !always(op->predicate) || registers_.count(op->name))
            return IRMutator::visit(op);
        const int words = words_in(op->type);
        return Reinterpret::make(
            op->type, Load::make(UInt(kWordBits, words), op->name, at, op->image, op->param,
                                 const_true(words), ModulusRemainder(words, 0)));
    }

    Stmt visit(const Store *op) override {
        const Expr at = words_at(op->value.type(), op->index, op->param, op->alignment);
        if (!at.defined() || !always(op->predicate) || registers_.count(op->name))
            return IRMutator::visit(op);
        const int words = words_in(op->value.type());
        return Store::make(op->name, words_of(mutate(op->value)), at, op->param, const_true(words),
                           ModulusRemainder(words, 0));
    }
};

}  // namespace

Stmt widen_vectors(const Stmt &stmt) { return WidenVectors().mutate(stmt); }

}  // namespace hk::compiler
