#pragma once
// Places in shared memory that the rows of a matrix are in different banks by.

#include <string>
#include <vector>

#include "Halide.h"

namespace hk::compiler {

// A tile of one factor in shared memory, in which vectors of 16 bytes change places within rows of
// as many as `mask` has bits for, so that the 8 rows of a matrix are in different banks.
constexpr int kVectorBytes = 16;
struct Tile {
    std::string memory;
    int64_t start;  // its first byte
    int shift;      // of a byte's address: the bits that say how vectors change places
    int mask = 3;   // of those
    bool inside = false;  // `start` is any place in it
};

// A place in the tile, in bytes.
Halide::Expr swizzled(const Halide::Expr &place, const Tile &tile);

// Copies of whole vectors to these tiles, of four words each. Throws Halide::CompileError where a
// tile has others, or none.
Halide::Internal::Stmt swizzle_copies(const Halide::Internal::Stmt &stmt,
                                      const std::vector<Tile> &tiles);

}  // namespace hk::compiler
