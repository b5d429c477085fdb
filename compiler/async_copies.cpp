#include "compiler/async_copies.h"

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "compiler/copies_of_words.h"
#include "compiler/loop_nest.h"
#include "compiler/outermost_copies.h"
#include "compiler/privatize_registers.h"
#include "compiler/step_numbers.h"
#include "compiler/tensor_cores.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

[[noreturn]] void reject(const std::string &loop, const std::string &what) {
    throw CompileError("stages of " + loop + ": " + what + "\n");
}

// Matrices, and words of the memory, are read from the stage at a place.
class ReadStage : public IRMutator {
public:
    // `gathered`: of what the outermost loop copies, if it does.
    ReadStage(std::string loop, Expr place, Expr gathered, std::string memory)
        : loop_(std::move(loop)),
          place_(std::move(place)),
          gathered_(std::move(gathered)),
          memory_(std::move(memory)) {}

private:
    using IRMutator::visit;

    const std::string loop_;
    const Expr place_, gathered_;
    const std::string memory_;

    static int summands(const Expr &expr) {
        if (const Add *sum = expr.as<Add>()) return summands(sum->a) + summands(sum->b);
        if (const Sub *sum = expr.as<Sub>()) return summands(sum->a) + summands(sum->b);
        const Mul *product = expr.as<Mul>();
        return product && is_const(product->b) ? summands(product->a) : 1;
    }

    // A multiple of 16 bytes, which LLVM must see to load four words at once: of the sums that it
    // makes of a product of a sum, no more than three. Constants are added last: LLVM makes them
    // the loads' offsets then.
    Expr visit(const Load *op) override {
        if (op->name != memory_) return IRMutator::visit(op);
        if (op->type != Float(32)) reject(loop_, "its sum reads other than words of f32");
        const Add *sum = op->index.as<Add>();
        const bool has_offset = sum && is_const(sum->b);
        const Expr words = has_offset ? sum->a : op->index, place = place_ >> 4;
        const Mul *fours = words.as<Mul>();
        const bool is_long = fours && is_const(fours->b, 4) && summands(fours->a) > 2;
        const Expr all = is_long ? (fours->a + place) * 4 : words + (place << 2);
        const Expr index = has_offset ? all + sum->b : all;
        return Load::make(op->type, op->name, index, op->image, op->param, op->predicate,
                          ModulusRemainder());
    }

    Stmt visit(const LetStmt *op) override {
        const bool is_place = op->name.rfind(kMatrixPlace, 0) == 0,
                   is_gathered = op->name.rfind(kGatheredPlace, 0) == 0;
        if (is_gathered && !gathered_.defined())
            reject(loop_, "rows are gathered that each step copies");
        const Expr place = is_gathered ? gathered_ : place_;
        return LetStmt::make(op->name, is_place ? op->value + place : op->value, mutate(op->body));
    }
};

// Copies, begun.
struct Copies {
    Stmt of_step, of_outermost;  // the latter undefined: none
};

// The numbers that a thread counts, after the loops' values of the slice whose copies begin next.
class Pipeline {
public:
    Pipeline(std::string loop, const Nest &nest, int stages, std::string memory, int bytes,
             bool has_outermost)
        : loop_(std::move(loop)),
          nest_(nest),
          stages_(stages),
          memory_(std::move(memory)),
          bytes_(bytes),
          loops_(static_cast<int>(nest.levels().size())),
          numbers_(loops_ + 3 + (has_outermost ? OutermostCopies::count_of_numbers(nest) : 0)) {
        if (!has_outermost) return;
        if (stages != OutermostCopies::kStages)
            reject(loop_, "what the outermost loop copies has other than two");
        outermost_.emplace(nest_, numbers_, loops_ + 3, bytes);
    }
    Pipeline(const Pipeline &) = delete;
    Pipeline &operator=(const Pipeline &) = delete;

    Stmt make(const Copies &copies, const Stmt &barrier, const Stmt &sum) const {
        Expr steps = 1;
        std::vector<Stmt> start;
        for (int i = 0; i < loops_; i++) {
            steps = steps * max(nest_.levels()[i].extent, 0);
            start.push_back(numbers_.set(i, nest_.levels()[i].min));
        }
        steps = simplify(steps);
        start.push_back(numbers_.set(left(), steps));
        start.push_back(numbers_.set(write(), 0));
        start.push_back(numbers_.set(read(), 0));
        if (outermost_) start.push_back(outermost_->start(copies.of_outermost, steps));
        const Stmt begin = begun(copies.of_step);
        for (int i = 0; i < stages_ - 1; i++) start.push_back(begin);
        const Expr gathered = outermost_ ? outermost_->read_place() : Expr();
        const Stmt summed = ReadStage(loop_, numbers_[read()], gathered, memory_).mutate(sum);
        const Stmt step = Block::make(
            {call_instruction("hk_cp_async_wait_" + std::to_string(stages_ - 2)), barrier,
             outermost_ ? outermost_->step(copies.of_outermost, begin, summed)
                        : Block::make(begin, summed),
             numbers_.set(read(), after(numbers_[read()]))});
        start.push_back(For::make(unique_name("step"), 0, steps, ForType::Serial, Partition::Never,
                                  DeviceAPI::None, step));
        return numbers_.allocated_around(Block::make(start));
    }

    Expr write_place() const { return numbers_[write()]; }
    Expr outermost_write_place() const { return outermost_->write_place(); }

private:
    const std::string loop_;
    const Nest &nest_;
    const int stages_;
    const std::string memory_;
    const int bytes_, loops_;
    const StepNumbers numbers_;
    std::optional<OutermostCopies> outermost_;

    int left() const { return loops_; }  // slices whose copies have not begun
    int write() const { return loops_ + 1; }
    int read() const { return loops_ + 2; }

    Expr after(const Expr &place) const {
        return select(place == (stages_ - 1) * bytes_, 0, place + bytes_);
    }

    // The copies of the next slice, if there is one, and on to the one after that.
    Stmt begun(const Stmt &copies) const {
        std::vector<Expr> values;
        for (int i = 0; i < loops_; i++) values.push_back(numbers_[i]);
        const std::vector<Expr> next = nest_.after(values).values;
        std::vector<std::pair<int, Expr>> sets;
        for (int i = 0; i < loops_; i++) sets.emplace_back(i, next[i]);
        return Block::make(
            {IfThenElse::make(numbers_[left()] > 0, nest_.at(values, copies)),
             call_instruction("hk_cp_async_commit"), numbers_.set(left(), numbers_[left()] - 1),
             numbers_.set(write(), after(numbers_[write()])), numbers_.set_all(sets)});
    }
};

class CopyAsynchronously : public IRMutator {
    using IRMutator::visit;

    bool in_kernel_ = false, in_threads_ = false;
    std::map<std::string, int64_t> bytes_;  // of allocations in shared memory
    std::map<std::string, int> stages_;     // of those that have some
    std::set<std::string> sums_;            // in registers
    Lets lets_, of_kernel_;

    Stmt visit(const LetStmt *op) override {
        lets_[op->name] = op->value;
        if (in_kernel_) of_kernel_[op->name] = op->value;
        return IRMutator::visit(op);
    }

    Stmt visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::GPUShared) return IRMutator::visit(op);
        bytes_[op->name] = op->constant_allocation_size() * op->type.bytes();
        const Stmt body = mutate(op->body);
        std::vector<Expr> extents = op->extents;
        const auto stages = stages_.find(op->name);
        if (stages != stages_.end()) extents[0] = simplify(extents[0] * stages->second);
        return Allocate::make(op->name, op->type, op->memory_type, extents, op->condition, body,
                              op->new_expr, op->free_function);
    }

    Expr visit(const Load *op) override {
        return sums_.count(op->name) ? registers_one_by_one(op) : IRMutator::visit(op);
    }

    Stmt visit(const For *op) override {
        const ScopedValue<bool> kernel(in_kernel_, in_kernel_ || op->device_api == DeviceAPI::CUDA);
        if (op->for_type == ForType::GPUThread && op->device_api == DeviceAPI::CUDA) {
            const ScopedValue<bool> threads(in_threads_, true);
            return IRMutator::visit(op);
        }
        const std::optional<int> stages = in_threads_ ? stages_of(op->name) : std::nullopt;
        return stages && *stages > 1 ? staged(op, *stages) : IRMutator::visit(op);
    }

    // Whether matrices or f32 are read from shared memory; what is stored then are sums.
    bool sums(const Stmt &stmt) {
        class Reads : public IRVisitor {
        public:
            explicit Reads(const std::map<std::string, int64_t> &shared) : shared_(shared) {}
            bool found = false;
            std::set<std::string> stored;

        private:
            using IRVisitor::visit;
            const std::map<std::string, int64_t> &shared_;

            void visit(const Store *op) override {
                stored.insert(op->name);
                IRVisitor::visit(op);
            }

            void visit(const LetStmt *op) override {
                found |= op->name.rfind(kMatrixPlace, 0) == 0;
                IRVisitor::visit(op);
            }
            void visit(const Load *op) override {
                found |= op->type == Float(32) && shared_.count(op->name) > 0;
                IRVisitor::visit(op);
            }
        } reads(bytes_);
        stmt.accept(&reads);
        if (reads.found) sums_.insert(reads.stored.begin(), reads.stored.end());
        return reads.found;
    }

    Stmt staged(const For *op, int stages) {
        Stmt loop = op;
        const Stmt of_outermost = take_outermost_copies(loop);
        const Nest nest(loop.as<For>());
        std::vector<Stmt> list, of_step, sum;
        flatten(nest.body(), list);
        Stmt barrier;
        for (const Stmt &stmt : list) {
            if (is_barrier(stmt))
                barrier = stmt;
            else if (sums(stmt))
                sum.push_back(stmt);
            else
                (sum.empty() ? of_step : sum).push_back(unrolled(stmt));
        }
        const Stmt summed = Block::make(sum);
        // The outermost loop's value is that of the step whose copies begin.
        const auto changes = [&] {
            return of_outermost.defined() ? nest.changes_with_outermost(summed)
                                          : nest.changes(summed);
        };
        if (sum.empty() || of_step.empty() || !barrier.defined() || changes())
            reject(op->name, "it is no loop of copies and products of matrices or f32");
        const Stmt copies = Block::make(of_step);
        // The memory's size is asked for once the copies say which it is.
        const std::string memory = begin_copies(op->name, copies, {0, {}, {}}).memory;
        const int64_t bytes = bytes_.at(memory);
        const Pipeline pipeline(op->name, nest, stages, memory, static_cast<int>(bytes),
                                of_outermost.defined());
        Copies begun{
            begin_copies(op->name, copies, {pipeline.write_place(), lets_, of_kernel_}).copies, {}};
        if (of_outermost.defined()) {
            const Begun outermost = begin_copies(
                op->name, of_outermost, {pipeline.outermost_write_place(), lets_, of_kernel_});
            if (outermost.memory != memory) reject(op->name, "its copies are to several memories");
            begun.of_outermost = outermost.copies;
        }
        stages_[memory] = stages;
        return pipeline.make(begun, barrier, summed);
    }
};

}  // namespace

std::optional<int> stages_of(const std::string &loop) {
    const std::string mark = ".stages_";
    const size_t at = loop.rfind(mark);
    if (at == std::string::npos) return std::nullopt;
    return std::stoi(loop.substr(at + mark.size()));
}

Stmt copy_asynchronously(const Stmt &stmt) { return CopyAsynchronously().mutate(stmt); }

}  // namespace hk::compiler
