#include "conv2d_backward/weight_tree.h"

#include <algorithm>

#include "convolution/met_taps.h"
#include "fill_zero.h"
#include "kernel_call.h"

namespace hk::detail {

namespace {

constexpr int64_t kMostAtOnce = 1 << 28;  // kernels count bytes in 32 bits

}  // namespace

void WeightTree::add(int64_t first, int64_t count, const Tensor &gradient, bool accumulate,
                     CallContext &context) const {
    if (count == 1) return add_part(first, gradient, accumulate, context);
    const int64_t bytes = gradient.elements() * size_of(gradient.type());
    const int64_t most = weight_parts_at_once(bytes);
    const int64_t of_each = (count + most - 1) / most, children = (count + of_each - 1) / of_each;
    Shape shape = gradient.shape();
    shape.insert(shape.begin(), children);
    const Tensor sums(shape, gradient.type(), gradient.device());
    const Operand memory[] = {{"sums of parts", sums}};
    OperationCall on_them(kWeight.name, gradient.device(), memory, stream_);
    if (met_taps(problem_)) queue_zeros(sums, on_them.stream);
    for (int64_t i = 0; i < children; i++) {
        const int64_t of_child = std::min(of_each, count - i * of_each);
        add(first + i * of_each, of_child, sums.slice(0, i, 1).reshape(gradient.shape()), false,
            on_them);
    }
    add_up(sums, gradient, 0, accumulate, on_them);
}

void WeightTree::add_part(int64_t i, const Tensor &gradient, bool accumulate,
                          CallContext &context) const {
    Conv2dOperands operands =
        conv2d_operands(problem_, tensors_.input, gradient, {}, {}, tensors_.output_gradient);
    kWeight.normalise(operands);
    parts_.cut(i, operands);
    kWeight.call(*whole_.kernel, operands, accumulate, context, on_own_queue(stream_));
}

// A bias' gradient of as many images as children, the filter's elements its channels. They are
// next to each other, as those of biases are, below `dim`.
void WeightTree::add_up(const Tensor &sums, const Tensor &gradient, int dim, bool accumulate,
                        CallContext &context) const {
    if (!gradient.packed() || sums.elements() > kMostAtOnce) {
        for (int64_t i = 0; i < gradient.shape()[dim]; i++)
            add_up(sums.slice(dim + 1, i, 1), gradient.slice(dim, i, 1), dim + 1, accumulate,
                   context);
        return;
    }
    const int64_t size = gradient.elements();
    const Pass pass(kBias,
                    bias_operands(sums.reshape({sums.shape()[0], 1, 1, size}),
                                  gradient.reshape({size}), Layout::nhwc),
                    nullptr, gradient.device());
    kBias.call(*pass.kernel, pass.operands, accumulate, context, on_own_queue(stream_));
}

}  // namespace hk::detail
