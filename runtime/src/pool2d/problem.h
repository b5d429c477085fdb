#pragma once
// Pooling's arguments: whether they can be right, and as kernels see them.

#include "fields.h"
#include "hk/pool2d.h"
#include "kernel_buffer.h"
#include "operand_check.h"

namespace hk::detail {

// The tensors of a call by their names in messages. Those that a pooling does not need are not
// looked at.
struct Pool2dTensors {
    const char *operation;
    std::span<const Operand> read;
    Operand written;
    const Operand &image;  // the input, or its gradient: its shape is the problem's
};

// Throws InvalidArgument for anything that is wrong with the arguments, but for what only a kernel
// can't take.
Pool2dProblem check_pool2d(const Pool2dTensors &tensors, const Pool2dOptions &options);

// An image as [c, g, x, y, n] (nhwc) or [x, y, c, g, n] (nchw), of one group. Throws
// InvalidArgument where it is too large for kernels.
BufferView pool2d_view(const char *operation, const Operand &image, Layout layout);

// With the fields of pool2d/fields.def.
Fields pool2d_fields(const Pool2dProblem &problem);

// "pool2d max nhwc f32, input [1, 56, 56, 64], kernel [2, 2], stride [2, 2], padding …"
std::string to_string(const Pool2dProblem &problem, const char *operation);

}  // namespace hk::detail
