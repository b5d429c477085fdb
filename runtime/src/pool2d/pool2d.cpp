#include "hk/pool2d.h"

#include <algorithm>
#include <initializer_list>
#include <span>

#include "convolution/join.h"
#include "hk/error.h"
#include "kernel_call.h"
#include "pool2d/problem.h"
#include "rethrow.h"
#include "selection_cache.h"

namespace hk {

using namespace detail;

namespace {

using Use = KernelBuffer::Use;

constexpr const char *kForward = "pool2d", *kBackward = "pool2d_backward";

template<std::span<const KernelInfo> (*kernels)()>
const KernelInfo &kernel_for(const char *operation, const Pool2dProblem &problem, Device device,
                             const KernelInfo *given) {
    return selections<kernels>(operation).find(given, pool2d_fields(problem), device,
                                               [&] { return to_string(problem, operation); });
}

// Numbers as kernels take them. The stride of a direction with one output is never gone, however
// long: no kernel counts in pixels past the input.
std::array<NamedArgument, 6> window_numbers(const Pool2dProblem &problem) {
    const Pool2dOptions &options = problem.options;
    const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
    const auto stride = [&](int axis, int64_t outputs) {
        const int64_t asked = options.stride[axis];
        return number(outputs == 1 ? std::min(asked, options.kernel[axis]) : asked);
    };
    return {{{"kernel_x", number(options.kernel[1])},
             {"kernel_y", number(options.kernel[0])},
             {"stride_x", stride(1, problem.output_width())},
             {"stride_y", stride(0, problem.output_height())},
             {"padding_left", number(options.padding.left)},
             {"padding_top", number(options.padding.top)}}};
}

// On a CPU, of nchw: images are one where rows of windows share no pixel and are all of them, and
// images are evenly spaced; for kernels that take planes whole each of those is one row. Planes of
// sums in blocks are one in each image: what their gradients keep of windows has a task an image.
void join_rows(const KernelInfo &kernel, const Pool2dProblem &problem,
               std::initializer_list<BufferView *> all) {
    const Pool2dOptions &options = problem.options;
    const int64_t rows = options.kernel[0];
    const std::span<BufferView *const> images(all.begin(), all.size());
    if (options.layout != Layout::nchw || kernel.device != DeviceType::cpu) return;
    const std::string_view algorithm = kernel.algorithm;
    if (algorithm == "average_of_planes" || algorithm == "average_in_lanes") {
        join(images, 0, 1);
    } else if (options.padding.top + options.padding.bottom == 0 && options.stride[0] == rows &&
               problem.height % rows == 0) {
        join(images, 1, 2);
        if (!algorithm.ends_with("_in_blocks")) join(images, 1, 4);
    }
    for (BufferView *image : images) canonicalise(image->dims);
}

// `row`: null for the one that selection takes.
void forward(const KernelInfo *row, const Tensor &input, const Tensor &output,
             const Pool2dOptions &options, const Stream &stream) try {
    const Operand read[] = {{"input", input}}, written{"output", output};
    const Pool2dProblem problem = check_pool2d({kForward, read, written, read[0]}, options);
    const Device device = input.device();
    const Operand all[] = {read[0], written};
    OperationCall context(kForward, device, all, stream);
    const bool own_queue = on_own_queue(stream);
    BufferView from = pool2d_view(kForward, read[0], options.layout);
    BufferView to = pool2d_view(kForward, written, options.layout);
    const KernelInfo &kernel = kernel_for<pool2d_kernels>(kForward, problem, device, row);
    if (output.elements() == 0) return;
    join_rows(kernel, problem, {&to, &from});

    KernelBuffer input_buffer(from, {kForward, "input", Use::read, own_queue});
    KernelBuffer output_buffer(to, {kForward, "output", Use::write, own_queue});
    call_kernel(context, KernelArguments(kForward, kernel)
                             .add({{"input", input_buffer}})
                             .add(window_numbers(problem))
                             .add({{"output", output_buffer}}));
    output_buffer.finish();
} catch (...) {
    rethrow_as_error(kForward);
}

// Of average neither input nor output is looked at: the kernel reads none of what stands in.
void backward(const KernelInfo *row, const Tensor &output_gradient, const Tensor &input,
              const Tensor &output, const Tensor &input_gradient, const Pool2dOptions &options,
              const Stream &stream) try {
    const bool max = options.pooling == Pooling::max;
    const Operand operands[] = {
        {"output gradient", output_gradient}, {"input", input}, {"output", output}};
    const std::span<const Operand> read(operands, max ? 3 : 1);
    const Operand written{"input gradient", input_gradient};
    const Pool2dProblem problem = check_pool2d({kBackward, read, written, written}, options);
    const Device device = output_gradient.device();
    const Operand all[] = {operands[0], max ? operands[1] : written, max ? operands[2] : written,
                           written};
    OperationCall context(kBackward, device, all, stream);
    const bool own_queue = on_own_queue(stream);
    const Layout layout = options.layout;
    BufferView from = pool2d_view(kBackward, operands[0], layout);
    BufferView to = pool2d_view(kBackward, written, layout);
    BufferView was_input = max ? pool2d_view(kBackward, operands[1], layout) : to;
    BufferView was_output = max ? pool2d_view(kBackward, operands[2], layout) : from;
    const KernelInfo &kernel = kernel_for<pool2d_backward_kernels>(kBackward, problem, device, row);
    if (input_gradient.elements() == 0) return;
    join_rows(kernel, problem, {&to, &from, &was_input, &was_output});

    const Use use = max ? Use::read : Use::absent;
    KernelBuffer from_buffer(from, {kBackward, "output gradient", Use::read, own_queue});
    KernelBuffer input_buffer(was_input, {kBackward, "input", use, own_queue});
    KernelBuffer output_buffer(was_output, {kBackward, "output", use, own_queue});
    KernelBuffer to_buffer(to, {kBackward, "input gradient", Use::write, own_queue});
    call_kernel(context, KernelArguments(kBackward, kernel)
                             .add({{"output_gradient", from_buffer},
                                   {"input", input_buffer},
                                   {"output", output_buffer}})
                             .add(window_numbers(problem))
                             .add({{"input_gradient", to_buffer}}));
    to_buffer.finish();
} catch (...) {
    rethrow_as_error(kBackward);
}

}  // namespace

void pool2d(const Tensor &input, const Tensor &output, const Pool2dOptions &options,
            const Stream &stream) {
    forward(nullptr, input, output, options, stream);
}

Tensor pool2d(const Tensor &input, const Pool2dOptions &options) try {
    if (!input.defined()) throw InvalidArgument("pool2d: input is undefined");
    const Pool2dProblem problem = Pool2dProblem::from_shape(input.shape(), input.type(), options);
    Tensor output(problem.output_shape(), input.type(), input.device());
    pool2d(input, output, options);
    return output;
} catch (...) {
    rethrow_as_error(kForward);
}

void pool2d_backward(const Tensor &output_gradient, const Tensor &input, const Tensor &output,
                     const Tensor &input_gradient, const Pool2dOptions &options,
                     const Stream &stream) {
    backward(nullptr, output_gradient, input, output, input_gradient, options, stream);
}

void pool2d_with(const KernelInfo &kernel, const Tensor &input, const Tensor &output,
                 const Pool2dOptions &options, const Stream &stream) {
    forward(&kernel, input, output, options, stream);
}

void pool2d_backward_with(const KernelInfo &kernel, const Tensor &output_gradient,
                          const Tensor &input, const Tensor &output, const Tensor &input_gradient,
                          const Pool2dOptions &options, const Stream &stream) {
    backward(&kernel, output_gradient, input, output, input_gradient, options, stream);
}

Selection select_pool2d(const Pool2dProblem &problem, DeviceType device, const DeviceLimits &limits,
                        bool explain) {
    return select(pool2d_kernels(), pool2d_fields(problem), device, limits, explain);
}

Selection select_pool2d_backward(const Pool2dProblem &problem, DeviceType device,
                                 const DeviceLimits &limits, bool explain) {
    return select(pool2d_backward_kernels(), pool2d_fields(problem), device, limits, explain);
}

}  // namespace hk
