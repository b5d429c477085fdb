#pragma once
// Images in nchw as kernels of nhwc take them.

#include "hk/conv2d.h"
#include "hk/tensor.h"

namespace hk::detail {

// Whether the convolution, of nchw and f32, is faster of a copy in nhwc on a CPU without AVX-512,
// others were not measured: rows of nchw take vectors of columns, which lose where columns have
// strides or channels are many.
bool pays_to_copy(const Conv2dProblem &problem);

// The same of the gradient of the input, of depthwise filters with strides.
bool pays_to_copy_gradients(const Conv2dProblem &problem);

// The view in nhwc, and whether its channels are next to each other.
Tensor channels_last(const Tensor &nchw);
bool channels_are_neighbours(const Tensor &nhwc);

// That view where its channels are next to each other, else a copy. An undefined tensor is one.
Tensor copied_channels_last(const Tensor &nchw);

// That of copies in nhwc, behind the rows of nchw that were rejected, where none of those takes the
// problem.
template<typename Select>
Selection or_of_copies(Selection of_nchw, Conv2dProblem problem, DeviceType device,
                       Select select_of) {
    const bool copies = device == DeviceType::cpu && problem.options.layout == Layout::nchw;
    if (of_nchw.kernel || !copies) return of_nchw;
    problem.options.layout = Layout::nhwc;
    Selection selection = select_of(problem);
    selection.rejected.insert(selection.rejected.begin(), of_nchw.rejected.begin(),
                              of_nchw.rejected.end());
    return selection;
}

}  // namespace hk::detail
