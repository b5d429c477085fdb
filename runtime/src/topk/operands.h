#pragma once
// The operands of a top-k as kernels see them.

#include "hk/topk.h"
#include "kernel_buffer.h"
#include "kernel_call.h"

namespace hk::detail {

// Tensors as unsigned integers of their width. Dimensions, innermost first: elements along the axis,
// then all others as two. Indices as 32-bit words, with one dimension before these: an s64 is two
// words, the upper one 0. What is not asked for is a view of the input, of extents 0.
struct TopKOperands {
    TopKProblem problem;
    BufferView input;    // [column, x, y]
    BufferView values;   // [place, x, y]
    BufferView indices;  // [word, place, x, y]
};

// generators/topk/keys.h, as arguments.
struct TopKKeyArguments {
    bool floats;
    uint64_t flip, infinity, nan;
};
TopKKeyArguments topk_key_arguments(DataType type, Order order);

// The field that a row's condition names: values, indices, columns, k, columns_per_k, adjacent.
int64_t topk_field(const TopKProblem &problem, std::string_view field);

// The unsigned type that stands for all types of a width in the table.
DataType topk_row_type(DataType type);

// The steps of a GPU, with the given row of topk_tiles_kernels() first.
void topk_on_gpu(const KernelInfo &tiles, const TopKOperands &operands, CallContext &context,
                 bool own_queue);

}  // namespace hk::detail
