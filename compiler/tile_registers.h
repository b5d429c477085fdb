#pragma once
// Products of matrices in kernels of a CPU, by the unit that has them (Intel's AMX: TDPBF16PS,
// TDPBUSD and TDPBSSD).
//
// A loop whose name ends in .tile_row, around three others,
//
//     for tile_row: for filter: for word: for part:
//         sum[…] = sum[…] + f32(rows[…]) * f32(columns[…])
//
// of bf16, or in s32 of u8 or s8 by s8, becomes one instruction that multiplies registers of up to
// 16 by 64 bytes; a word has 32 bits. `rows` has a row for each step of `tile_row`, or of it and a
// loop in it, its words and their parts next to each other; `columns` one for each word, its
// filters and their parts next to each other. Rows of both may be any constant distance apart. A
// sum is a tile of an array that one `produce` fills, at a place that is a constant there, and
// starts from zeros, vectors in such a loop. Tiles are stored to the array when all is added up:
// they do not leave their registers before.
//
// Products are exact. Of bf16 a step's even terms are added up in f32, and its odd ones, each
// rounded to nearest even, then both, then the sum; what is below 2^-126 counts as zero. All of
// this is checked as it is read: what differs throws Halide::CompileError.
//
// Rejected: Halide's own MemoryType::AMXTile, which knows one tile of sums. Each product would load
// both factors; of two by two tiles of sums one load is enough for one product.

#include "Halide.h"

namespace hk::compiler {

bool has_tile_registers(const Halide::Target &target);

Halide::Internal::Stmt use_tile_registers(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
