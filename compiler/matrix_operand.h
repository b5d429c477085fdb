#pragma once
// A factor of products of matrices in shared memory (compiler/tensor_cores.h): how ldmatrix, or
// loads, read it into a warp's fragments.
//
// mma.sync multiplies 16 rows by 16 terms with 16 terms by 8 columns. Of the sums a thread x, y of
// 4 by 8 has rows y and 8 + y, columns 2 x and 2 x + 1 (PTX ISA, "Matrix Fragments for
// mma.m16n8k16"). Memory has a factor in one of two ways:
//  - along: terms of a row, or column, next to each other, 64 bytes, then the next row. Any 8 of
//    them are a matrix, so a thread's columns may be 8 neighbours, or 4.
//  - across: rows, or columns, next to each other, then the next term. ldmatrix transposes; a
//    matrix is 8 neighbours, of which a thread's columns are two.
//  - across, of 32 bits, which ldmatrix can't transpose: a thread loads words of term x. Of columns
//    one, of each 8 its y-th; of rows a pair, of each 16 its y-th, which are the product's rows y
//    and 8 + y. A warp loads 8 neighbours of 4 terms at once, or twice that in two passes: pairs of
//    vectors change places, so that 4 terms are in different banks.

#include <string>
#include <vector>

#include "Halide.h"
#include "compiler/swizzle.h"

namespace hk::compiler {

constexpr int kStepBytes = 64;  // of the terms of a step, two products
constexpr int kLanesX = 4, kLanesY = 8;

// memory[index] as a type of as many bits, or that in f32 or s32; lets in place.
struct Factor {
    const Halide::Internal::Load *load;
    Halide::Type type;
    Halide::Expr index;

    bool operator==(const Factor &other) const {
        return load->name == other.load->name && type == other.type && equal(index, other.index);
    }
};

class Operand {
public:
    enum class Side : uint8_t { rows, columns };

    // Of the products of a loop, of threads x by y.
    Operand(Side side, std::string loop, std::string x, std::string y);

    // Terms of a step.
    int terms() const { return kStepBytes / bytes(); }

    // Its place among the elements, which are in the order of their products.
    size_t add(const Factor &factor);
    size_t size() const { return elements_.size(); }
    Halide::Type type() const { return elements_[0].type; }

    // Throws Halide::CompileError where fragments have others than these elements.
    void check();

    // After check().
    bool across() const { return across_; }
    // Whether rows are along, wherever each is: then each pair has a place of its own.
    bool gathered() const { return gathered_; }
    Tile tile() const;
    // Words that a load has, where loads read it: else 0. From one load of a thread to the next,
    // which is of terms 4 further, in bytes.
    int loaded() const { return !wide_across() ? 0 : of_rows() ? 2 : 1; }
    int next_load() const { return kLanesX * pitch_ * bytes(); }
    // Where a thread's row of the first four matrices begins, in bytes: 8 threads after 8 know
    // those of a matrix. Or what it loads first. `element`: of a pair that is gathered.
    Halide::Expr first_place(size_t element = 0) const;
    // The same of the product that an element, and the next one, are of, from the first place, of a
    // step. Rows are of one half of the terms, columns of both.
    Halide::Expr place(const Halide::Expr &first, size_t element, int step, int half = 0) const;

private:
    const Side side_;
    const std::string loop_, x_, y_;
    std::vector<Factor> elements_;
    bool across_ = false, gathered_ = false;
    int pitch_ = 0;    // elements from a term to the next where they are across
    int of_lane_ = 0;  // neighbouring columns of a thread, along

    int bytes() const { return type().bytes(); }  // of an element
    int vector() const { return kVectorBytes / bytes(); }
    bool of_rows() const { return side_ == Side::rows; }
    bool wide_across() const { return across_ && bytes() == 4; }
    int neighbours() const;
    [[noreturn]] void reject(const std::string &what) const;
    int offset(size_t element, size_t from = 0) const;
    Halide::Expr difference(const std::string &variable) const;
    int step(const std::string &variable) const;
    int constant(const Halide::Expr &difference, const std::string &otherwise) const;
    void check_along();
    void check_gathered() const;
    void check_across() const;
    Halide::Expr start() const;
    Halide::Expr place_of_gathered(size_t element, const Halide::Expr &y,
                                   const Halide::Expr &is_first, const Halide::Expr &further) const;
    int multiple() const;
    int span() const;
};

}  // namespace hk::compiler
