#include "compiler/tensor_cores.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "compiler/swizzle.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kTerms = 32;  // of a loop: two products of 16
constexpr int kLanesX = 4, kLanesY = 8;
constexpr int kOfThread = 8;  // columns of a thread that are neighbours
constexpr int kVector = 8;    // terms that a thread reads at once
constexpr int kWords = 4;     // that they are
constexpr int kOfWarp = kLanesX * kOfThread;

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// A factor: f32(memory[index]).
struct Factor {
    const Load *load;
    Expr index;  // lets in place

    bool operator==(const Factor &other) const {
        return load->name == other.load->name && equal(index, other.index);
    }
};

struct Term {
    std::string sums;
    Expr sum;  // its index
    Factor a, b;
};

[[noreturn]] void reject(const std::string &loop, const std::string &what) {
    throw CompileError("tensor cores in " + loop + ": " + what + "\n");
}

// One factor of all products of a loop: its elements, in the order of their places.
class Operand {
public:
    Operand(std::string loop, const char *what) : loop_(std::move(loop)), what_(what) {}

    size_t add(const Factor &factor) {
        const auto found = std::find(elements_.begin(), elements_.end(), factor);
        const auto place = static_cast<size_t>(found - elements_.begin());
        if (found == elements_.end()) elements_.push_back(factor);
        return place;
    }

    size_t size() const { return elements_.size(); }
    Type type() const { return elements_[0].load->type; }

    // Elements from the first one.
    int offset(size_t element, size_t from = 0) const {
        return constant(elements_[element].index - elements_[from].index, "not a constant apart");
    }

    // How far its place moves with a variable.
    int step(const std::string &variable) const {
        const Expr next =
            substitute(variable, Variable::make(Int(32), variable) + 1, elements_[0].index);
        return constant(next - elements_[0].index, "no multiple of " + variable);
    }

    // The place of an element, the thread's with these values of variables, of which it is a
    // multiple.
    Expr place(size_t element, const std::map<std::string, Expr> &values, int multiple) const {
        const Expr index = simplify(substitute(values, elements_[element].index));
        const ModulusRemainder at = modulus_remainder(index);
        if (at.modulus % multiple != 0 || at.remainder % multiple != 0) {
            std::ostringstream message;
            message << what_ << " are read from " << index << ", no multiple of " << multiple;
            reject(loop_, message.str());
        }
        return index;
    }

    const std::string &memory() const { return elements_[0].load->name; }

private:
    const std::string loop_, what_;
    std::vector<Factor> elements_;

    int constant(const Expr &difference, const std::string &otherwise) const {
        const Expr simple = simplify(difference);
        if (const auto value = as_const_int(simple)) return static_cast<int>(*value);
        std::ostringstream message;
        message << "places of " << what_ << " are " << otherwise << ": " << simple;
        reject(loop_, message.str());
    }
};

// Statements of which each is a value, of calls that have four.
class Emitter {
public:
    Emitter(Type type, std::string sums)
        : function_(type == Float(16) ? "hk_mma_f16" : "hk_mma_bf16"), sums_(std::move(sums)) {}

    Expr let(const std::string &name, const Expr &value) {
        lets_.emplace_back(unique_name(name), value);
        return Variable::make(value.type(), lets_.back().first);
    }

    // A thread's words of four matrices of 8 by 8, which 8 threads after 8 know the rows of.
    std::vector<Expr> matrices(const std::string &name, const Expr &place) {
        return four(name, "hk_ldmatrix", {cast<uint32_t>(simplify(place))}, UInt(32));
    }

    void product(std::vector<Expr> arguments, const std::vector<Expr> &columns,
                 const std::vector<Expr> &sums) {
        arguments.insert(arguments.end(), columns.begin(), columns.end());
        for (const Expr &sum : sums) {
            Expr &value = values_[*as_const_int(sum)];
            if (!value.defined())
                value = Load::make(Float(32), sums_, sum, Buffer<>(), Parameter(), const_true(),
                                   ModulusRemainder());
            arguments.push_back(value);
        }
        const std::vector<Expr> results = four("sum", function_, arguments, Float(32));
        for (size_t i = 0; i < sums.size(); i++) values_[*as_const_int(sums[i])] = results[i];
    }

    Stmt statement() const {
        std::vector<Stmt> stores;
        for (const auto &[sum, value] : values_)
            stores.push_back(Store::make(sums_, value, static_cast<int>(sum), Parameter(),
                                         const_true(), ModulusRemainder()));
        Stmt result = Block::make(stores);
        for (auto one = lets_.rbegin(); one != lets_.rend(); one++)
            result = LetStmt::make(one->first, one->second, result);
        return result;
    }

private:
    const std::string function_, sums_;
    std::vector<std::pair<std::string, Expr>> lets_;
    std::map<int64_t, Expr> values_;  // of sums

    std::vector<Expr> four(const std::string &name, const std::string &function,
                           const std::vector<Expr> &arguments, Type type) {
        std::vector<Expr> results;
        for (int i = 0; i < 4; i++)
            results.push_back(let(name, Call::make(type, function + "_" + std::to_string(i),
                                                   arguments, Call::Extern)));
        return results;
    }
};

class TensorCores : public IRMutator {
    using IRMutator::visit;

    std::string thread_x_, thread_y_;
    std::map<std::string, Expr> lets_;  // of int32, in terms of what is no let
    std::vector<Tile> tiles_;
    std::set<std::string> sums_;

    // One by one: LLVM keeps in pairs what is loaded as a vector, and ptxas moves them for each
    // product.
    Expr visit(const Load *op) override {
        const Ramp *ramp = op->index.as<Ramp>();
        if (!ramp || !sums_.count(op->name) || !is_const(ramp->base)) return IRMutator::visit(op);
        std::vector<Expr> elements;
        for (int i = 0; i < ramp->lanes; i++)
            elements.push_back(Load::make(op->type.element_of(), op->name,
                                          simplify(ramp->base + i * ramp->stride), op->image,
                                          op->param, const_true(), ModulusRemainder()));
        return Shuffle::make_concat(elements);
    }

    Stmt visit(const Allocate *op) override {
        const Stmt result = IRMutator::visit(op);
        if (op->memory_type != MemoryType::GPUShared || tiles_.empty()) return result;
        return swizzle_copies(result, std::exchange(tiles_, {}));
    }

    Stmt visit(const For *op) override {
        if (op->for_type == ForType::GPUThread && op->device_api == DeviceAPI::CUDA) {
            std::string &name = ends_with(op->name, ".thread_id_x") ? thread_x_ : thread_y_;
            const int lanes = ends_with(op->name, ".thread_id_x") ? kLanesX : kLanesY;
            if (ends_with(op->name, ".thread_id_z")) return IRMutator::visit(op);
            const std::string outside =
                std::exchange(name, is_const(op->extent, lanes) ? op->name : "");
            Stmt result = IRMutator::visit(op);
            name = outside;
            return result;
        }
        const bool device = !thread_x_.empty() || !thread_y_.empty();
        if (device && ends_with(op->name, ".product")) return products(op);
        return IRMutator::visit(op);
    }

    Stmt visit(const LetStmt *op) override {
        if (op->value.type() == Int(32)) lets_[op->name] = substitute(lets_, op->value);
        return IRMutator::visit(op);
    }

    // sum[i] = sum[i] + f32(a) * f32(b), each.
    std::vector<Term> terms_of(const For *op) const {
        std::vector<Term> terms;
        std::vector<Stmt> rest = {op->body};
        std::map<std::string, Expr> lets = lets_;
        while (!rest.empty()) {
            const Stmt stmt = rest.back();
            rest.pop_back();
            if (const Block *block = stmt.as<Block>()) {
                rest.push_back(block->rest);
                rest.push_back(block->first);
            } else if (const ProducerConsumer *part = stmt.as<ProducerConsumer>()) {
                rest.push_back(part->body);
            } else if (const LetStmt *let = stmt.as<LetStmt>()) {
                lets[let->name] = substitute(lets, let->value);
                rest.push_back(let->body);
            } else if (const Store *store = stmt.as<Store>()) {
                terms.push_back(term_of(op->name, store, lets));
            } else {
                reject(op->name, "there is more than sums of products in it");
            }
        }
        return terms;
    }

    static Term term_of(const std::string &loop, const Store *store,
                        const std::map<std::string, Expr> &lets) {
        const Add *sum = store->value.as<Add>();
        const Load *before = sum ? sum->a.as<Load>() : nullptr;
        const Mul *product = sum ? sum->b.as<Mul>() : nullptr;
        const Cast *a = product ? product->a.as<Cast>() : nullptr;
        const Cast *b = product ? product->b.as<Cast>() : nullptr;
        const Load *of_a = a ? a->value.as<Load>() : nullptr;
        const Load *of_b = b ? b->value.as<Load>() : nullptr;
        const bool is_sum = of_a && of_b && before && before->name == store->name &&
                            equal(before->index, store->index) && is_const(store->index) &&
                            a->type == Float(32) && b->type == Float(32);
        if (!is_sum || of_a->type != of_b->type || !known(of_a->type)) {
            std::ostringstream message;
            message << "no sum in a register of products of f16 or bf16: " << Stmt(store);
            reject(loop, message.str());
        }
        return {store->name,
                store->index,
                {of_a, substitute(lets, of_a->index)},
                {of_b, substitute(lets, of_b->index)}};
    }

    static bool known(Type type) { return type == Float(16) || type == BFloat(16); }

    Stmt products(const For *op) {
        if (!is_const(op->extent, kTerms) || !is_const_zero(op->min))
            reject(op->name, "it has other than 32 terms");
        if (thread_x_.empty() || thread_y_.empty())
            reject(op->name, "threads are other than 4 in x by 8 in y");
        std::vector<Term> terms = terms_of(op);
        // Rows are those that other threads in x have, too.
        if (!expr_uses_var(terms[0].b.index, thread_y_))
            for (Term &term : terms) std::swap(term.a, term.b);
        Operand columns(op->name, "columns"), rows(op->name, "rows");
        std::map<std::pair<size_t, size_t>, Expr> sums;  // by column and row
        for (const Term &term : terms) {
            if (term.sums != terms[0].sums) reject(op->name, "its sums are of several arrays");
            const size_t column = columns.add(term.a), row = rows.add(term.b);
            if (!sums.emplace(std::pair(column, row), term.sum).second)
                reject(op->name, "a product occurs twice");
        }
        if (sums.size() != columns.size() * rows.size()) reject(op->name, "it is no outer product");
        check(op->name, columns, rows);
        return emit(op, terms[0].sums, columns, rows, sums);
    }

    void check(const std::string &loop, const Operand &columns, const Operand &rows) const {
        if (columns.size() % kOfThread != 0 || rows.size() % 2 != 0)
            reject(loop, "a thread has other than multiples of 8 columns and of 2 rows");
        if (columns.step(loop) != 1 || rows.step(loop) != 1)
            reject(loop, "terms are not next to each other");
        if (columns.step(thread_y_) != 0 || rows.step(thread_x_) != 0)
            reject(loop, "columns are not the same for all threads in y, or rows in x");
        const int apart = columns.offset(1);
        if (apart != kTerms || rows.step(thread_y_) != kTerms)
            reject(loop, "a column, or row, is not next to another");
        if (columns.step(thread_x_) != kOfThread * apart)
            reject(loop, "columns of neighbours in x do not follow one another");
        for (size_t i = 0; i < columns.size(); i++)
            if (columns.offset(i, i / kOfThread * kOfThread) !=
                static_cast<int>(i % kOfThread) * apart)
                reject(loop, "columns of a thread do not follow one another");
        for (size_t i = 0; i < columns.size(); i += kOfThread)
            if (columns.offset(i) % (kOfWarp * kTerms) != 0)
                reject(loop, "columns of a warp are no multiple of 32");
        for (size_t i = 0; i < rows.size(); i += 2)
            if (rows.offset(i) % (kLanesY * kTerms) != 0 || rows.offset(i + 1, i) != rows.offset(1))
                reject(loop, "rows of a thread are no multiples of 8 apart");
    }

    int64_t start_of(const Operand &operand, const std::string &loop) const {
        class Zeros : public IRMutator {
            using IRMutator::visit;
            Expr visit(const Variable *op) override { return make_zero(op->type); }
        } zeros;
        const auto start = as_const_int(simplify(zeros.mutate(operand.place(0, {}, 1))));
        if (!start) reject(loop, "it is not known where a factor starts");
        return *start;
    }

    // Of a product of 16 rows by 8 columns a thread has, of the rows y and 8 + y, columns 2 x and 2
    // x + 1. Rows are its own two; columns those that it has sums of: of the whole warp's 32 the
    // j-th product has n / 2 * 8 + 2 j + n % 2, n of 8. The eight rows of a matrix are read from
    // where threads say, 8 after 8 of the warp for each of four matrices.
    Stmt emit(const For *op, const std::string &name, const Operand &columns, const Operand &rows,
              const std::map<std::pair<size_t, size_t>, Expr> &sums) {
        const Expr x = Variable::make(Int(32), thread_x_), y = Variable::make(Int(32), thread_y_);
        const Expr n = x + y % 2 * kLanesX, matrix = y / 2;
        sums_.insert(name);
        tiles_.push_back({columns.memory(), start_of(columns, op->name), Tile::kPairs});
        tiles_.push_back({rows.memory(), start_of(rows, op->name), Tile::kNeighbours});
        Emitter emitter(columns.type(), name);

        const Expr of_column = columns.place(0, {{op->name, 0}, {thread_x_, 0}}, kOfWarp * kTerms) +
                               (n / 2 * kOfThread + n % 2) * kTerms + matrix * kVector;
        const Expr column_place =
            emitter.let(kMatrixPlace, swizzled(of_column * 2, Tile::kPairs, 16));
        std::vector<std::vector<Expr>> column_words;
        for (size_t column = 0; column < columns.size(); column += 2)
            column_words.push_back(
                emitter.matrices("column", column_place + columns.offset(column) * 2));

        const Expr of_row = rows.place(0, {{op->name, 0}, {thread_y_, 0}}, kLanesY * kTerms) +
                            n * kTerms + matrix % 2 * rows.offset(1) + matrix / 2 * kVector;
        const Expr row_place =
            emitter.let(kMatrixPlace, swizzled(of_row * 2, Tile::kNeighbours, 16));
        for (size_t row = 0; row < rows.size(); row += 2) {
            for (int half = 0; half < 2; half++) {
                const std::vector<Expr> row_words =
                    emitter.matrices("row", (row_place ^ (half * 32)) + rows.offset(row) * 2);
                for (size_t column = 0; column < columns.size(); column += 2) {
                    const auto &of = column_words[column / 2];
                    emitter.product(row_words, {of[2 * half], of[2 * half + 1]},
                                    {sums.at({column, row}), sums.at({column + 1, row}),
                                     sums.at({column, row + 1}), sums.at({column + 1, row + 1})});
                }
            }
        }
        return emitter.statement();
    }
};

}  // namespace

Stmt use_tensor_cores(const Stmt &stmt) { return TensorCores().mutate(stmt); }

}  // namespace hk::compiler
