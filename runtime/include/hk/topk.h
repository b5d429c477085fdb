#pragma once
// The k largest or smallest elements along an axis: their values, their indices, or both. Sorting
// is the same with all elements.
//
// The order is total, so that results are the same bit for bit on every device and with any number
// of threads. Of equal elements the one with the lower index comes first, whether the largest are
// asked for or the smallest (what std::stable_sort gives). -0 equals +0; NaN equals NaN and is
// larger than everything else, as in PyTorch. Equal values are canonical: a zero is returned as +0,
// a NaN as the positive quiet NaN without payload.
//
// Types: f32, f64, f16, bf16, s8 to s64, u8 to u64. Indices are s32 or s64 and count from 0 along
// the axis.

#include <span>

#include "hk/kernel_info.h"
#include "hk/tensor.h"

namespace hk {

enum class Order : uint8_t { largest, smallest };

std::string_view name_of(Order order) noexcept;  // "largest", "smallest"
Order order_of(std::string_view name);           // throws InvalidArgument

struct TopKOptions {
    int axis = -1;  // negative ones count from the back
    Order order = Order::largest;
    // Best first. Without it any order is allowed; it is the same one today, because results have
    // to be the same everywhere.
    bool sorted = true;
};

// A top-k without its data: all that selection looks at.
struct TopKProblem {
    DataType type = DataType::f32;
    int64_t rows = 1, columns = 1, k = 1;  // a row: the elements along the axis
    bool values = true, indices = true;    // which of them are asked for
    bool adjacent = true;                  // whether a row's elements lie next to each other
    Order order = Order::largest;

    // Of a packed tensor. Throws InvalidArgument for an axis or k that the shape does not have.
    static TopKProblem from_shape(const Shape &input, DataType type, int64_t k,
                                  const TopKOptions &options = {});
};

// Writes the k first elements of each row, in order, to `values` (of the input's type) and their
// places to `indices` (s32 or s64). Each may be an undefined tensor, not both; what is undefined is
// not computed. Their shape is the input's with k elements along the axis, 0 to all.
//
// All tensors live on one device and are the caller's. Tensors may be views with any strides; the
// input is only read. Outputs must not overlap the input or one another. A row has less than 2^31
// elements and spans less than 2^31 bytes, else InvalidArgument; where k is more than a 64th of a
// row its keys are kept in whole vectors of 64 bytes, and past 2^31 - 64 of them it is OutOfMemory.
//
// Calls from several threads at once are safe. On a device the call returns when the work is
// queued; scratch memory comes from the call's context. Throws InvalidArgument before anything
// runs; OutOfMemory, DeviceError, KernelFailure. HK_LOG=select prints the row that each new problem
// takes to stderr.
void topk(const Tensor &input, int64_t k, const Tensor &values, const Tensor &indices,
          const TopKOptions &options = {}, const Stream &stream = {});

// The same, into new tensors; indices are s64.
struct TopK {
    Tensor values, indices;
};
TopK topk(const Tensor &input, int64_t k, const TopKOptions &options = {});

// One of the two alone, which is faster.
Tensor topk_values(const Tensor &input, int64_t k, const TopKOptions &options = {});
Tensor topk_indices(const Tensor &input, int64_t k, const TopKOptions &options = {});

// All elements in order, and their places (s64).
Tensor sort(const Tensor &input, int axis = -1, Order order = Order::smallest);
Tensor argsort(const Tensor &input, int axis = -1, Order order = Order::smallest);

// Runs one given row of topk_kernels() or topk_tiles_kernels(), whatever selection would take.
// Throws InvalidArgument where the row does not take the problem. For tests and measurements.
void topk_with(const KernelInfo &kernel, const Tensor &input, int64_t k, const Tensor &values,
               const Tensor &indices, const TopKOptions &options = {}, const Stream &stream = {});

// All rows, in the order of the table: of the CPU, and of the three steps of a GPU
// (docs/runtime/topk.md), of which selection chooses the first. Types: u8 stands for all of 8 bits,
// …, u64 for all of 64.
std::span<const KernelInfo> topk_kernels();
std::span<const KernelInfo> topk_tiles_kernels();
std::span<const KernelInfo> topk_merge_kernels();
std::span<const KernelInfo> topk_unpack_kernels();

Selection select_topk(const TopKProblem &problem, DeviceType device, const DeviceLimits &limits,
                      bool explain = false);

}  // namespace hk
