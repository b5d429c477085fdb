#include "compiler/tile_registers.h"

#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kMostRows = 16, kRowBytes = 64;
constexpr int kSums = kMostRows * kRowBytes / 4;

[[noreturn]] void reject(const std::string &loop, const std::string &what, const Stmt &stmt) {
    std::ostringstream message;
    message << "tile registers in " << loop << ": " << what << ": " << stmt << "\n";
    throw CompileError(message.str());
}

// Loops around a store.
struct Nest {
    struct Loop {
        std::string name;
        int extent;
    };
    std::vector<Loop> loops;           // the first ones are of a tile's rows
    std::map<std::string, Expr> lets;  // between them
    const Store *store = nullptr;

    explicit Nest(const For *outermost) {
        Stmt stmt = outermost;
        while (!store) {
            if (const For *loop = stmt.as<For>()) {
                const auto extent = as_const_int(loop->extent);
                if (!extent || !is_const_zero(loop->min))
                    reject(outermost->name, "the length of a loop is not known", stmt);
                loops.push_back({loop->name, static_cast<int>(*extent)});
                stmt = loop->body;
            } else if (const LetStmt *let = stmt.as<LetStmt>()) {
                lets[let->name] = substitute(lets, let->value);
                stmt = let->body;
            } else if (const Store *found = stmt.as<Store>()) {
                store = found;
            } else {
                reject(outermost->name, "there is more than a sum of products", stmt);
            }
        }
    }

    // Of an index, in terms of the loops.
    Expr of(const Expr &index) const { return substitute(lets, index); }

    Expr first(Expr index) const {
        for (const Loop &loop : loops) index = substitute(loop.name, Expr(0), index);
        return simplify(index);
    }

    // How far the index moves with a loop, which is the same everywhere.
    Expr step(const Expr &index, size_t loop) const {
        const std::string &name = loops[loop].name;
        const Expr step =
            simplify(substitute(name, Variable::make(Int(32), name) + 1, index) - index);
        for (const Loop &one : loops)
            if (expr_uses_var(step, one.name))
                reject(loops[0].name, "a place is no sum of multiples of the loops", Stmt(store));
        return step;
    }
    bool steps_by(const Expr &index, size_t loop, int step) const {
        return is_const(this->step(index, loop), step);
    }

    // The same of the rows, which the first loops count, and their number.
    int rows(size_t count) const {
        int all = 1;
        for (size_t i = 0; i < count; i++) all *= loops[i].extent;
        return all;
    }
    Expr row_step(const Expr &index, size_t count) const {
        const Expr inner = step(index, count - 1);
        if (count == 2 && !is_const_zero(simplify(step(index, 0) - inner * loops[1].extent)))
            reject(loops[0].name, "rows are not the same distance apart", Stmt(store));
        return inner;
    }
};

Expr whole_tile() { return Ramp::make(0, 1, kSums); }

Expr sums_of(const std::string &tile, const Type &type) {
    return Load::make(type.with_lanes(kSums), tile, whole_tile(), Buffer<>(), Parameter(),
                      const_true(kSums), ModulusRemainder());
}

Stmt set_sums(const std::string &tile, const Expr &value) {
    return Store::make(tile, value, whole_tile(), Parameter(), const_true(kSums),
                       ModulusRemainder());
}

Expr bytes(const Expr &elements, const Type &type) {
    return cast<int64_t>(elements) * type.bytes();
}

// The sums of one `produce`.
class TilesOfSum : public IRMutator {
public:
    explicit TilesOfSum(std::string sum) : sum_(std::move(sum)) {}

    // With tiles stored behind it.
    Stmt of(const Stmt &body) {
        std::vector<Stmt> parts = {mutate(body)};
        if (tiles_.empty()) return body;
        for (const auto &[place, tile] : tiles_)
            parts.push_back(Evaluate::make(Call::make(
                Int(32), "tile_store",
                {rows_, columns_ * 4, Variable::make(Handle(), sum_),
                 bytes(static_cast<int>(place), type_), bytes(pitch_, type_), sums_of(tile, type_)},
                Call::Intrinsic)));
        Stmt all = Block::make(parts);
        for (const auto &[place, tile] : tiles_)
            all = Allocate::make(tile, type_.with_lanes(kSums), MemoryType::AMXTile, {1},
                                 const_true(), all);
        return all;
    }

private:
    using IRMutator::visit;

    const std::string sum_;
    std::map<int64_t, std::string> tiles_;  // by their places
    int rows_ = 0, columns_ = 0;            // of each
    Expr pitch_;                            // from a row to the next
    Type type_;                             // of a sum

    Stmt visit(const For *op) override {
        if (!ends_with(op->name, ".tile_row")) return IRMutator::visit(op);
        const Nest nest(op);
        if (nest.store->name != sum_) reject(op->name, "another sum than " + sum_, op);
        return nest.store->index.type().is_vector() ? zeros(nest) : product(nest);
    }

    // Checks what all its products share.
    std::string tile_at(const Nest &nest, size_t row_loops, const Expr &index, int columns) {
        const auto place = as_const_int(nest.first(index));
        const Expr pitch = nest.row_step(index, row_loops);
        const int rows = nest.rows(row_loops);
        if (!place) reject(nest.loops[0].name, "its sums are not at a known place", nest.store);
        if (tiles_.empty()) {
            rows_ = rows, columns_ = columns, pitch_ = pitch;
            type_ = nest.store->value.type().element_of();
            if (rows_ > kMostRows || columns > kMostRows)
                reject(nest.loops[0].name, "more than 16 by 16 sums", nest.store);
        }
        if (rows_ != rows || columns_ != columns || !equal(pitch_, pitch))
            reject(nest.loops[0].name, "tiles differ", nest.store);
        std::string &tile = tiles_[*place];
        if (tile.empty()) tile = unique_name(sum_ + ".tile");
        return tile;
    }

    Stmt zeros(const Nest &nest) {
        const Ramp *index = nest.store->index.as<Ramp>();
        if (nest.loops.size() > 2 || !index || !is_const_one(index->stride) ||
            !is_const_zero(nest.store->value))
            reject(nest.loops[0].name, "its sums do not start from rows of zeros", nest.store);
        const std::string tile =
            tile_at(nest, nest.loops.size(), nest.of(index->base), index->lanes);
        return set_sums(tile, Call::make(type_.with_lanes(kSums), "tile_zero",
                                         {rows_, columns_ * 4}, Call::Intrinsic));
    }

    static Expr without_casts(Expr value) {
        while (const Cast *cast = value.as<Cast>()) value = cast->value;
        return value;
    }

    // bf16 in f32, or a byte in more bits.
    static const Load *factor(const Expr &value) {
        const Load *load = value.as<Cast>() ? without_casts(value).as<Load>() : nullptr;
        const bool known = load && (load->type == BFloat(16) || load->type.bits() == 8);
        return known && load->type.is_float() == value.type().is_float() ? load : nullptr;
    }

    Stmt product(const Nest &nest) {
        const Store *store = nest.store;
        const std::string &loop = nest.loops[0].name;
        // Halide has made intrinsics of products of bytes.
        const Expr value =
            store->value.type().is_int() ? lower_intrinsics(store->value) : store->value;
        const Add *sum = value.as<Add>();
        const Load *before = sum ? sum->a.as<Load>() : nullptr;
        const Expr term = sum ? without_casts(before ? sum->b : sum->a) : Expr();
        if (sum && !before) before = sum->b.as<Load>();
        const Mul *product = term.defined() ? term.as<Mul>() : nullptr;
        const Load *a = product ? factor(product->a) : nullptr;
        const Load *b = product ? factor(product->b) : nullptr;
        const size_t row_loops = nest.loops.size() - 3;
        if (nest.loops.size() < 4 || nest.loops.size() > 5 || !a || !b || !before ||
            before->name != sum_ || !equal(before->index, store->index))
            reject(loop, "no sum of products of bf16, or of bytes, in four or five loops", store);
        if (!nest.steps_by(nest.of(a->index), row_loops, 0)) std::swap(a, b);
        return multiply(nest, row_loops, *a, *b);
    }

    Stmt multiply(const Nest &nest, size_t row_loops, const Load &of_rows, const Load &of_columns) {
        const Type type = of_rows.type;
        const size_t filter = row_loops, word = filter + 1, part = word + 1;
        const Expr row = nest.of(of_rows.index), column = nest.of(of_columns.index),
                   sum = nest.of(nest.store->index);
        const int filters = nest.loops[filter].extent, words = nest.loops[word].extent,
                  parts = 4 / type.bytes();
        const bool fits = words <= kMostRows && nest.loops[part].extent == parts &&
                          of_columns.type == (type.bits() == 8 ? Int(8) : type) &&
                          nest.steps_by(row, filter, 0) && nest.steps_by(row, word, parts) &&
                          nest.steps_by(row, part, 1) &&
                          is_const_zero(nest.row_step(column, row_loops)) &&
                          nest.steps_by(column, filter, parts) && nest.steps_by(column, part, 1) &&
                          nest.steps_by(sum, filter, 1) && nest.steps_by(sum, word, 0) &&
                          nest.steps_by(sum, part, 0);
        if (!fits)
            reject(nest.loops[0].name, "factors are not as the instruction has them", nest.store);
        const std::string tile = tile_at(nest, row_loops, sum, filters);
        const auto load = [&](const Load &from, const Expr &index, int rows, int of_row,
                              const Expr &to_next) {
            return Call::make(from.type.with_lanes(kMostRows * kRowBytes / type.bytes()),
                              "tile_load",
                              {rows, of_row * 4, Variable::make(Handle(), from.name),
                               bytes(nest.first(index), type), bytes(to_next, type)},
                              Call::Intrinsic);
        };
        return set_sums(
            tile, Call::make(type_.with_lanes(kSums), "tile_matmul",
                             {rows_, filters * 4, words * 4, sums_of(tile, type_),
                              load(of_rows, row, rows_, words, nest.row_step(row, row_loops)),
                              load(of_columns, column, words, filters, nest.step(column, word))},
                             Call::Intrinsic));
    }
};

class TileRegisters : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer) return IRMutator::visit(op);
        const Stmt body = TilesOfSum(op->name).of(mutate(op->body));
        return ProducerConsumer::make(op->name, true, body);
    }
};

}  // namespace

bool has_tile_registers(const Target &target) {
    return target.has_feature(Target::AVX512_SapphireRapids);
}

Stmt use_tile_registers(const Stmt &stmt) { return TileRegisters().mutate(stmt); }

}  // namespace hk::compiler
