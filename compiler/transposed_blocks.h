#pragma once
// Vectors that each take every n-th element of what lies in memory, and start one element apart, are the columns
// of a block whose rows lie there. Rows are loaded and transposed in registers: pairs of them are interleaved within
// 128 bits, pairs of those again, and what is in other 128 bits changes places. Each is one instruction of any CPU;
// the interleaving of whole vectors that one would write in Halide is many, and a gather as many loads as elements.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt transpose_blocks(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
