#include "conv2d_backward/channels_last.h"

namespace hk::detail {

namespace {

Tensor channels_last(const Tensor &nchw) { return nchw.permute({0, 2, 3, 1}); }

bool channels_are_neighbours(const Tensor &nhwc) {
    return nhwc.strides()[3] == 1 || nhwc.shape()[3] == 1;
}

}  // namespace

ChannelsLast::ChannelsLast(const Conv2dBackwardTensors &tensors, bool accumulate)
    : output_(read(tensors.output_gradient)),
      input_(read(tensors.input)),
      weight_(read(tensors.weight)),
      input_gradient_(written(tensors.gradients.input, accumulate)),
      weight_gradient_(written(tensors.gradients.weight, accumulate)) {}

Tensor ChannelsLast::read(const Tensor &tensor) {
    if (!tensor.defined()) return tensor;
    const Tensor view = channels_last(tensor);
    return channels_are_neighbours(view) ? view : view.to(view.device());
}

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
