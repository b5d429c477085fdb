#pragma once
// Windows whose taps are channels.

#include "convolution/operands.h"

namespace hk::detail {

// Where windows don't overlap and their taps follow each other in memory, as channels do, these are
// channels of one tap: of nhwc the columns of windows as far apart as they are wide (patches of a
// picture), of either layout all taps of a window that is the whole image. The same terms are summed
// in the same order. Of one group, without padding.
void fold_taps(Conv2dOperands &operands);

}  // namespace hk::detail
