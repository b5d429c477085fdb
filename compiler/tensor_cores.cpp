#include "compiler/tensor_cores.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "compiler/matrix_operand.h"
#include "compiler/privatize_registers.h"
#include "compiler/swizzle.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

bool ends_with(const std::string &text, const std::string &end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

const std::string kProduct = ".product";

struct Term {
    std::string sums;
    Expr sum;  // its index
    Factor a, b;
};

[[noreturn]] void reject(const std::string &loop, const std::string &what) {
    throw CompileError("tensor cores in " + loop + ": " + what + "\n");
}

// Statements of which each is a value, of calls that have four.
class Emitter {
public:
    Emitter(const Operand &rows, const Operand &columns, std::string sums)
        : type_(rows.type().is_float() ? Float(32) : Int(32)),
          function_("hk_mma_" + name_of(rows.type()) +
                    (rows.type().is_float() ? "" : name_of(columns.type()))),
          sums_(std::move(sums)) {}

    Expr let(const std::string &name, const Expr &value) {
        lets_.emplace_back(unique_name(name), value);
        return Variable::make(value.type(), lets_.back().first);
    }

    // A thread's words of four matrices of 8 by 8, which 8 threads after 8 know the rows of.
    std::vector<Expr> matrices(const std::string &name, const Operand &of, const Expr &place) {
        if (of.loaded() > 0) return words(name, of, place);
        return four(name, of.across() ? "hk_ldmatrix_trans" : "hk_ldmatrix",
                    {cast<uint32_t>(simplify(place))}, UInt(32));
    }

    void product(std::vector<Expr> arguments, const std::vector<Expr> &columns,
                 const std::vector<Expr> &sums) {
        arguments.insert(arguments.end(), columns.begin(), columns.end());
        for (const Expr &sum : sums) {
            Expr &value = values_[*as_const_int(sum)];
            if (!value.defined())
                value = Load::make(type_, sums_, sum, Buffer<>(), Parameter(), const_true(),
                                   ModulusRemainder());
            arguments.push_back(value);
        }
        const std::vector<Expr> results = four("sum", function_, arguments, type_);
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
    const Type type_;  // of sums
    const std::string function_, sums_;
    std::vector<std::pair<std::string, Expr>> lets_;
    std::map<int64_t, Expr> values_;  // of sums

    static std::string name_of(Type type) {
        if (type == Float(32)) return "tf32";
        if (type == BFloat(16)) return "bf16";
        return type == Float(16) ? "f16" : type == UInt(8) ? "u8" : "s8";
    }

    // The same by loads, at a register and a number.
    std::vector<Expr> words(const std::string &name, const Operand &of, const Expr &place) {
        const std::string function = of.loaded() == 2 ? "hk_load_pair" : "hk_load_word";
        const Expr simple = simplify(place);
        const Add *sum = simple.as<Add>();
        const auto number = sum ? as_const_int(sum->b) : std::nullopt;
        const Expr base = cast<uint32_t>(number ? sum->a : simple);
        std::vector<Expr> all;
        for (int i = 0; i < 4 / of.loaded(); i++) {
            const Expr offset = make_const(Int(32), number.value_or(0) + i * of.next_load());
            const std::vector<Expr> some =
                several(of.loaded(), name, function, {base, offset}, UInt(32));
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }

    std::vector<Expr> four(const std::string &name, const std::string &function,
                           const std::vector<Expr> &arguments, Type type) {
        return several(4, name, function, arguments, type);
    }
    std::vector<Expr> several(int count, const std::string &name, const std::string &function,
                              const std::vector<Expr> &arguments, Type type) {
        std::vector<Expr> results;
        for (int i = 0; i < count; i++)
            results.push_back(let(name, Call::make(type, function + "_" + std::to_string(i),
                                                   arguments, Call::Extern)));
        return results;
    }
};

class TensorCores : public IRMutator {
    using IRMutator::visit;

    std::string thread_x_, thread_y_;
    bool in_device_ = false;
    std::map<std::string, Expr> lets_;  // of int32, in a kernel, in terms of what is no let there
    std::vector<Tile> tiles_;
    std::set<std::string> sums_;

    Expr visit(const Load *op) override {
        return sums_.count(op->name) ? registers_one_by_one(op) : IRMutator::visit(op);
    }

    Stmt visit(const Allocate *op) override {
        const Stmt result = IRMutator::visit(op);
        if (op->memory_type != MemoryType::GPUShared || tiles_.empty()) return result;
        return swizzle_copies(result, std::exchange(tiles_, {}));
    }

    Stmt visit(const For *op) override {
        if (!in_device_ && op->device_api == DeviceAPI::CUDA) {
            in_device_ = true;
            Stmt result = visit(op);
            in_device_ = false;
            return result;
        }
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
        if (device && ends_with(op->name, kProduct)) return products(op);
        return IRMutator::visit(op);
    }

    Stmt visit(const LetStmt *op) override {
        if (in_device_ && op->value.type() == Int(32))
            lets_[op->name] = substitute(lets_, op->value);
        return IRMutator::visit(op);
    }

    // sum[i] = sum[i] + f32(a) * f32(b), or of s32, each.
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
        const std::optional<Factor> a = product ? factor(product->a, lets) : std::nullopt;
        const std::optional<Factor> b = product ? factor(product->b, lets) : std::nullopt;
        const bool is_sum = a && b && before && before->name == store->name &&
                            equal(before->index, store->index) && is_const(store->index);
        // u8 is that of rows alone, which are put in order later.
        if (!is_sum || (a->type != b->type && a->type.bits() + b->type.bits() != 16) ||
            (a->type == UInt(8) && b->type == UInt(8))) {
            std::ostringstream message;
            message << "no sum in a register of products of f16, bf16, f32, or of u8 or s8 by s8: "
                    << Stmt(store);
            reject(loop, message.str());
        }
        return {store->name, store->index, *a, *b};
    }

    // What is loaded as f32, or as s32 where it is a byte.
    static std::optional<Factor> factor(const Expr &value,
                                        const std::map<std::string, Expr> &lets) {
        const Cast *cast = value.as<Cast>();
        Expr element = cast ? cast->value : value;
        const Type type = element.type();
        const bool byte = type == UInt(8) || type == Int(8);
        // Of as many bits: that is how they are read.
        if (const Cast *as = element.as<Cast>(); as && byte && as->value.type().bits() == 8)
            element = as->value;
        const Load *load = element.as<Load>();
        const bool known = type == Float(16) || type == BFloat(16) || type == Float(32) || byte;
        if (!load || !known || value.type() != (byte ? Int(32) : Float(32))) return std::nullopt;
        return Factor{load, type, substitute(lets, load->index)};
    }

    Stmt products(const For *op) {
        if (thread_x_.empty() || thread_y_.empty())
            reject(op->name, "threads are other than 4 in x by 8 in y");
        std::vector<Term> terms = terms_of(op);
        // Rows are those that other threads in x have, too.
        if (!expr_uses_var(terms[0].b.index, thread_y_))
            for (Term &term : terms) std::swap(term.a, term.b);
        Operand columns(Operand::Side::columns, op->name, thread_x_, thread_y_),
            rows(Operand::Side::rows, op->name, thread_x_, thread_y_);
        std::map<std::pair<size_t, size_t>, Expr> sums;  // by column and row
        for (const Term &term : terms) {
            if (term.sums != terms[0].sums) reject(op->name, "its sums are of several arrays");
            const size_t column = columns.add(term.a), row = rows.add(term.b);
            if (!sums.emplace(std::pair(column, row), term.sum).second)
                reject(op->name, "a product occurs twice");
        }
        const auto terms_of_loop = as_const_int(op->extent);
        const int step = columns.terms();
        if (!terms_of_loop || *terms_of_loop < step || *terms_of_loop % step != 0 ||
            !is_const_zero(op->min))
            reject(op->name, "it has other than " + std::to_string(step) + " terms, or a multiple");
        if (sums.size() != columns.size() * rows.size()) reject(op->name, "it is no outer product");
        columns.check();
        rows.check();
        if (columns.type() == UInt(8)) reject(op->name, "columns are u8, of which rows may be");
        const int steps = static_cast<int>(*terms_of_loop) / step;
        if (steps > 1 && !(columns.across() && rows.across()))
            reject(op->name, "it has more than " + std::to_string(step) + " terms along memory");
        return emit(terms[0].sums, columns, rows, sums, steps);
    }

    Stmt emit(const std::string &name, const Operand &columns, const Operand &rows,
              const std::map<std::pair<size_t, size_t>, Expr> &sums, int steps) {
        sums_.insert(name);
        tiles_.push_back(columns.tile());
        tiles_.push_back(rows.tile());
        Emitter emitter(rows, columns, name);
        const Expr column_place = emitter.let(kMatrixPlace, columns.first_place());
        Expr row_place;
        for (int step = 0; step < steps; step++) {
            std::vector<std::vector<Expr>> column_words;
            for (size_t column = 0; column < columns.size(); column += 2)
                column_words.push_back(
                    emitter.matrices("column", columns, columns.place(column_place, column, step)));
            if (step == 0 && !rows.gathered())
                row_place = emitter.let(kMatrixPlace, rows.first_place());
            for (size_t row = 0; row < rows.size(); row += 2) {
                if (rows.gathered()) row_place = emitter.let(kGatheredPlace, rows.first_place(row));
                for (int half = 0; half < 2; half++) {
                    const std::vector<Expr> row_words =
                        emitter.matrices("row", rows, rows.place(row_place, row, step, half));
                    for (size_t column = 0; column < columns.size(); column += 2) {
                        const auto &of = column_words[column / 2];
                        emitter.product(
                            row_words, {of[2 * half], of[2 * half + 1]},
                            {sums.at({column, row}), sums.at({column + 1, row}),
                             sums.at({column, row + 1}), sums.at({column + 1, row + 1})});
                    }
                }
            }
        }
        return emitter.statement();
    }
};

}  // namespace

bool has_products(const Stmt &stmt) {
    class Loops : public IRVisitor {
    public:
        bool found = false;

    private:
        using IRVisitor::visit;
        void visit(const For *op) override {
            found |= ends_with(op->name, kProduct);
            IRVisitor::visit(op);
        }
    } loops;
    stmt.accept(&loops);
    return loops.found;
}

bool uses_tensor_cores(const Stmt &stmt) {
    class Products : public IRVisitor {
    public:
        bool found = false;

    private:
        using IRVisitor::visit;
        void visit(const Call *op) override {
            found |= op->name.rfind("hk_mma_", 0) == 0;
            IRVisitor::visit(op);
        }
    } products;
    stmt.accept(&products);
    return products.found;
}

Stmt use_tensor_cores(const Stmt &stmt) { return TensorCores().mutate(stmt); }

}  // namespace hk::compiler
