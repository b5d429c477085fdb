#pragma once
// Copies of bytes' windows, and of their filters: as read_windows() of
// generators/conv2d/channels_last.h, but that of four channels or fewer rows are folded.
//
// A pixel of the copy is 8 bytes where it can be, or whole vectors of 16; of so few channels each
// four bytes are those of another row, the next ones of the image. A 7x7 filter of three channels
// and strides of 2 has then four slices of 64 bytes instead of seven, and the copy half the lines.

#include "generators/quantized_conv2d/quantized_conv2d.h"

namespace hk::generators {

// Takes the copies instead of the input and the weight; `outside` is what is around the image. The
// number of taps' channels.
Halide::Expr read_folded_windows(QuantizedConv2dOperands &op, const Halide::Expr &outside,
                                 Conv2dSliced &stages);

}  // namespace hk::generators
