#pragma once
// The operands of a top-k as kernels see them.

#include <vector>

#include "fields.h"
#include "hk/topk.h"
#include "kernel_buffer.h"
#include "kernel_call.h"

namespace hk::detail {

struct TopKTensors {
    const Tensor &input, &values, &indices;
};

// The same with the axis last: the input a packed copy, the outputs views.
struct TopKPacked {
    TopKPacked(const TopKTensors &tensors, int axis);

    Tensor input, values, indices;
};

// Throws InvalidArgument for anything that is wrong with the arguments, but for what only a kernel
// can't take.
TopKProblem check_topk(const TopKTensors &tensors, int64_t k, const TopKOptions &options);

// "topk u8, 64 rows of 32000, k 50, largest, values and indices"
std::string to_string(const TopKProblem &problem);

// Tensors as unsigned integers of their width. Dimensions, innermost first: elements along the
// axis, then rows as two. Indices as 32-bit words, with one dimension before these: an s64 is two
// words, the upper one 0. What is not asked for has no dimensions.
struct TopKOperands {
    TopKProblem problem;
    BufferView input;    // [column, x, y]
    BufferView values;   // [place, x, y]
    BufferView indices;  // [word, place, x, y]
};

// One call each: rows of a view that two dimensions can't count are several. Throws InvalidArgument
// where a kernel can't take them.
std::vector<TopKOperands> topk_operands(const TopKProblem &problem, const TopKTensors &tensors,
                                        int axis);

// generators/topk/keys.h, as arguments.
std::array<NamedArgument, 4> topk_key_arguments(DataType type, Order order);

// With the fields of topk/fields.def.
Fields topk_fields(const TopKProblem &problem);

// The unsigned type that stands for all types of a width in the table.
DataType topk_row_type(DataType type);

// The steps of a GPU, with the given row of topk_tiles_kernels() first.
void topk_on_gpu(const KernelInfo &tiles, const TopKOperands &operands, CallContext &context,
                 bool own_queue);

}  // namespace hk::detail
