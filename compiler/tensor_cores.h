#pragma once
// Products of matrices in CUDA kernels, by the units that have them (mma.sync, compute
// capability 8.0).
//
// A loop whose name ends in .product, of 64 bytes of terms, or a multiple where they are across
// memory, over an outer product of a thread's registers,
//
//     for product: sum[i] = sum[i] + f32(rows[… + product]) * f32(columns[… + product])
//
// of f16 or bf16, of f32, which the units cut off to TF32, 10 bits behind the point, or, with sums
// in s32, which wrap, of rows of u8 or s8 by columns of s8, becomes products of a warp's threads
// together. Threads are 4 in x by 8 in y. `columns` are the same for all in y, `rows` for all in x.
// Both are in shared memory, terms along or across it as compiler/matrix_operand.h says:
//  - along: a thread has of 32 columns 8 neighbours, its neighbour in x the next 8; or 4 of 16, so
//    that sums of 32 bits are 16 bytes of a thread, and whole sectors of four,
//  - across: of each 8 columns two, its neighbour in x the next two,
//  - rows come in pairs, 8 apart, or multiples of 8; a neighbour in y has another,
//  - of 32 bits across memory two of each 16, its neighbour in y the next two.
// Tiles are copied by vectors of 16 bytes: those change places (compiler/swizzle.h), so that
// ldmatrix, or loads of words, meet no bank twice.
//
// Rejected: rounding f32 to the nearest before the units cut it off, as CUTLASS does by half a unit
// that it adds (NVIDIA/cutlass#1289). That is an addition for each of 48 words that a warp of 64 by
// 32 sums reads for 32 products.
//
// The order of the sum is the unit's. All of this is checked as it is read: what differs throws
// Halide::CompileError. On other devices the loop is what it says.

#include <string>

#include "Halide.h"

namespace hk::compiler {

// Names of lets that are places of a thread in shared memory, in bytes, which matrices are read
// from begin so.
inline const std::string kMatrixPlace = "matrix_place";
// Of rows that are gathered. So do these, too.
inline const std::string kGatheredPlace = kMatrixPlace + "_gathered";

// Whether there is such a loop.
bool has_products(const Halide::Internal::Stmt &stmt);

// Whether that has become products of matrices.
bool uses_tensor_cores(const Halide::Internal::Stmt &stmt);

Halide::Internal::Stmt use_tensor_cores(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
