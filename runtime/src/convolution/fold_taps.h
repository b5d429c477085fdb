#pragma once
// Windows whose taps are channels.

#include "convolution/operands.h"

namespace hk::detail {

// Where windows don't overlap and their taps follow each other in memory, as channels do, these are
// channels of one tap: of nhwc the columns of windows as far apart as they are wide (patches of a
// picture), of either layout all taps of a window that is the whole image. The same terms are
// summed in the same order. Of one group, without padding, where the channels are no fewer than
// `fewest`.
void fold_taps(Conv2dOperands &operands, int64_t fewest);

// Of outputs: fewer are left to rows that know a picture's channels. Unfolded 224x224_3-96_4x4_s4
// takes 0.87 of the time on Zen 3, 64x64_3-192_8x8_s8 1.15.
constexpr int64_t kFewestFolded = 16;

// Whether the weight's gradient, of nhwc and f32, has fewer vectors where what a row of a window
// meets are the channels of one tap: of 8 floats, as CPUs without AVX-512 have them, others were
// not measured.
bool pays_to_join_windows(const Conv2dProblem &problem);

}  // namespace hk::detail
