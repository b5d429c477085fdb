#include "compiler/transposed_blocks.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kQuad = 4;  // elements of 128 bits

// A store of every `stride`-th element from `base` on.
struct Column {
    const Store *store;
    const Load *load;
    Expr base;
    int64_t stride;
    int lanes;

    bool follows(const Column &first, int count) const {
        return load->name == first.load->name && stride == first.stride && lanes == first.lanes &&
               is_const_zero(simplify(base - first.base - count));
    }
};

// Halide loads them one by one, or all elements between them too.
std::optional<Column> column_of(const Stmt &stmt) {
    const Store *store = stmt.as<Store>();
    if (!store) return std::nullopt;
    const Shuffle *slice = store->value.as<Shuffle>();
    if (slice && (!slice->is_slice() || slice->vectors.size() != 1)) return std::nullopt;
    const Load *load = slice ? slice->vectors[0].as<Load>() : store->value.as<Load>();
    const Ramp *index = load ? load->index.as<Ramp>() : nullptr;
    if (!index || !index->base.type().is_scalar() || load->type.bits() != 32 ||
        load->name == store->name || !is_const_one(load->predicate) ||
        !is_const_one(store->predicate) || (slice && !is_const_one(index->stride)))
        return std::nullopt;
    const auto stride = slice ? slice->slice_stride() : as_const_int(index->stride).value_or(0);
    const int lanes = store->value.type().lanes();
    if (stride < kQuad || (lanes != 4 && lanes != 8 && lanes != 16)) return std::nullopt;
    return Column{store, load, slice ? index->base + slice->slice_begin() : index->base, stride,
                  lanes};
}

// The columns of a block: vectors of as many elements as it has rows.
class Transposition {
public:
    Transposition(const Column &first, int offset, int columns)
        : first_(first), offset_(offset), columns_(columns), rows_(first.lanes) {}

    std::vector<Expr> transposed() { return columns_ == kQuad ? narrow() : square(); }

    Stmt around(Stmt body) const {
        for (auto let = lets_.rbegin(); let != lets_.rend(); let++)
            body = LetStmt::make(let->first, let->second, body);
        return body;
    }

private:
    const Column &first_;
    const int offset_, columns_, rows_;
    std::vector<std::pair<std::string, Expr>> lets_;

    Expr keep(const Expr &value) {
        lets_.emplace_back(unique_name("block"), value);
        return Variable::make(value.type(), lets_.back().first);
    }

    Expr row(int i) {
        const Load *load = first_.load;
        const Expr base =
            simplify(first_.base + offset_ + static_cast<int>(i * first_.stride));
        return keep(Load::make(load->type.with_lanes(columns_), load->name,
                               Ramp::make(base, 1, columns_), load->image, load->param,
                               const_true(columns_), ModulusRemainder()));
    }

    // Of each 128 bits of two vectors the elements at these places, of both one after the other.
    Expr in_quads(const Expr &a, const Expr &b, const std::array<int, kQuad> &places) {
        const int lanes = a.type().lanes();
        std::vector<int> indices;
        for (int quad = 0; quad < lanes; quad += kQuad) {
            for (const int place : places)
                indices.push_back(place < kQuad ? quad + place : lanes + quad + place - kQuad);
        }
        return keep(Shuffle::make({a, b}, indices));
    }

    // The 128 bits of two vectors at these places, counted through both.
    Expr of_quads(const Expr &a, const Expr &b, const std::vector<int> &places) {
        std::vector<int> indices;
        for (const int place : places) {
            for (int i = 0; i < kQuad; i++) indices.push_back(place * kQuad + i);
        }
        return keep(Shuffle::make({a, b}, indices));
    }

    // Columns of four rows, those of each 128 bits by themselves.
    std::array<Expr, kQuad> columns_of(const std::array<Expr, kQuad> &rows) {
        const Expr low = in_quads(rows[0], rows[1], {0, 4, 1, 5}),
                   high = in_quads(rows[0], rows[1], {2, 6, 3, 7}),
                   next_low = in_quads(rows[2], rows[3], {0, 4, 1, 5}),
                   next_high = in_quads(rows[2], rows[3], {2, 6, 3, 7});
        return {in_quads(low, next_low, {0, 1, 4, 5}), in_quads(low, next_low, {2, 3, 6, 7}),
                in_quads(high, next_high, {0, 1, 4, 5}), in_quads(high, next_high, {2, 3, 6, 7})};
    }

    // Of four columns: every fourth row makes one vector when it is loaded.
    std::vector<Expr> narrow() {
        std::array<Expr, kQuad> joined;
        for (int i = 0; i < kQuad; i++) {
            std::vector<Expr> rows;
            for (int r = i; r < rows_; r += kQuad) rows.push_back(row(r));
            joined[i] = rows.size() == 1 ? rows[0] : keep(Shuffle::make_concat(rows));
        }
        const std::array<Expr, kQuad> columns = columns_of(joined);
        return {columns.begin(), columns.end()};
    }

    // As many columns as rows, 8 or 16.
    std::vector<Expr> square() {
        std::vector<std::array<Expr, kQuad>> parts;
        for (int r = 0; r < rows_; r += kQuad) {
            std::array<Expr, kQuad> rows;
            for (int i = 0; i < kQuad; i++) rows[i] = row(r + i);
            parts.push_back(columns_of(rows));
        }
        std::vector<Expr> columns(columns_);
        for (int i = 0; i < kQuad; i++) {
            if (parts.size() == 2) {
                columns[i] = of_quads(parts[0][i], parts[1][i], {0, 2});
                columns[kQuad + i] = of_quads(parts[0][i], parts[1][i], {1, 3});
                continue;
            }
            for (int odd = 0; odd < 2; odd++) {
                const std::vector<int> places = {odd, odd + 2, odd + 4, odd + 6};
                const Expr upper = of_quads(parts[0][i], parts[1][i], places),
                           lower = of_quads(parts[2][i], parts[3][i], places);
                columns[kQuad * odd + i] = of_quads(upper, lower, {0, 2, 4, 6});
                columns[kQuad * (odd + 2) + i] = of_quads(upper, lower, {1, 3, 5, 7});
            }
        }
        return columns;
    }
};

class TransposeBlocks : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const Halide::Internal::Block *op) override {
        std::vector<Stmt> list, result;
        flatten(op, list);
        for (size_t at = 0; at < list.size();) {
            const std::vector<Column> columns = columns_from(list, at);
            if (columns.empty()) {
                result.push_back(mutate(list[at++]));
                continue;
            }
            add_transposed(columns, result);
            at += columns.size();
        }
        return Halide::Internal::Block::make(result);
    }

    static void flatten(const Stmt &stmt, std::vector<Stmt> &list) {
        if (const auto *block = stmt.as<Halide::Internal::Block>()) {
            flatten(block->first, list);
            flatten(block->rest, list);
        } else {
            list.push_back(stmt);
        }
    }

    // Neighbours from there on, in fours.
    static std::vector<Column> columns_from(const std::vector<Stmt> &list, size_t at) {
        std::vector<Column> columns;
        for (; at < list.size(); at++) {
            const std::optional<Column> next = column_of(list[at]);
            const int count = static_cast<int>(columns.size());
            if (!next || (count > 0 && !next->follows(columns[0], count)) ||
                count == next->stride)
                break;
            columns.push_back(*next);
        }
        columns.resize(columns.size() / kQuad * kQuad, Column{});
        return columns;
    }

    static void add_transposed(const std::vector<Column> &columns, std::vector<Stmt> &result) {
        const int count = static_cast<int>(columns.size()), rows = columns[0].lanes;
        for (int at = 0; at < count;) {
            const int width = count - at >= rows ? rows : kQuad;
            Transposition block(columns[0], at, width);
            const std::vector<Expr> values = block.transposed();
            std::vector<Stmt> stores;
            for (int i = 0; i < width; i++) {
                const Store *store = columns[at + i].store;
                stores.push_back(Store::make(store->name, values[i], store->index, store->param,
                                             store->predicate, store->alignment));
            }
            result.push_back(block.around(Halide::Internal::Block::make(stores)));
            at += width;
        }
    }
};

}  // namespace

Stmt transpose_blocks(const Stmt &stmt) { return TransposeBlocks().mutate(stmt); }

}  // namespace hk::compiler
