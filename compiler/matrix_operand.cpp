#include "compiler/matrix_operand.h"

#include <algorithm>
#include <bit>
#include <map>
#include <sstream>
#include <utility>

#include "compiler/linear.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kMatrix = 8;       // rows of one, and terms that are across memory
constexpr int kSpanBytes = 128;  // of all banks

}  // namespace

Operand::Operand(Side side, std::string loop, std::string x, std::string y)
    : side_(side), loop_(std::move(loop)), x_(std::move(x)), y_(std::move(y)) {}

size_t Operand::add(const Factor &factor) {
    const auto found = std::find(elements_.begin(), elements_.end(), factor);
    const auto place = static_cast<size_t>(found - elements_.begin());
    if (found == elements_.end()) elements_.push_back(factor);
    return place;
}

void Operand::reject(const std::string &what) const {
    throw CompileError("tensor cores in " + loop_ + ": " + (of_rows() ? "rows" : "columns") + " " +
                       what + "\n");
}

int Operand::constant(const Expr &difference, const std::string &otherwise) const {
    const Expr simple = simplify(difference);
    if (const auto value = as_const_int(simple)) return static_cast<int>(*value);
    std::ostringstream message;
    message << "are at places that are " << otherwise << ": " << simple;
    reject(message.str());
}

// Elements from another one.
int Operand::offset(size_t element, size_t from) const {
    return constant(elements_[element].index - elements_[from].index, "not a constant apart");
}

// How far its place moves with a variable.
Expr Operand::difference(const std::string &variable) const {
    const Expr next =
        substitute(variable, Variable::make(Int(32), variable) + 1, elements_[0].index);
    return simplify(next - elements_[0].index);
}
int Operand::step(const std::string &variable) const {
    return constant(difference(variable), "no multiple of " + variable);
}

void Operand::check() {
    if (size() % 2 != 0) reject("of a thread are no multiple of 2");
    if (step(of_rows() ? x_ : y_) != 0)
        reject(of_rows() ? "are not the same for all threads in x"
                         : "are not the same for all threads in y");
    pitch_ = step(loop_);
    across_ = pitch_ != 1;
    gathered_ = !across_ && of_rows() && !is_const(difference(y_));
    if (gathered_)
        check_gathered();
    else
        across_ ? check_across() : check_along();
}

void Operand::check_along() {
    const int next = of_rows() ? step(y_) : offset(1);
    if (next != terms()) reject("are not next to another, 64 bytes each");
    if (of_rows()) {
        for (size_t i = 0; i < size(); i += 2)
            if (offset(i) % (kLanesY * terms()) != 0 || offset(i + 1, i) != offset(1))
                reject("of a thread are no multiples of 8 apart");
        return;
    }
    of_lane_ = step(x_) / terms();
    if (step(x_) % terms() != 0 || (of_lane_ != 4 && of_lane_ != 8))
        reject("of neighbours in x do not follow one another, 4 or 8 of each");
    if (static_cast<int>(size()) % of_lane_ != 0)
        reject("of a thread are no multiple of " + std::to_string(of_lane_));
    const int of_warp = kLanesX * of_lane_;
    for (size_t i = 0; i < size(); i++) {
        const size_t first = i / of_lane_ * of_lane_;
        if (offset(i, first) != static_cast<int>(i - first) * terms())
            reject("of a thread do not follow one another");
        if (offset(first) % (of_warp * terms()) != 0)
            reject("of a warp are no multiple of " + std::to_string(of_warp));
    }
}

void Operand::check_gathered() const {
    for (const Factor &element : elements_) {
        const ModulusRemainder at =
            modulus_remainder(simplify(substitute(loop_, 0, element.index)));
        if (at.modulus % terms() != 0 || at.remainder % terms() != 0)
            reject("that are gathered do not begin at multiples of 64 bytes");
    }
}

void Operand::check_across() const {
    if (bytes() == 1) reject("of a term are next to each other, but are bytes");
    if (pitch_ < 32 || !std::has_single_bit(static_cast<unsigned>(pitch_)))
        reject("of a term are not 32, or a larger power of two, from those of the next");
    const bool apart = of_rows() && !wide_across();  // the rows of a pair
    if (step(of_rows() ? y_ : x_) != (apart ? 1 : 2))
        reject("of neighbours do not follow one another");
    for (size_t i = 0; i < size(); i += 2) {
        if (offset(i) % neighbours() != 0)
            reject("of a thread are no multiples of " + std::to_string(neighbours()) + " apart");
        if (offset(i + 1, i) != (apart ? offset(1) : 1)) reject("of a thread are not in pairs");
        // Vectors change places within a span, so that bits are added to a place there.
        if (apart && (offset(1) % kMatrix != 0 || (offset(i) & offset(1) & (span() - 1)) != 0))
            reject("of a thread's pairs are no powers of two apart");
    }
}

// Elements in which vectors change places, of terms across memory.
int Operand::span() const { return std::min(pitch_, kSpanBytes / bytes()); }

// Of a term across memory, that a warp reads together.
int Operand::neighbours() const { return wide_across() && of_rows() ? 2 * kMatrix : kMatrix; }

// Of how many elements the first one's place is a multiple.
int Operand::multiple() const {
    if (gathered_) return terms();
    if (!across_) return (of_rows() ? kLanesY : of_lane_) * terms();
    int bits = neighbours() - 1;
    for (size_t i = 0; i < size(); i++) bits |= offset(i) & (span() - 1) & -kMatrix;
    return static_cast<int>(std::bit_ceil(static_cast<unsigned>(bits)));
}

// The first element's place of the thread 0, 0 of a warp.
Expr Operand::start() const {
    const std::map<std::string, Expr> zero = {{loop_, 0}, {x_, 0}, {y_, 0}};
    const Expr index = simplify(substitute(zero, elements_[0].index));
    const ModulusRemainder at = modulus_remainder(index);
    if (at.modulus % multiple() != 0 || at.remainder % multiple() != 0) {
        std::ostringstream message;
        message << "are read from " << index << ", no multiple of " << multiple();
        reject(message.str());
    }
    return index;
}

Tile Operand::tile() const {
    class Zeros : public IRMutator {
        using IRMutator::visit;
        Expr visit(const Variable *op) override { return make_zero(op->type); }
    } zeros;
    const auto first = as_const_int(simplify(zeros.mutate(start())));
    if (!first) reject("begin at a place that is not known");
    const int64_t from = *first * bytes();
    const std::string &memory = elements_[0].load->name;
    // Rows of 64 bytes: of neighbours, or of pairs that are a vector apart.
    if (gathered_) return {memory, from, 7, 3, true};
    if (!across_) return {memory, from, of_rows() ? 7 : of_lane_ == 4 ? 8 : 9, 3};
    const int row = std::bit_width(static_cast<unsigned>(pitch_ * bytes())) - 1;
    if (wide_across()) return {memory, from, row - 1, 2 * (kLanesX - 1)};
    return {memory, from, std::max(row, 7), span() / kMatrix - 1};
}

// Of a pair's first row, or its second, of a thread y, and so much further. What both add is apart:
// steps change nothing else.
Expr Operand::place_of_gathered(size_t element, const Expr &y, const Expr &is_first,
                                const Expr &further) const {
    const std::map<std::string, Expr> row = {{loop_, 0}, {y_, y}};
    Linear first(simplify(substitute(row, elements_[element].index))),
        second(simplify(substitute(row, elements_[element + 1].index))), both(0);
    for (auto term = first.terms.begin(); term != first.terms.end();) {
        const auto same = second.terms.find(term->first);
        if (same == second.terms.end() || same->second != term->second) {
            term++;
            continue;
        }
        second.terms.erase(same);
        both.terms.insert(first.terms.extract(term++));
    }
    return (select(is_first, first.sum(), second.sum()) + further) + both.sum();
}

Expr Operand::first_place(size_t element) const {
    const Expr x = Variable::make(Int(32), x_), y = Variable::make(Int(32), y_);
    const Expr n = x + y % 2 * kLanesX, matrix = y / 2;  // of 8 threads
    if (gathered_) {
        const Expr row = place_of_gathered(element, n, matrix % 2 == 0, matrix / 2 * vector());
        return swizzled(row * bytes(), tile());
    }
    Expr of_thread;
    if (wide_across())
        of_thread = x * pitch_ + y * loaded();
    else if (!across_ && of_rows())
        of_thread = n * terms() + matrix % 2 * offset(1) + matrix / 2 * vector();
    else if (!across_)
        of_thread = (n / 2 * of_lane_ + n % 2) * terms() + matrix * vector();
    else if (of_rows())
        of_thread = (n + matrix / 2 * kMatrix) * pitch_ + matrix % 2 * offset(1);
    else
        of_thread = (n + matrix * kMatrix) * pitch_;
    return swizzled((start() + of_thread) * bytes(), tile());
}

Expr Operand::place(const Expr &first, size_t element, int step, int half) const {
    if (!across_) {
        const Expr of_half = half == 0 ? first : first ^ (half * kStepBytes / 2);
        if (gathered_) return of_half;
        return of_half + offset(element) * bytes();
    }
    const int bits = offset(element) & (span() - 1);
    const Expr moved = bits == 0 ? first : first ^ (bits * bytes());
    const int term = step * terms() + half * terms() / 2;
    return moved + (offset(element) - bits + term * pitch_) * bytes();
}

}  // namespace hk::compiler
