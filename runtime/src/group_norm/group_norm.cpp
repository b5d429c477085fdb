#include "hk/group_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "convolution/check.h"
#include "group_norm/operands.h"
#include "hk/error.h"
#include "kernel_call.h"
#include "operand_check.h"
#include "rethrow.h"
#include "selection_cache.h"

namespace hk {

using namespace detail;

namespace {

using Use = KernelBuffer::Use;

constexpr const char *kForward = "group_norm", *kBackward = "group_norm_backward";

const char *operation_of(bool backward) { return backward ? kBackward : kForward; }

[[noreturn]] void fail(const char *operation, const std::string &what) {
    throw InvalidArgument(std::string(operation) + ": " + what);
}

GroupNormProblem problem_of(const char *operation, const Shape &input, DataType type,
                            const GroupNormOptions &options, bool backward) {
    if (options.layout != Layout::nhwc && options.layout != Layout::nchw) {
        fail(operation,
             "layout " + std::to_string(static_cast<int>(options.layout)) + ", not nhwc or nchw");
    }
    check_float(operation, type);
    if (input.size() != 4) {
        fail(operation, "input has " + std::to_string(input.size()) + " dimensions, " +
                            hk::to_string(input) + ", it needs 4");
    }
    if (std::find(input.begin() + 1, input.end(), 0) != input.end()) {
        fail(operation,
             "input has shape " + hk::to_string(input) + ", of which only the batch may be 0");
    }
    const bool nhwc = options.layout == Layout::nhwc;
    GroupNormProblem problem{
        type,    input[0], input[nhwc ? 3 : 1], input[nhwc ? 1 : 2], input[nhwc ? 2 : 3],
        options, backward};
    if (options.groups < 1 || problem.channels % options.groups != 0) {
        fail(operation, "groups are " + std::to_string(options.groups) +
                            ", they must divide the channels, which are " +
                            std::to_string(problem.channels));
    }
    if (!(options.epsilon >= 0) || std::isinf(options.epsilon)) {
        fail(operation, "epsilon is " + std::to_string(options.epsilon) +
                            ", it must be 0 or more, and finite");
    }
    problem.aligned = (nhwc || !backward) && elements_of_row(problem) % kVectorOfRow == 0;
    return problem;
}

Fields fields_of(const GroupNormProblem &problem) {
    Fields fields(problem.type, problem.options.layout);
#include "group_norm/fields.def"
    return fields;
}

std::string to_string(const GroupNormProblem &problem) {
    const bool nhwc = problem.options.layout == Layout::nhwc;
    const Shape shape = nhwc
                            ? Shape{problem.batch, problem.height, problem.width, problem.channels}
                            : Shape{problem.batch, problem.channels, problem.height, problem.width};
    return std::string(operation_of(problem.backward)) + " " +
           std::string(name_of(problem.options.layout)) + " " + std::string(name_of(problem.type)) +
           ", input " + hk::to_string(shape) + ", groups " + std::to_string(problem.options.groups);
}

// `seen`: the problem as kernels see it.
const KernelInfo &kernel_for(const KernelInfo *given, const GroupNormProblem &problem,
                             const GroupNormProblem &seen, Device device) {
    static Immortal<SelectionCache> cache(kForward, group_norm_kernels());
    return cache->find(given, fields_of(seen), device, [&] { return to_string(problem); });
}

Use use_of(const Tensor &tensor, Use use) { return tensor.defined() ? use : Use::absent; }

// `row`: null for the one that selection takes.
void forward(const KernelInfo *row, const Tensor &input, const Tensor &weight, const Tensor &bias,
             const Output &place, const GroupNormStatistics &statistics,
             const GroupNormOptions &options, const Stream &stream) try {
    const Tensor &output = place.tensor();
    if (!input.defined()) fail(kForward, "input is undefined");
    if (!output.defined()) fail(kForward, "output is undefined");
    const GroupNormProblem problem =
        problem_of(kForward, input.shape(), input.type(), options, false);
    const Operand images[] = {{"input", input}, {"output", output}};
    const Operand vectors[] = {{"weight", weight}, {"bias", bias}};
    const Operand saved[] = {{"mean", statistics.mean}, {"rstd", statistics.rstd}};
    const Operand read[] = {images[0], vectors[0], vectors[1]};
    const Operands operands{images, vectors, saved, read, saved};
    check_operands(kForward, problem, operands);
    const Input inputs[] = {{images[0], true}, {vectors[0]}, {vectors[1]}};
    check_written(kForward, operands, images[1], place, inputs);
    const Device device = input.device();
    const Operand all[] = {images[0], images[1], vectors[0], vectors[1], saved[0], saved[1]};
    OperationCall context(kForward, device, all, stream);
    const bool own_queue = on_own_queue(stream);
    const GroupNormProblem seen = seen_by_kernel(row, problem, images, vectors);
    const KernelInfo &kernel = kernel_for(row, problem, seen, device);
    const int64_t slices = slices_of(kernel, seen);
    const Views views(kForward, seen, options.layout, slices);
    BufferView from = views.image(input), to = views.image(output);
    views.join_rows({&from, &to});
    const std::string_view algorithm = kernel.algorithm;
    const bool planes = algorithm == "planes" || algorithm == "vectors";
    if (planes && seen.options.layout == Layout::nchw) Views::join_planes({&from, &to});
    if (problem.batch == 0) return;

    const bool in_place = place.is_inplace();
    KernelBuffer output_buffer(
        to, {kForward, "output", in_place ? Use::update : Use::write, own_queue});
    std::optional<KernelBuffer> input_buffer;
    if (!in_place)
        input_buffer.emplace(from, KernelBuffer::Role{kForward, "input", Use::read, own_queue});
    Tensor weight_copy;
    KernelBuffer weight_buffer(views.vector("weight", weight, input, own_queue, weight_copy),
                               {kForward, "weight", use_of(weight, Use::read), own_queue});
    Tensor bias_copy;
    KernelBuffer bias_buffer(views.vector("bias", bias, input, own_queue, bias_copy),
                             {kForward, "bias", use_of(bias, Use::read), own_queue});
    KernelBuffer mean_buffer(views.statistic("mean", statistics.mean, input),
                             {kForward, "mean", use_of(statistics.mean, Use::write), own_queue});
    KernelBuffer rstd_buffer(views.statistic("rstd", statistics.rstd, input),
                             {kForward, "rstd", use_of(statistics.rstd, Use::write), own_queue});
    auto groups = static_cast<int32_t>(options.groups / slices);
    bool has_weight = weight.defined(), has_bias = bias.defined();
    float epsilon = options.epsilon;
    call_kernel(context, KernelArguments(kForward, kernel)
                             .add({{"groups", groups},
                                   {"has_weight", has_weight},
                                   {"has_bias", has_bias},
                                   {"epsilon", epsilon},
                                   {"input", in_place ? output_buffer : *input_buffer},
                                   {"weight", weight_buffer},
                                   {"bias", bias_buffer},
                                   {"output", output_buffer},
                                   {"mean", mean_buffer},
                                   {"rstd", rstd_buffer}}));
    for (KernelBuffer *buffer : {&output_buffer, &mean_buffer, &rstd_buffer}) buffer->finish();
} catch (...) {
    rethrow_as_error(kForward);
}

// A call of the gradients, checked.
struct Backward {
    const Tensor &output_gradient, &input, &weight;
    const GroupNormStatistics &statistics;
    const GroupNormGradients &gradients;

    const Tensor &input_gradient() const { return gradients.input.tensor(); }
    bool in_place_of(const Tensor &tensor) const {
        const auto same = [](const Tensor &a, const Tensor &b) {
            return !a.overlaps(b) ? false : a.offset() == b.offset();
        };
        return gradients.input.is_inplace() && same(input_gradient(), tensor);
    }
};

GroupNormProblem check_backward(const Backward &call, const GroupNormOptions &options) {
    const auto &[output_gradient, input, weight, statistics, gradients] = call;
    const Operand required[] = {{"output gradient", output_gradient},
                                {"input", input},
                                {"mean", statistics.mean},
                                {"rstd", statistics.rstd}};
    for (const Operand &operand : required) {
        if (!operand.tensor.defined()) fail(kBackward, std::string(operand.name) + " is undefined");
    }
    const Tensor &input_gradient = call.input_gradient();
    const bool wanted =
        input_gradient.defined() || gradients.weight.defined() || gradients.bias.defined();
    if (!wanted) fail(kBackward, "all gradients are undefined");
    const GroupNormProblem problem =
        problem_of(kBackward, input.shape(), input.type(), options, true);
    const Operand images[] = {
        {"input", input}, {"output gradient", output_gradient}, {"input gradient", input_gradient}};
    const Operand vectors[] = {{"weight", weight},
                               {"weight gradient", gradients.weight},
                               {"bias gradient", gradients.bias}};
    const Operand saved[] = {required[2], required[3]};
    const Operand read[] = {images[0], images[1], vectors[0], saved[0], saved[1]};
    const Operand written[] = {vectors[1], vectors[2]};
    const Operands operands{images, vectors, saved, read, written};
    check_operands(kBackward, problem, operands);
    const Input inputs[] = {
        {images[0], true}, {images[1], true}, {vectors[0]}, {saved[0]}, {saved[1]}};
    check_written(kBackward, operands, images[2], gradients.input, inputs);
    return problem;
}

// sums: of parts, of bias and of weight. unwanted: what a device writes in place of a gradient of
// channels that is not wanted; kernels are not launched with no threads.
struct Scratch {
    Tensor sums, unwanted;
};

// The gradients of bias and weight, and the sums of parts that they are made from.
class OfChannels {
public:
    OfChannels(const Views &views, const Scratch &scratch, int64_t parts,
               const std::array<const Tensor *, 2> &gradients, const Tensor &input, bool own_queue)
        : bias_sums(sums(views, scratch.sums, 0, parts, input),
                    role("sums", scratch.sums, own_queue)),
          weight_sums(sums(views, scratch.sums, 1, parts, input),
                      role("sums", scratch.sums, own_queue)),
          bias(gradient(views, scratch, "bias gradient", *gradients[0], input),
               role("bias gradient", *gradients[0], own_queue)),
          weight(gradient(views, scratch, "weight gradient", *gradients[1], input),
                 role("weight gradient", *gradients[1], own_queue)) {}

    KernelBuffer bias_sums, weight_sums, bias, weight;

private:
    static KernelBuffer::Role role(const char *name, const Tensor &tensor, bool own_queue) {
        return {kBackward, name, use_of(tensor, Use::write), own_queue};
    }
    static BufferView sums(const Views &views, const Tensor &sums, int64_t which, int64_t parts,
                           const Tensor &input) {
        if (!sums.defined()) return views.sums(sums, parts, input);
        const Tensor one = sums.slice(0, which, 1);
        return views.sums(one.reshape({parts, sums.shape()[2]}), parts, input);
    }
    static BufferView gradient(const Views &views, const Scratch &scratch, const char *name,
                               const Tensor &tensor, const Tensor &input) {
        if (tensor.defined()) return views.gradient(name, tensor);
        return scratch.unwanted.defined() ? views.gradient(name, scratch.unwanted)
                                          : views.no_vector(input);
    }
};

// `problem`: as kernels see it.
void run_backward(const Backward &call, const GradientImages &images, const Views &views,
                  const GroupNormProblem &problem, const KernelInfo &kernel, CallContext &context,
                  const Stream &stream, const Scratch &scratch) {
    const auto &[output_gradient, input, weight, statistics, gradients] = call;
    const auto &[from, was, to] = images;
    const bool own_queue = on_own_queue(stream), wanted = call.input_gradient().defined();
    const int64_t slices = slices_of(kernel, problem);
    const int64_t parts = parts_of(kernel, problem, slices, was);

    KernelBuffer to_buffer(to, {kBackward, "input gradient",
                                !wanted                        ? Use::absent
                                : gradients.input.is_inplace() ? Use::update
                                                               : Use::write,
                                own_queue});
    const bool over_gradient = wanted && call.in_place_of(output_gradient);
    const bool over_input = wanted && !over_gradient && call.in_place_of(input);
    std::optional<KernelBuffer> from_buffer, was_buffer;
    if (!over_gradient) {
        from_buffer.emplace(from,
                            KernelBuffer::Role{kBackward, "output gradient", Use::read, own_queue});
    }
    if (!over_input)
        was_buffer.emplace(was, KernelBuffer::Role{kBackward, "input", Use::read, own_queue});
    Tensor weight_copy;
    KernelBuffer weight_buffer(views.vector("weight", weight, input, own_queue, weight_copy),
                               {kBackward, "weight", use_of(weight, Use::read), own_queue});
    KernelBuffer mean_buffer(views.statistic("mean", statistics.mean, input),
                             {kBackward, "mean", Use::read, own_queue});
    KernelBuffer rstd_buffer(views.statistic("rstd", statistics.rstd, input),
                             {kBackward, "rstd", Use::read, own_queue});
    OfChannels of_channels(views, scratch, parts, {&gradients.bias, &gradients.weight}, input,
                           own_queue);
    auto groups = static_cast<int32_t>(problem.options.groups / slices);
    auto of_part = static_cast<int32_t>(images_of_part(kernel, problem, slices));
    bool has_weight = weight.defined();
    call_kernel(context, KernelArguments(kBackward, kernel)
                             .add({{"groups", groups},
                                   {"images", of_part},
                                   {"has_weight", has_weight},
                                   {"input", over_input ? to_buffer : *was_buffer},
                                   {"weight", weight_buffer},
                                   {"output_gradient", over_gradient ? to_buffer : *from_buffer},
                                   {"mean", mean_buffer},
                                   {"rstd", rstd_buffer},
                                   {"input_gradient", to_buffer},
                                   {"bias_sums", of_channels.bias_sums},
                                   {"weight_sums", of_channels.weight_sums},
                                   {"bias_gradient", of_channels.bias},
                                   {"weight_gradient", of_channels.weight}}));
    for (KernelBuffer *buffer : {&to_buffer, &of_channels.bias, &of_channels.weight})
        buffer->finish();
}

void backward(const KernelInfo *row, const Backward &call, const GroupNormOptions &options,
              const Stream &stream) try {
    const GroupNormProblem problem = check_backward(call, options);
    const auto &[output_gradient, input, weight, statistics, gradients] = call;
    const Device device = input.device();
    const Operand images[] = {{"input", input},
                              {"output gradient", output_gradient},
                              {"input gradient", call.input_gradient()}};
    const GroupNormProblem seen = seen_by_kernel(row, problem, images);
    const KernelInfo &kernel = kernel_for(row, problem, seen, device);
    const int64_t slices = slices_of(kernel, seen);
    const Views views(kBackward, seen, options.layout, slices);
    const GradientImages as_seen(views, output_gradient, input, call.input_gradient());
    const bool of_channels = gradients.weight.defined() || gradients.bias.defined();
    Scratch scratch;
    // A device's gradient of the input is made from the sums.
    if (problem.batch > 0 && (of_channels || !device.is_cpu())) {
        const int64_t parts = parts_of(kernel, seen, slices, as_seen.was);
        scratch.sums = Tensor({2, parts, problem.channels}, DataType::f32, device);
        const bool both = gradients.weight.defined() && gradients.bias.defined();
        if (!both && !device.is_cpu())
            scratch.unwanted = Tensor({problem.channels}, problem.type, device);
    }
    const Operand all[] = {{"output gradient", output_gradient},
                           {"input", input},
                           {"weight", weight},
                           {"input gradient", call.input_gradient()},
                           {"weight gradient", gradients.weight},
                           {"bias gradient", gradients.bias},
                           {"mean", statistics.mean},
                           {"rstd", statistics.rstd}};
    OperationCall context(kBackward, device, all, stream);
    if (problem.batch == 0) {
        if (gradients.weight.defined()) gradients.weight.fill_zero();
        if (gradients.bias.defined()) gradients.bias.fill_zero();
        return;
    }
    const Operand memory[] = {{"sums of parts", scratch.sums},
                              {"an unwanted gradient", scratch.unwanted}};
    OperationCall on_scratch(kBackward, device, memory, stream);
    run_backward(call, as_seen, views, seen, kernel, on_scratch, stream, scratch);
} catch (...) {
    rethrow_as_error(kBackward);
}

}  // namespace

GroupNormProblem GroupNormProblem::from_shape(const Shape &input, DataType type,
                                              const GroupNormOptions &options, bool backward) {
    return problem_of(operation_of(backward), input, type, options, backward);
}

void group_norm(const Tensor &input, const Tensor &weight, const Tensor &bias, const Output &output,
                const GroupNormStatistics &statistics, const GroupNormOptions &options,
                const Stream &stream) {
    forward(nullptr, input, weight, bias, output, statistics, options, stream);
}

Tensor group_norm(const Tensor &input, const Tensor &weight, const Tensor &bias,
                  const GroupNormOptions &options) try {
    if (!input.defined()) fail(kForward, "input is undefined");
    problem_of(kForward, input.shape(), input.type(), options, false);
    Tensor output(input.shape(), input.type(), input.device());
    group_norm(input, weight, bias, output, {}, options);
    return output;
} catch (...) {
    rethrow_as_error(kForward);
}

void group_norm_backward(const Tensor &output_gradient, const Tensor &input, const Tensor &weight,
                         const GroupNormStatistics &statistics, const GroupNormGradients &gradients,
                         const GroupNormOptions &options, const Stream &stream) {
    backward(nullptr, {output_gradient, input, weight, statistics, gradients}, options, stream);
}

void group_norm_with(const KernelInfo &kernel, const Tensor &input, const Tensor &weight,
                     const Tensor &bias, const Output &output,
                     const GroupNormStatistics &statistics, const GroupNormOptions &options,
                     const Stream &stream) {
    forward(&kernel, input, weight, bias, output, statistics, options, stream);
}

void group_norm_backward_with(const KernelInfo &kernel, const Tensor &output_gradient,
                              const Tensor &input, const Tensor &weight,
                              const GroupNormStatistics &statistics,
                              const GroupNormGradients &gradients, const GroupNormOptions &options,
                              const Stream &stream) {
    backward(&kernel, {output_gradient, input, weight, statistics, gradients}, options, stream);
}

Selection select_group_norm(const GroupNormProblem &problem, DeviceType device,
                            const DeviceLimits &limits, bool explain) {
    return select(group_norm_kernels(), fields_of(as_row(problem)), device, limits, explain);
}

}  // namespace hk
