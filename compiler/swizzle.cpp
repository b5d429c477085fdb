#include "compiler/swizzle.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "compiler/linear.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kWordBytes = 4, kWords = kVectorBytes / kWordBytes;

// A vector of words, or half of one.
bool is_vector(const Type &type) {
    return type == UInt(32, kWords) || type == UInt(32, kWords / 2);
}

// A place, in units of so many bytes.
Expr swizzled(const Expr &place, const Tile &tile, int unit) {
    int shift = tile.shift;
    for (int bytes = unit; bytes > 1; bytes /= 2) shift--;
    return place ^ (((place >> shift) & tile.mask) * (kVectorBytes / unit));
}

// The same of a sum, whose parts that leave the bits alone which change are added later: copies
// that are so far apart share the rest.
Expr swizzled_sum(const Expr &place, const Tile &tile, int unit) {
    const int64_t period = (int64_t{1} << tile.shift) * std::bit_ceil(tile.mask + 1U) / unit;
    Linear inside(place), outside(0);
    outside.constant = inside.constant / period * period;
    inside.constant -= outside.constant;
    for (auto term = inside.terms.begin(); term != inside.terms.end();)
        if (term->second % period == 0)
            outside.terms.insert(inside.terms.extract(term++));
        else
            term++;
    return simplify(swizzled(inside.sum(), tile, unit) + outside.sum());
}

// What a statement stores, with conditions and lets around it alone; else null.
const Store *only_store(const Stmt &stmt) {
    if (const auto *let = stmt.as<LetStmt>()) return only_store(let->body);
    if (const auto *condition = stmt.as<IfThenElse>())
        return condition->else_case.defined() ? nullptr : only_store(condition->then_case);
    return stmt.as<Store>();
}

// Copies to a tile, by vectors or halves of them.
class SwizzleStores : public IRMutator {
public:
    std::set<int64_t> copied;                         // starts of tiles
    std::map<std::string, std::set<int64_t>> starts;  // of all that is copied, by memory

    explicit SwizzleStores(const std::vector<Tile> &tiles) : tiles_(tiles) {}

    using IRMutator::mutate;

private:
    using IRMutator::visit;

    const std::vector<Tile> &tiles_;
    std::map<std::string, Expr> zeros_;  // of what is not constant, or lets of it
    std::map<std::string, Expr> lets_;   // of int32
    std::set<std::string> loops_;

    Stmt visit(const For *op) override {
        zeros_[op->name] = 0;
        if (op->for_type == ForType::Serial) loops_.insert(op->name);
        return IRMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        zeros_[op->name] = simplify(substitute(zeros_, op->value));
        if (op->value.type() == Int(32)) lets_[op->name] = substitute(lets_, op->value);
        return IRMutator::visit(op);
    }

    // Without loops that cancel out, which LLVM does not see through a swizzle.
    Expr shortest(const Expr &place) const {
        const Expr whole = substitute(lets_, place), sum = Linear(simplify(whole)).sum();
        return std::ranges::any_of(loops_,
                                   [&](const std::string &loop) {
                                       return expr_uses_var(whole, loop) &&
                                              !expr_uses_var(sum, loop);
                                   })
                   ? sum
                   : place;
    }

    Expr start(const Expr &index, int bytes) const {
        const Ramp *ramp = index.as<Ramp>();
        return simplify(substitute(zeros_, ramp ? ramp->base : index) * bytes);
    }
    bool begins(const Tile &tile, const std::string &memory, const Expr &index, int bytes) const {
        return memory == tile.memory && is_const(start(index, bytes), tile.start);
    }

    // Elements that are copied one by one would be where no matrix is read from. Of 32 bits others
    // may have had the memory before.
    void refuse(const std::string &memory, Type type, const Expr &index) const {
        for (const Tile &tile : tiles_) {
            if (type.bits() > 16 || !begins(tile, memory, index, type.bytes())) continue;
            std::ostringstream message;
            message << "tensor cores: a tile of " << memory
                    << " is copied, or read, by other than vectors of 16 bytes, or 8: " << index
                    << "\n";
            throw CompileError(message.str());
        }
    }
    Expr visit(const Load *op) override {
        refuse(op->name, op->type, op->index);
        return IRMutator::visit(op);
    }

    bool begins_any(const Store *op) const {
        return op && is_vector(op->value.type()) &&
               std::ranges::any_of(tiles_, [&](const Tile &tile) {
                   return begins(tile, op->name, op->index, kWordBytes);
               });
    }
    // Of a copy that is unrolled one store begins where the tile does, and the others, whose
    // vectors have to change places too, are anywhere in it.
    Stmt visit(const Block *op) override {
        const Store *first = only_store(op->first);
        if (!begins_any(first)) return IRMutator::visit(op);
        const Block *block = op->rest.as<Block>();
        const Store *next = only_store(block ? block->first : op->rest);
        if (next && next->name == first->name && is_vector(next->value.type()) && !begins_any(next))
            throw CompileError("tensor cores: the copy to a tile of " + first->name +
                               " is unrolled\n");
        return IRMutator::visit(op);
    }

    Stmt visit(const Store *op) override {
        const Ramp *ramp = op->index.as<Ramp>();
        if (!ramp || !is_vector(op->value.type())) {
            refuse(op->name, op->value.type(), op->index);
            return IRMutator::visit(op);
        }
        if (const auto first = as_const_int(start(op->index, kWordBytes)))
            starts[op->name].insert(*first);
        for (const Tile &tile : tiles_) {
            if (!begins(tile, op->name, op->index, kWordBytes)) continue;
            copied.insert(tile.start);
            const Expr base = swizzled_sum(shortest(ramp->base), tile, kWordBytes);
            return Store::make(op->name, op->value, Ramp::make(base, 1, ramp->lanes), op->param,
                               op->predicate, op->alignment);
        }
        return IRMutator::visit(op);
    }
};

}  // namespace

Expr swizzled(const Expr &place, const Tile &tile) { return swizzled(place, tile, 1); }

namespace {

// Tiles with the starts of the copies that they are inside.
std::vector<Tile> from_their_starts(const Stmt &stmt, std::vector<Tile> tiles) {
    if (std::ranges::none_of(tiles, &Tile::inside)) return tiles;
    const std::vector<Tile> none;
    SwizzleStores copies(none);
    copies.mutate(stmt);
    for (Tile &tile : tiles) {
        if (!tile.inside) continue;
        const std::set<int64_t> &starts = copies.starts[tile.memory];
        const auto next = starts.upper_bound(tile.start);
        if (next != starts.begin()) tile.start = *std::prev(next);
    }
    return tiles;
}

}  // namespace

Stmt swizzle_copies(const Stmt &stmt, const std::vector<Tile> &all) {
    const std::vector<Tile> tiles = from_their_starts(stmt, all);
    SwizzleStores stores(tiles);
    const Stmt result = stores.mutate(stmt);
    for (const Tile &tile : tiles)
        if (!stores.copied.count(tile.start))
            throw CompileError("tensor cores: no copy of vectors begins where a tile of " +
                               tile.memory + " does\n");
    return result;
}

}  // namespace hk::compiler
