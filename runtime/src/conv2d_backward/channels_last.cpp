#include "conv2d_backward/channels_last.h"

#include "convolution/channels_last.h"

namespace hk::detail {

ChannelsLast::ChannelsLast(const Conv2dBackwardTensors &tensors, bool accumulate)
    : output_(copied_channels_last(tensors.output_gradient)),
      input_(copied_channels_last(tensors.input)),
      weight_(copied_channels_last(tensors.weight)),
      input_gradient_(written(tensors.gradients.input, accumulate)),
      weight_gradient_(written(tensors.gradients.weight, accumulate)) {}

Tensor ChannelsLast::written(const Tensor &gradient, bool accumulate) {
    if (!gradient.defined()) return gradient;
    const Tensor view = channels_last(gradient);
    if (channels_are_neighbours(view)) return view;
    const Tensor last(view.shape(), view.type(), view.device());
    if (accumulate) last.copy_from(view);
    gradients_.push_back({view, last});
    return last;
}

Conv2dBackwardTensors ChannelsLast::tensors() const {
    return {output_, input_, weight_, {input_gradient_, weight_gradient_, none_}};
}

void ChannelsLast::write_back() const {
    for (const auto &[view, last] : gradients_) view.copy_from(last);
}

}  // namespace hk::detail
