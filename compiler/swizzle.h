#pragma once
// Places in shared memory that the rows of a matrix are in different banks by.

#include <string>
#include <vector>

#include "Halide.h"

namespace hk::compiler {

// A tile of one factor in shared memory: rows of 64 bytes, in which vectors of 16 change places, so
// that the 8 rows of a matrix are in different banks: neighbours (pixels), or pairs that are 8 rows
// apart (channels).
struct Tile {
    std::string memory;
    int64_t start;  // its first element of 16 bits
    int shift;      // of a byte's address: two bits that say how vectors change places

    static constexpr int kNeighbours = 7, kPairs = 9;
};

// A place, in units of which a vector is so many, or the other way round.
Halide::Expr swizzled(const Halide::Expr &place, int shift, int vector);

// Copies of whole vectors to these tiles, of four words each. Throws Halide::CompileError where a
// tile has others, or none.
Halide::Internal::Stmt swizzle_copies(const Halide::Internal::Stmt &stmt,
                                      const std::vector<Tile> &tiles);

}  // namespace hk::compiler
