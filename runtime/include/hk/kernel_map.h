#pragma once
// Kernel maps of sparse convolutions: from the coordinates of voxels, the pairs of rows that each
// offset of the kernel connects.
//
// Coordinates are [rows, 4], s32 or s64, on the CPU, with any strides: batch, x, y, z, all of 32
// bits; x, y, z may be negative. No row may repeat another.
//
// A pair of an offset (i, j, k) is an input row and an output row of one batch with
//
//   input = output * stride + offset * dilation      on each of x, y and z
//
// Along an axis an odd kernel size s has the offsets -(s - 1) / 2 to (s - 1) / 2, an even one 0 to
// s - 1. In the maps and in a weight [offsets, C, M] x is slowest and z fastest: of 3 x 3 x 3
// offset 0 is (-1, -1, -1), 1 is (-1, -1, 0), 13 is (0, 0, 0).
//
// The convention is MinkowskiEngine's (nvidia.github.io/MinkowskiEngine/convolution.html), with
// coordinates counted in voxels of their own level; its order of offsets has x fastest. spconv and
// TorchSparse differ in a strided convolution's rows: theirs are all that the kernel reaches.

#include <array>

#include "hk/tensor.h"

namespace hk {

struct KernelMapOptions {
    std::array<int64_t, 3> kernel_size{3, 3, 3}, stride{1, 1, 1}, dilation{1, 1, 1};  // x, y, z
};

// hk::TensorProductMaps takes it whole.
struct KernelMap {
    Tensor coordinates;  // of the output rows, s32 [output rows, 4]
    Tensor imap, omap;   // s32 [pairs], within an offset ascending by output row
    Tensor starts;       // s64 [offsets + 1]
    int64_t input_rows = 0, output_rows = 0, offsets = 0;

    int64_t pairs() const { return imap.elements(); }

    // Of the transposed convolution, which goes from this map's output rows back to its input
    // rows: imap and omap swapped, in the order in which they lie. Throws InvalidArgument where
    // `input_coordinates` are not those of input_rows rows or have more than 32 bits; OutOfMemory.
    KernelMap transposed(const Tensor &input_coordinates) const;

    // The maps on a device; coordinates and starts too.
    KernelMap to(Device device) const;
};

// The output rows are the input's, in the order in which they are given. Strides are 1.
KernelMap submanifold_map(const Tensor &coordinates, const KernelMapOptions &options = {});

// Downsampling: output rows are all different floor(coordinate / stride), ascending by batch, x, y
// and z, whatever the order of the input.
KernelMap strided_map(const Tensor &coordinates, const KernelMapOptions &options);

// Both run on all threads; the result is the same with any number of them. Both throw before
// anything is made InvalidArgument for repeated coordinates, with both rows; for a value of more
// than 32 bits; where the coordinates' extents with the kernel's reach need more than 62 bits
// together; for options that are out of range. OutOfMemory.

}  // namespace hk
