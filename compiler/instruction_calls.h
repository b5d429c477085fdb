#pragma once
// Instructions of PTX that Halide 21 has no name for are calls of functions that nobody defines,
// until the module's text is made: LLVM treats them as what may read and write any memory.
//
//  - hk_mma_f16_I(a0 … a3, b0, b1, c0 … c3), hk_mma_bf16_I, hk_mma_tf32_I: mma.sync, its result I
//    of four
//  - hk_ldmatrix_I(address): ldmatrix.x4, its result I of four
//  - hk_load_pair_I(address, number), hk_load_word_0(address, number): ld.shared of two words, its
//    result I, or of one, at the sum
//  - hk_cp_async_copy(to, word 0 … word 3, bytes): cp.async of 16 bytes, of which so many are
//    read, from where the words are loaded
//  - hk_cp_async_pair(to, word 0, word 1, bytes): the same of 8 bytes
//  - hk_cp_async_word(to, word, bytes): the same of 4 bytes
//  - hk_cp_async_commit(), hk_cp_async_wait_N(): cp.async.commit_group, cp.async.wait_group N
//
// Halide has no function with several results: as many calls with the same arguments, one after the
// other, are one instruction. Addresses are bytes of shared memory.

#include <string>

namespace hk::compiler {

// The PTX of kernels with instructions in place of these calls. Throws Halide::CompileError where
// it cannot be so: calls of an instruction apart, words that are used elsewhere.
std::string make_instructions(const std::string &ptx);

}  // namespace hk::compiler
