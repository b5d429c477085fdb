#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "call.h"
#include "convolution_arguments.h"
#include "hk/conv2d_backward.h"
#include "hk/error.h"
#include "operations.h"

namespace hk::python {

namespace {

using namespace nb::literals;

// A weight of a call: a prepared one, or an array.
struct ReadWeight {
    ReadWeight(Call &call, Weight argument, const Filter *prepared) : prepared_(prepared) {
        if (prepared) return;
        if (prepared_in<QuantizedFilter>(argument.object)) {
            refuse_type(std::string(call.operation()) +
                        ": weight is a QuantizedFilter, which quantized_conv2d takes");
        }
        tensor_ = call.image(argument, "weight");
    }
    Filter filter() const { return prepared_ ? *prepared_ : Filter(tensor_); }
    const Tensor &tensor() const { return prepared_ ? prepared_->tensor() : tensor_; }

private:
    const Filter *prepared_;
    Tensor tensor_;
};

Result conv2d(First input, Weight weight, OptionalArray bias, OptionalArray residual, Pair stride,
              Pads padding, Pair dilation, int64_t groups, std::string_view layout,
              std::optional<std::string_view> activation, std::optional<float> alpha,
              std::optional<float> beta, bool direct, bool allow_tf32, OptionalArray out) {
    Call call("conv2d");
    const auto *prepared = prepared_in<Filter>(weight.object);
    call.set_layout(layout, !prepared);
    const Tensor x = call.image(input, "input");
    const ReadWeight w(call, weight, prepared);
    Conv2dOptions options =
        convolution_options(call, x.shape(), w.tensor().shape(), stride, padding, dilation, groups);
    read_activation(activation, alpha, beta, options.activation, options.alpha, options.beta);
    options.direct = direct;
    options.allow_tf32 = allow_tf32;
    const Tensor b = call.optional(bias, "bias");
    const bool in_place = out.given() && out.object.is(residual.object);
    const Tensor added = in_place ? Tensor() : call.optional_image(residual, "residual");
    Conv2dProblem problem =
        Conv2dProblem::from_shapes(x.shape(), w.tensor().shape(), x.type(), options);
    problem.in_place = in_place;
    problem.prepared_filter = w.filter().is_prepared();
    if (explaining()) {
        return explain_with(call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_conv2d(problem, type, limits, true);
        });
    }
    Written y = call.write_or_make_image(out, "out", problem.output_shape(), x.type());
    call.run([&] {
        hk::conv2d(x, w.filter(), b, in_place ? y.tensor : added,
                   in_place ? inplace(y.tensor) : Output(y.tensor), options, call.stream());
    });
    return call.give(y);
}

// What halide_kernels.torch calls, of images that are nchw by their shape: nothing is named, which
// takes less time.
Result conv2d_of_torch(First input, Array weight, OptionalArray bias, Pair stride, Sizes padding,
                       Pair dilation, int64_t groups, bool allow_tf32) {
    Call call("conv2d");
    call.set_layout("nchw");
    const Tensor x = call.image(input, "input"), w = call.image(weight, "weight");
    const Tensor b = call.optional(bias, "bias");
    Conv2dOptions options;
    options.layout = call.layout();
    options.stride = read_pair("conv2d", "stride", stride);
    options.padding = read_four("conv2d", "padding", padding);
    options.dilation = read_pair("conv2d", "dilation", dilation);
    options.groups = groups;
    options.allow_tf32 = allow_tf32;
    const auto problem = Conv2dProblem::from_shapes(x.shape(), w.shape(), x.type(), options);
    Written y = call.make_image(problem.output_shape(), x.type());
    call.run([&] { hk::conv2d(x, w, b, Tensor(), y.tensor, options, call.stream()); });
    return call.give(y);
}

// The gradient that is added to, or a new one.
Written gradient(Call &call, OptionalArray out, bool accumulate, const Shape &shape,
                 DataType type) {
    if (accumulate && !out.given()) {
        throw InvalidArgument(std::string(call.operation()) +
                              ": accumulate is True, out is None; it must be what is added to");
    }
    return shape.size() == 4 ? call.write_or_make_image(out, "out", shape, type)
                             : call.write_or_make(out, "out", shape, type);
}

Result backward_data(First output_gradient, Array weight, Sizes input_shape, Pair stride,
                     Pads padding, Pair dilation, int64_t groups, std::string_view layout,
                     bool direct, bool allow_tf32, OptionalArray out, bool accumulate) {
    Call call("conv2d_backward_data");
    call.set_layout(layout);
    const Tensor dy = call.image(output_gradient, "output_gradient");
    const Tensor w = call.image(weight, "weight");
    const Shape shape = call.image_shape(input_shape, "input_shape");
    Conv2dOptions options =
        convolution_options(call, shape, w.shape(), stride, padding, dilation, groups);
    options.direct = direct;
    options.allow_tf32 = allow_tf32;
    const auto problem = Conv2dProblem::from_shapes(shape, w.shape(), dy.type(), options);
    if (explaining()) {
        return explain_with(call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_conv2d_backward_data(problem, type, limits, true);
        });
    }
    Written dx = gradient(call, out, accumulate, shape, dy.type());
    call.run(
        [&] { hk::conv2d_backward_data(dy, w, dx.tensor, options, accumulate, call.stream()); });
    return call.give(dx);
}

Result backward_weight(First output_gradient, Array input, Sizes weight_shape, Pair stride,
                       Pads padding, Pair dilation, int64_t groups, std::string_view layout,
                       OptionalArray out, bool accumulate) {
    Call call("conv2d_backward_weight");
    call.set_layout(layout);
    const Tensor dy = call.image(output_gradient, "output_gradient");
    const Tensor x = call.image(input, "input");
    const Shape shape = call.image_shape(weight_shape, "weight_shape");
    const Conv2dOptions options =
        convolution_options(call, x.shape(), shape, stride, padding, dilation, groups);
    const auto problem = Conv2dProblem::from_shapes(x.shape(), shape, dy.type(), options);
    if (explaining()) {
        return explain_with(call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_conv2d_backward_weight(problem, type, limits, true);
        });
    }
    Written dw = gradient(call, out, accumulate, shape, dy.type());
    call.run(
        [&] { hk::conv2d_backward_weight(dy, x, dw.tensor, options, accumulate, call.stream()); });
    return call.give(dw);
}

Result backward_bias(First output_gradient, std::string_view layout, OptionalArray out,
                     bool accumulate) {
    Call call("conv2d_backward_bias");
    call.set_layout(layout);
    const Tensor dy = call.image(output_gradient, "output_gradient");
    spatial(call.operation(), "output_gradient", dy.shape(), call.layout());
    if (explaining()) throw InvalidArgument("explain: conv2d_backward_bias has one row a type");
    const int64_t filters = dy.shape()[call.layout() == Layout::nchw ? 1 : 3];
    Written db = gradient(call, out, accumulate, {filters}, dy.type());
    call.run(
        [&] { hk::conv2d_backward_bias(dy, db.tensor, call.layout(), accumulate, call.stream()); });
    return call.give(db);
}

nb::tuple backward(First output_gradient, Array input, Array weight, Pair stride, Pads padding,
                   Pair dilation, int64_t groups, std::string_view layout, bool direct,
                   bool allow_tf32, std::array<bool, 3> wanted) {
    Call call("conv2d_backward");
    call.set_layout(layout);
    const Tensor dy = call.image(output_gradient, "output_gradient");
    const Tensor x = call.image(input, "input");
    const Tensor w = call.image(weight, "weight");
    Conv2dOptions options =
        convolution_options(call, x.shape(), w.shape(), stride, padding, dilation, groups);
    options.direct = direct;
    options.allow_tf32 = allow_tf32;
    if (explaining())
        throw InvalidArgument("explain: conv2d_backward is several selections; ask for each");
    Conv2dProblem::from_shapes(x.shape(), w.shape(), dy.type(), options);
    const int64_t filters = w.shape()[0];
    const auto made = [&](bool want, const Shape &shape) {
        if (!want) return Written();
        return shape.size() == 4 ? call.make_image(shape, dy.type()) : call.make(shape, dy.type());
    };
    Written results[] = {made(wanted[0], x.shape()), made(wanted[1], w.shape()),
                         made(wanted[2], {filters})};
    call.run([&] {
        hk::conv2d_backward(dy, x, w, {results[0].tensor, results[1].tensor, results[2].tensor},
                            options, 0, call.stream());
    });
    const auto given = [&](size_t i) {
        return wanted[i] ? call.give(results[i]).object : nb::none();
    };
    return nb::make_tuple(given(0), given(1), given(2));
}

Filter prepare(Array weight) {
    const Tensor values = keep(weight.object, {kPrepare, "weight"});
    check_weight(values, {DataType::f32, DataType::f16, DataType::bf16});
    return prepare_filter(values);
}

void repeat(Array input, Array weight, int64_t calls) {
    const Tensor x = keep(input.object, {"_repeat_conv2d", "input"});
    const Tensor w = keep(weight.object, {"_repeat_conv2d", "weight"});
    const Unlocked unlocked;
    const Calling calling;
    for (int64_t i = 0; i < calls; i++) hk::conv2d(x, w);
}

constexpr const char *kConv2d = R"(Two-dimensional convolution, as ONNX's operator Conv defines it.

    output[n, y, x, k] = activation(bias[k] + residual[n, y, x, k] +
        sum over c, r, s of weight[k, r, s, c] *
        input[n, y*stride_y + r*dilation_y - top, x*stride_x + s*dilation_x - left, g*C/G + c])

Args:
    input: [N, H, W, C] in layout "nhwc", [N, C, H, W] in "nchw"; float32, float16 or bfloat16,
        as all others.
    weight: [K, R, S, C/groups], in "nchw" [K, C/groups, R, S]; or a Filter (prepare_filter).
    bias: [K].
    residual: of the output's shape.
    stride, dilation: pixels; an int, or (y, x).
    padding: pixels; "same" (as many outputs as input pixels over the stride, odd ones at the
        end), "valid", an int, (y, x), or ((top, bottom), (left, right)).
    activation: "relu", "clamp" (alpha: lower, beta: upper bound), "leaky_relu" (alpha), "silu",
        "gelu".
    direct: the definition's products alone, no Winograd transform.
    allow_tf32: on CUDA products of float32 may be of operands cut off to TF32, 10 bits behind
        the point.
    out: what is written, and returned. It may be the residual itself.

Returns:
    [N, OH, OW, K] or [N, K, OH, OW]. Sums are float32, rounded once.

Raises:
    ValueError: shapes, types or options that do not fit, with both values.
    TypeError: no array, or elements of no type that the library has.
    MemoryError, DeviceError, KernelFailure.

Source: runtime/include/hk/conv2d.h.)";

constexpr const char *kBackwardData = R"(Gradient of conv2d's input from that of its output.

Args:
    output_gradient: of conv2d's output.
    weight: of conv2d.
    input_shape: of conv2d's input, which the output's does not tell with a stride.
    stride, padding, dilation, groups, layout, direct, allow_tf32: of conv2d.
    out: what is written, and returned; with accumulate what is added to.

Returns: [N, H, W, C] or [N, C, H, W].

Source: runtime/include/hk/conv2d_backward.h.)";

constexpr const char *kBackwardWeight = R"(Gradient of conv2d's weight from that of its output.

Args:
    output_gradient: of conv2d's output.
    input: of conv2d.
    weight_shape: of conv2d's weight.
    stride, padding, dilation, groups, layout: of conv2d.
    out: what is written, and returned; with accumulate what is added to.

Returns: [K, R, S, C/groups] or [K, C/groups, R, S]; the same bits in each call.

Source: runtime/include/hk/conv2d_backward.h.)";

constexpr const char *kBackwardBias = R"(Gradient of conv2d's bias from that of its output: [K].

With accumulate it is added to out.

Source: runtime/include/hk/conv2d_backward.h.)";

constexpr const char *kBackward =
    R"(Gradients of conv2d's input, weight and bias from that of its output.

Args:
    wanted: which of the three; those that are not are None and cost nothing.

Returns: a tuple of three.

Source: runtime/include/hk/conv2d_backward.h.)";

void add_filter(nb::module_ &module) {
    nb::class_<Filter>(module, "Filter",
                       "A weight of conv2d that does not change, with what kernels make of it.")
        .def_prop_ro(
            "shape", [](const Filter &filter) { return tuple_of(filter.tensor().shape()); },
            nb::sig("def shape(self) -> tuple[int, ...]"))
        .def_prop_ro("dtype",
                     [](const Filter &filter) { return numpy_name(filter.tensor().type()); })
        .def_prop_ro(
            "nbytes", [](const Filter &filter) { return filter.bytes(); },
            "Bytes that are kept beside the weight, so far.")
        .def("__repr__",
             [](const Filter &filter) { return filter_text("Filter", filter.tensor()); });
    module.def(kPrepare, prepare, "weight"_a,
               "Keeps what kernels make of the weight, for many calls of conv2d.\n\n"
               "weight: [K, R, S, C/groups], or [K, C/groups, R, S] where calls say layout "
               "\"nchw\". The array's memory is kept and must not change.\n\n"
               "Source: runtime/include/hk/filter.h.");
}

}  // namespace

void add_convolution(nb::module_ &module) {
    add_filter(module);
    module.def("conv2d", conv2d, "input"_a, "weight"_a, "bias"_a = nb::none(),
               "residual"_a = nb::none(), nb::kw_only(), "stride"_a = 1, "padding"_a = 0,
               "dilation"_a = 1, "groups"_a = 1, "layout"_a = "nhwc", "activation"_a = nb::none(),
               "alpha"_a = nb::none(), "beta"_a = nb::none(), "direct"_a = false,
               "allow_tf32"_a = false, "out"_a = nb::none(), kConv2d);
    module.def("conv2d_backward_data", backward_data, "output_gradient"_a, "weight"_a,
               "input_shape"_a, nb::kw_only(), "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1,
               "groups"_a = 1, "layout"_a = "nhwc", "direct"_a = false, "allow_tf32"_a = false,
               "out"_a = nb::none(), "accumulate"_a = false, kBackwardData);
    module.def("conv2d_backward_weight", backward_weight, "output_gradient"_a, "input"_a,
               "weight_shape"_a, nb::kw_only(), "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1,
               "groups"_a = 1, "layout"_a = "nhwc", "out"_a = nb::none(), "accumulate"_a = false,
               kBackwardWeight);
    module.def("conv2d_backward_bias", backward_bias, "output_gradient"_a, nb::kw_only(),
               "layout"_a = "nhwc", "out"_a = nb::none(), "accumulate"_a = false, kBackwardBias);
    module.def("conv2d_backward", backward, "output_gradient"_a, "input"_a, "weight"_a,
               nb::kw_only(), "stride"_a = 1, "padding"_a = 0, "dilation"_a = 1, "groups"_a = 1,
               "layout"_a = "nhwc", "direct"_a = false, "allow_tf32"_a = false,
               "wanted"_a = nb::make_tuple(true, true, true), kBackward,
               nb::sig("def conv2d_backward(output_gradient: halide_kernels.typing.A, "
                       "input: halide_kernels.typing.Array, weight: halide_kernels.typing.Array, "
                       "*, stride: int | tuple[int, int] = 1, padding: str | int | "
                       "tuple[int, int] | tuple[tuple[int, int], tuple[int, int]] = 0, "
                       "dilation: int | tuple[int, int] = 1, groups: int = 1, "
                       "layout: str = 'nhwc', direct: bool = False, allow_tf32: bool = False, "
                       "wanted: collections.abc.Sequence[bool] = (True, True, True)) -> "
                       "tuple[halide_kernels.typing.A | None, halide_kernels.typing.A | None, "
                       "halide_kernels.typing.A | None]"));
    module.def("_conv2d_of_torch", conv2d_of_torch, "input"_a, "weight"_a, "bias"_a.none(),
               "stride"_a, "padding"_a, "dilation"_a, "groups"_a, "allow_tf32"_a,
               "conv2d in nchw, for halide_kernels.torch: padding is top, bottom, left, right.");
    module.def("_repeat_conv2d", repeat, "input"_a, "weight"_a, "calls"_a,
               "Calls conv2d from C++, for halide_kernels.bench to time.");
}

}  // namespace hk::python
