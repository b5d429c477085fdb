#pragma once
// Gather/scatter tensor product, the core of sparse convolution: rows of the input are gathered,
// multiplied by the matrix of a kernel offset, and added to rows of the output.
//
//   output[omap[n, p], m] = sum over n, p, c of weight[n, c, m] * input[imap[n, p], c]
//
// for every pair p of every offset n, plus what the output holds where asked for. Rows that no pair
// reaches become 0, or stay. Pairs may come in any order, and several may reach one row.
//
// Shapes: input [input rows, C], weight [N, C, M], output [output rows, M]. With groups, weight is
// [N, C / groups, M], and channel m of the output sees the input channels of its group alone.
// Maps, s32 or s64, both the same, in one of two forms:
//   padded  [N, P]: a pair with -1 in either map is none;
//   ragged  [pairs], and `starts` [N + 1], s32 or s64, from 0 to the number of pairs: those of
//           offset n are starts[n] up to starts[n + 1]. -1 is padding here too.
// Types: f32, f16, bf16, f64, the same for all three. f16 and bf16 are summed in f32 and rounded
// once; f64 in f64. Whatever the numbers of channels and pairs, the sum of an element errs in f32
// by at most 2^-11 (bf16: 2^-8) + min(n, 2^15) * 2^-24 of the sum of its terms' magnitudes, where n
// is its pairs, in atomic mode times the calls: more than 7168 channels (bf16: 65536) are several,
// after each of which f16 and bf16 round.
//
// On CUDA, f16 and bf16 of up to 3584 channels run on tensor cores where channels are multiples of
// 8 and TensorProductProblem's aligned holds: products are exact, and added several at once, cut
// off to f32's digits, in the order that the hardware has, within the same bound.
//
// A row that more than 32768 pairs reach is summed in parts of 4096 pairs, which are added up in
// f64 and rounded once. The parts of f16 and bf16 are f32, as are copies of input and weight for
// them. On a GPU parts and copies pass through the host, and the call returns when all is done.
//
// Tensors may be views with any strides; for speed the channels of input and output lie next to
// each other. A kernel counts rows, and the bytes of a tensor, in 32 bits; so do the pairs' places.
//
// Kernels want pairs sorted: by blocks of output rows, and in a block by offsets. Sorting takes a
// fifth of a call with 16 channels, less with more. TensorProductMaps keep what was sorted for all
// calls that use the same maps: layers, gradients (hk/tensor_product_backward.h), steps.

#include <memory>
#include <span>

#include "hk/kernel_info.h"
#include "hk/tensor.h"

namespace hk {

struct KernelMap;

// deterministic: the same bit for bit in every run, with any number of threads.
// atomic: sums may be added up in any order; those of f32 on a GPU are. Others are deterministic
// in either mode.
enum class Summation : uint8_t { deterministic, atomic };

std::string_view name_of(Summation summation) noexcept;  // "deterministic", "atomic"
Summation summation_of(std::string_view name);           // throws InvalidArgument

// Maps, checked once, and what kernels make of them, kept: 8 bytes a pair for each direction
// (forward, gradient of the input, of the weight) and size of tiles that calls have asked for, from
// the first such call on, and two more maps where a row is summed in parts. Copies share it. Safe
// to use from several threads at once.
class TensorProductMaps {
public:
    // The maps must not change as long as this lives; it keeps their storage, or a copy on the host
    // of those on another device. starts: of ragged maps, else undefined; read here, not kept.
    // Throws InvalidArgument for maps of different shapes or types, for starts that descend or
    // don't reach from 0 to the number of pairs, and, where `check` is set, for an index out of
    // range with its offset, position and value. Without the check such an index is undefined
    // behaviour. OutOfMemory.
    TensorProductMaps(const Tensor &imap, const Tensor &omap, int64_t input_rows,
                      int64_t output_rows, const Tensor &starts = {}, bool check = true);

    // Of a sparse convolution (hk/kernel_map.h), whose indices need no check.
    explicit TensorProductMaps(const KernelMap &map);

    int64_t offsets() const noexcept;
    int64_t places() const noexcept;  // pairs and padding
    int64_t input_rows() const noexcept;
    int64_t output_rows() const noexcept;
    size_t bytes() const;  // of what is kept beside the maps

    struct Impl;
    const std::shared_ptr<Impl> &impl() const noexcept { return impl_; }

private:
    std::shared_ptr<Impl> impl_;
};

struct TensorProductOptions {
    Summation summation = Summation::deterministic;
    bool accumulate = false;  // add to what the output holds
    int64_t groups = 1;
};

// A tensor product without its data: all that selection looks at.
struct TensorProductProblem {
    DataType type = DataType::f32;
    int64_t input_rows = 0, output_rows = 0, offsets = 0;
    int64_t pairs = 0;                                // places in the maps, padding among them
    int64_t input_channels = 1, output_channels = 1;  // of a group
    int64_t groups = 1;
    Summation summation = Summation::deterministic;
    bool adjacent = true;  // channels of input and output lie next to each other
    // And those of the weight, `transposed` the input's, else the output's; all tensors begin at
    // multiples of 16 bytes, and so does each of their rows.
    bool aligned = true, transposed = false;

    // Of packed tensors. Throws InvalidArgument for shapes that don't fit each other.
    static TensorProductProblem from_shapes(const Shape &input, const Shape &weight, int64_t pairs,
                                            const Shape &output, DataType type,
                                            const TensorProductOptions &options = {});
};

// All tensors live on one device, maps on any; they are the caller's, all but the output only read,
// and none may overlap it. No two elements of the output share memory. Scratch memory on the CPU:
// the weight in the type of sums. On a GPU maps are sorted on the host, in their first call of each
// mode, and kept in memory of the call's context, which they must not outlive, nor its stream; the
// call returns when the kernel is queued.
//
// Calls from several threads at once are safe, of different outputs. Throws InvalidArgument before
// anything runs; OutOfMemory, DeviceError, KernelFailure. HK_LOG=select prints the row that each
// new problem takes to stderr.
void tensor_product(const Tensor &input, const Tensor &weight, const TensorProductMaps &maps,
                    const Tensor &output, const TensorProductOptions &options = {},
                    const Stream &stream = {});

// The same with maps for this call alone, checked and sorted in it.
void tensor_product(const Tensor &input, const Tensor &weight, const Tensor &imap,
                    const Tensor &omap, const Tensor &output,
                    const TensorProductOptions &options = {}, const Stream &stream = {});

// Runs one given row of the tables below, whatever selection would take, but for parts of f16 and
// bf16. Throws InvalidArgument where the row does not take the problem. For tests and measurements.
void tensor_product_with(const KernelInfo &kernel, const Tensor &input, const Tensor &weight,
                         const TensorProductMaps &maps, const Tensor &output,
                         const TensorProductOptions &options = {}, const Stream &stream = {});

// All rows, in the order of the table: of the CPU, and of a GPU, deterministic and atomic.
std::span<const KernelInfo> tensor_product_kernels();
std::span<const KernelInfo> tensor_product_stationary_kernels();
std::span<const KernelInfo> tensor_product_atomic_kernels();

Selection select_tensor_product(const TensorProductProblem &problem, DeviceType device,
                                const DeviceLimits &limits, bool explain = false);

}  // namespace hk
