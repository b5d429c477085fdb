#include "compiler/fetch_ahead.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/loop_nest.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// Registers of a thread for what is on its way: more cost blocks of a multiprocessor, or spills. A
// byte would have one of its own: kernels of bytes are bound by their instructions, which keeping
// adds to. Vectors of four words are few instructions for as many bytes, and feed units that need
// them.
constexpr int kMostRegisters = 16, kMostOfVectors = 32;
constexpr int kLeastBits = 16;

// Whether all that it loads and stores is in registers.
class TouchesMemory : public IRVisitor {
public:
    bool found = false;

    explicit TouchesMemory(const std::set<std::string> &registers) : registers_(registers) {}

private:
    using IRVisitor::visit;

    const std::set<std::string> &registers_;

    void visit(const Load *op) override {
        found |= registers_.count(op->name) == 0;
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        found |= registers_.count(op->name) == 0;
        IRVisitor::visit(op);
    }
    void visit(const Call *op) override {
        found |= !op->is_pure();
        IRVisitor::visit(op);
    }
};

// What only moves elements from global to shared memory, each store of its own type, in loops of
// known lengths.
class Copy : public IRVisitor {
public:
    int stores = 0;
    bool is_one = true, is_of_vectors = true;

    explicit Copy(const std::set<std::string> &shared) : shared_(shared) {}

private:
    using IRVisitor::visit;

    const std::set<std::string> &shared_;
    int times_ = 1;

    void visit(const Load *op) override {
        is_one &= op->image.defined() || op->param.defined();
        is_one &= op->type.bits() >= kLeastBits;
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        is_one &= shared_.count(op->name) > 0 && is_const_one(op->predicate);
        stores += times_ * op->value.type().lanes();
        is_of_vectors &= op->value.type() == UInt(32, 4);
        IRVisitor::visit(op);
    }
    void visit(const Evaluate *op) override { is_one &= is_const(op->value); }
    void visit(const For *op) override {
        const auto extent = as_const_int(op->extent);
        is_one &= op->for_type == ForType::Serial && extent && *extent <= kMostRegisters;
        if (!is_one) return;
        const int outside = times_;
        times_ *= static_cast<int>(*extent);
        IRVisitor::visit(op);
        times_ = outside;
    }
    void visit(const Allocate *) override { is_one = false; }
    void visit(const Atomic *) override { is_one = false; }
};

// The only load of a value, wherever it occurs; null where there are several.
const Load *only_load(const Expr &value) {
    class Loads : public IRVisitor {
    public:
        const Load *first = nullptr;
        bool several = false;

    private:
        using IRVisitor::visit;
        void visit(const Load *op) override {
            if (!first) first = op;
            several |= !equal(Expr(op), Expr(first));
        }
    } loads;
    value.accept(&loads);
    return loads.several ? nullptr : loads.first;
}

class ReplaceLoads : public IRMutator {
public:
    explicit ReplaceLoads(Expr by) : by_(std::move(by)) {}

private:
    using IRMutator::visit;
    const Expr by_;
    Expr visit(const Load *) override { return by_; }
};

// Unrolled copies in two halves: loads to registers, and what becomes of them in shared memory.
// Conversions and choices are of the second half: they wait for what was loaded.
class Halves {
public:
    explicit Halves(const std::vector<Stmt> &copies) {
        for (const Stmt &copy : copies) {
            const Stmt all = unrolled(copy);
            loads_.push_back(Half(*this, true).mutate(all));
            next_ = first_;
            stores_.push_back(Half(*this, false).mutate(all));
            first_ = next_;
        }
    }

    Stmt loads() const { return Block::make(loads_); }
    Stmt stores() const { return Block::make(stores_); }

    Stmt allocated_around(Stmt body) const {
        for (const auto &[type, name] : names_)
            body = Allocate::make(name, type, MemoryType::Register, {next_.at(type)}, const_true(),
                                  body);
        return body;
    }

private:
    class Half : public IRMutator {
    public:
        Half(Halves &halves, bool loads) : halves_(halves), loads_(loads) {}

    private:
        using IRMutator::visit;

        Halves &halves_;
        const bool loads_;

        Stmt visit(const Store *op) override {
            const Expr value = substitute_in_all_lets(op->value);
            const Load *load = only_load(value);
            const Expr kept = load ? Expr(load) : value;
            const Type type = kept.type(), element = type.element_of();
            const std::string &name = halves_.name_of(element);
            int &place = halves_.next_[element];
            const Expr at = type.is_scalar() ? Expr(place) : Ramp::make(place, 1, type.lanes());
            place += type.lanes();
            if (loads_)
                return Store::make(name, kept, at, Parameter(), const_true(type.lanes()),
                                   ModulusRemainder());
            const Expr back = Load::make(type, name, at, Buffer<>(), Parameter(),
                                         const_true(type.lanes()), ModulusRemainder());
            return Store::make(op->name, load ? ReplaceLoads(back).mutate(value) : back, op->index,
                               op->param, op->predicate, op->alignment);
        }
    };

    const std::string &name_of(Type type) {
        std::string &name = names_[type];
        if (name.empty()) name = unique_name("ahead");
        return name;
    }

    std::map<Type, std::string> names_;
    std::map<Type, int> first_, next_;
    std::vector<Stmt> loads_, stores_;
};

class FetchAhead : public IRMutator {
    using IRMutator::visit;

    bool in_threads_ = false;
    std::set<std::string> shared_, registers_;

    Stmt visit(const Allocate *op) override {
        if (op->memory_type == MemoryType::GPUShared) shared_.insert(op->name);
        if (op->memory_type == MemoryType::Register) registers_.insert(op->name);
        return IRMutator::visit(op);
    }

    Stmt visit(const For *op) override {
        if (op->for_type == ForType::GPUThread && op->device_api == DeviceAPI::CUDA) {
            const bool outside = in_threads_;
            in_threads_ = true;
            Stmt result = IRMutator::visit(op);
            in_threads_ = outside;
            return result;
        }
        if (in_threads_ && op->for_type == ForType::Serial) {
            const Stmt made = pipeline(op);
            if (made.defined()) return made;
        }
        return IRMutator::visit(op);
    }

    // Undefined where the loop is no such pipeline.
    Stmt pipeline(const For *op) {
        const Nest nest(op);
        std::vector<Stmt> list, copies;
        flatten(nest.body(), list);
        if (list.empty() || !is_barrier(list.back())) return Stmt();
        size_t at = 0;
        int stores = 0;
        bool ordered = false, is_of_vectors = true;
        for (; at < list.size(); at++) {
            if (is_barrier(list[at])) {
                ordered = true;
                continue;
            }
            Copy copy(shared_);
            list[at].accept(&copy);
            if (!copy.is_one) break;
            if (copy.stores == 0) continue;
            stores += copy.stores;
            is_of_vectors &= copy.is_of_vectors;
            copies.push_back(list[at]);
            ordered = false;
        }
        const int most = is_of_vectors ? kMostOfVectors : kMostRegisters;
        if (copies.empty() || !ordered || at == list.size() || stores > most) return Stmt();
        const Halves halves(copies);
        std::vector<Stmt> step = {halves.stores(), list[at - 1], nest.next(halves.loads())};
        for (; at < list.size(); at++) step.push_back(mutate(list[at]));
        return halves.allocated_around(
            Block::make(nest.first(halves.loads()), nest.around(Block::make(step))));
    }

    // A barrier right behind another one has nothing to wait for.
    Stmt visit(const Block *op) override {
        if (!in_threads_) return IRMutator::visit(op);
        std::vector<Stmt> list, kept;
        flatten(op, list);
        bool idle = false;
        for (auto stmt = list.rbegin(); stmt != list.rend(); stmt++) {
            TouchesMemory memory(registers_);
            stmt->accept(&memory);
            if (is_barrier(*stmt)) {
                if (!idle) kept.push_back(*stmt);
                idle = true;
                continue;
            }
            if (memory.found) idle = false;
            kept.push_back(mutate(*stmt));
        }
        return Block::make(std::vector<Stmt>(kept.rbegin(), kept.rend()));
    }
};

}  // namespace

Stmt fetch_ahead(const Stmt &stmt) { return FetchAhead().mutate(stmt); }

}  // namespace hk::compiler
