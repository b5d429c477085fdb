#pragma once
// Keeps 16-bit floats as the integers that hold their bits.
//
// f16 and bf16 are storage types here: kernels load them, compute in f32 and round once. Loads and
// stores become those of uint16, and the conversions integer arithmetic (to nearest even,
// subnormals, infinities and NaN included):
//   f16 on OpenCL without cl_half: devices need not have cl_khr_fp16 (PoCL has not), and Halide
//     refuses to compile half for them;
//   bf16 on every GPU: Halide rounds the NaN that CUDA computes, 0x7fffffff, to -0. From compute
//     capability 8.0 on two are rounded by an instruction, whose NaN is 0x7fff;
//   f16 in kernels of tensor cores alike: LLVM 21 stores two of them before it rounds them;
//   f16 on x86 without F16C: Halide's conversion makes infinity of NaN. The host's part of a GPU's
//     kernel computes nothing.

#include "Halide.h"

namespace hk::compiler {

struct HalfTypes {
    bool f16 = false, bf16 = false;  // in device code
    bool in_pairs = false;           // and rounded by an instruction, of CUDA
    bool f16_on_host = false;        // in all code, of which none is a device's
};

// Which types have to go on a target.
HalfTypes half_types_without_hardware(const Halide::Target &target);

// Throws Halide::CompileError where a function is called of such a type.
Halide::Internal::Stmt half_as_bits(const Halide::Internal::Stmt &body, HalfTypes types);

}  // namespace hk::compiler
