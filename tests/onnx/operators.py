"""ONNX's operators by calls of the library.

Each function takes a model and the library, and returns the outputs. It raises NotSupported, with
the reason, for what the library has no option for.
"""

import dataclasses
import math
from typing import Callable

import numpy as np
from library import TYPES, poisoned


class NotSupported(Exception):
    """The library can't do what a model asks for."""


REAL = ("f32", "f16", "bf16")


def expect_type(array, *names):
    name = TYPES[array.dtype]
    if name not in names:
        raise NotSupported(f"elements of type {name}")


@dataclasses.dataclass
class Window:
    """A filter or a pooling window: y, x. Of one dimension it lies in an image of one row."""

    model: object
    kernel: list
    dimensions: int = dataclasses.field(init=False)

    def __post_init__(self):
        self.dimensions = len(self.kernel)
        if self.dimensions > 2:
            raise NotSupported(f"images of {self.dimensions} dimensions")
        self.stride = self.values("strides")
        self.dilation = self.values("dilations")
        self.kernel = [1] * (2 - self.dimensions) + list(self.kernel)
        self.spans = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation)]

    def values(self, name, default=1):
        """Of an attribute, for each axis; along a single row's height the default."""
        given = self.model.attribute(name) or [default] * self.dimensions
        return [default] * (2 - self.dimensions) + list(given)

    def image(self, array):
        return array if array is None or self.dimensions == 2 else array[:, :, None]

    def original(self, image):
        return image if self.dimensions == 2 else image[:, :, 0]

    def pads(self):
        """(before, after) for each axis, as the attribute says."""
        given = list(self.model.attribute("pads") or [0] * (2 * self.dimensions))
        n = self.dimensions
        return [(0, 0)] * (2 - n) + list(zip(given[:n], given[n:]))

    def padding(self, extents):
        """(before, after) for each axis of an input of these extents."""
        auto = self.model.attribute("auto_pad", "NOTSET")
        pads = self.pads()
        if auto == "NOTSET":
            return pads
        if auto == "VALID":
            return [(0, 0)] * 2
        totals = [max(0, (math.ceil(n / s) - 1) * s + span - n)
                  for n, s, span in zip(extents, self.stride, self.spans)]
        return [halves(total, auto == "SAME_UPPER") for total in totals]


def halves(total, larger_behind):
    less, more = total // 2, total - total // 2
    return (less, more) if larger_behind else (more, less)


def sides(padding):
    """top, bottom, left, right"""
    return [*padding[0], *padding[1]]


def window_of_weight(model, weight):
    kernel = list(weight.shape[2:])
    if list(model.attribute("kernel_shape", kernel)) != kernel:
        raise ValueError(f"kernel_shape is not the weight's, {kernel}")
    return Window(model, kernel)


def convolution(model, library, operation, x, weight, others, **options):
    """The output of a forward convolution: Conv and its quantised forms."""
    window = window_of_weight(model, weight)
    x = window.image(x)
    expected = window.image(model.expected[0])
    images = {"input": x, "weight": window.image(weight),
              "output": poisoned(expected.shape, expected.dtype)}
    result = library.of_images(
        operation, images, "output", others, stride=window.stride, dilation=window.dilation,
        padding=sides(window.padding(x.shape[2:])), groups=model.attribute("group", 1), **options)
    return [window.original(result)]


def conv(model, library):
    x, weight, bias = (model.input(n) for n in range(3))
    expect_type(x, *REAL)
    return convolution(model, library, "conv2d", x, weight, {"bias": bias})


def conv_transpose(model, library):
    """The gradient of a convolution's input. It is added to the bias."""
    x, weight, bias = (model.input(n) for n in range(3))
    expect_type(x, *REAL)
    window = window_of_weight(model, weight)
    x = window.image(x)
    gradient = poisoned(window.image(model.expected[0]).shape, x.dtype)
    if bias is not None:
        gradient = np.broadcast_to(bias[:, None, None], gradient.shape)
    result = library.of_images(
        "conv2d_backward_data",
        {"output_gradient": x, "weight": window.image(weight), "input_gradient": gradient},
        "input_gradient", stride=window.stride, dilation=window.dilation,
        padding=sides(transposed_padding(window, x.shape[2:])), groups=model.attribute("group", 1),
        beta=0 if bias is None else 1)
    return [window.original(result)]


def transposed_padding(window, extents):
    """What is cut off a ConvTranspose's output. Where its shape is given: what is beyond it."""
    auto = window.model.attribute("auto_pad", "NOTSET")
    extra = window.values("output_padding", 0)
    pads = window.pads()
    whole = [s * (n - 1) + e + span
             for s, n, e, span in zip(window.stride, extents, extra, window.spans)]
    if auto == "VALID":
        return [(0, 0)] * 2
    if window.model.attribute("output_shape") is not None:
        wanted = window.values("output_shape")
    elif auto == "NOTSET":
        return pads
    else:
        wanted = [n * s for n, s in zip(extents, window.stride)]
    return [halves(max(0, w - o), auto == "SAME_UPPER") for w, o in zip(whole, wanted)]


def one_zero_point(array):
    """Of a tensor; zero where there is none."""
    if array is None:
        return 0
    if len(set(array.ravel().tolist())) > 1:
        raise NotSupported("a zero point for each filter")
    return int(array.ravel()[0])


def signed(weight, zero_point):
    """A weight of u8 as one of s8: both it and its zero point are 128 less."""
    if weight.dtype == np.int8:
        return weight, zero_point
    return (weight.astype(np.int16) - 128).astype(np.int8), zero_point - 128


def quantization(scales, zero_point):
    return {"scales": np.asarray(scales, np.float32).ravel().tolist(), "zero_point": zero_point}


def qlinear_conv(model, library):
    (x, x_scale, x_zero, weight, w_scale, w_zero, y_scale, y_zero, bias) = (
        model.input(n) for n in range(9))
    weight, w_zero = signed(weight, one_zero_point(w_zero))
    return convolution(
        model, library, "quantized_conv2d", x, weight, {"bias": bias},
        input_quantization=quantization(x_scale, one_zero_point(x_zero)),
        weight_quantization=quantization(w_scale, w_zero),
        output_quantization=quantization(y_scale, one_zero_point(y_zero)))


def conv_integer(model, library):
    """Scales of 1: the output is the sum itself."""
    x, weight, x_zero, w_zero = (model.input(n) for n in range(4))
    weight, w_zero = signed(weight, one_zero_point(w_zero))
    return convolution(model, library, "quantized_conv2d", x, weight, {},
                       input_quantization=quantization(1, one_zero_point(x_zero)),
                       weight_quantization=quantization(1, w_zero))


def pool(model, library, x, window, padding, average):
    output = poisoned(window.image(model.expected[0]).shape, x.dtype)
    result = library.of_images(
        "pool2d", {"input": window.image(x), "output": output}, "output", average=average,
        kernel=window.kernel, stride=window.stride, padding=sides(padding))
    return [window.original(result)]


def rounded_up(window, extents, padding):
    """The padding with which the last window is the one of ceil_mode: one that begins in the image
    or in the padding before it."""
    result = []
    for n, k, s, (before, after) in zip(extents, window.kernel, window.stride, padding):
        count = math.ceil((n + before + after - k) / s) + 1
        if (count - 1) * s >= n + before:
            count -= 1
        result.append((before, max(0, (count - 1) * s + k - n - before)))
    return result


def window_pool(model, library, average):
    x = model.input(0)
    window = Window(model, model.attribute("kernel_shape"))
    expect_type(x, *REAL)
    if window.dilation != [1, 1]:
        raise NotSupported("windows with gaps (dilations)")
    if len(model.expected) > 1:
        raise NotSupported("indices of the maxima")
    extents = window.image(x).shape[2:]
    padding = window.padding(extents)
    if model.attribute("count_include_pad", 0) and any(sides(padding)):
        raise NotSupported("padding that counts in the mean (count_include_pad)")
    if model.attribute("ceil_mode", 0):
        padding = rounded_up(window, extents, padding)
    return pool(model, library, x, window, padding, average)


def max_pool(model, library):
    model.attribute("storage_order")  # of the indices alone
    return window_pool(model, library, average=False)


def average_pool(model, library):
    return window_pool(model, library, average=True)


def global_pool(model, library, average):
    x = model.input(0)
    expect_type(x, *REAL)
    window = Window(model, list(x.shape[2:]))
    return pool(model, library, x, window, [(0, 0)] * 2, average)


def global_max_pool(model, library):
    return global_pool(model, library, average=False)


def global_average_pool(model, library):
    return global_pool(model, library, average=True)


def activate(model, library, activation, alpha=0, beta=0):
    x = model.input(0)
    expect_type(x, *REAL)
    return library.call("activate", {"input": x, "output": poisoned(x.shape, x.dtype)}, ["output"],
                        activation=activation, alpha=alpha, beta=beta)


def relu(model, library):
    return activate(model, library, "relu")


def leaky_relu(model, library):
    return activate(model, library, "leaky_relu", alpha=model.attribute("alpha", 0.01))


def gelu(model, library):
    if model.attribute("approximate", "none") != "none":
        raise NotSupported("the approximation by tanh")
    return activate(model, library, "gelu")


def swish(model, library):
    if model.attribute("alpha", 1.0) != 1:
        raise NotSupported("a factor within the sigmoid (alpha)")
    return activate(model, library, "silu")


def clip(model, library):
    """The bounds are attributes up to opset 6, inputs from opset 11 on; either may be left out."""
    bounds = [model.attribute("min"), model.attribute("max")]
    for n in range(2):
        if (value := model.input(n + 1)) is not None:
            bounds[n] = value.item()
    return activate(model, library, "clamp", *bounds)


def top_k(model, library):
    x, k = model.input(0), int(model.input(1).ravel()[0])
    values, indices = (poisoned(array.shape, array.dtype) for array in model.expected)
    return library.call(
        "topk", {"input": x, "values": values, "indices": indices}, ["values", "indices"], k=k,
        axis=model.attribute("axis", -1), sorted=bool(model.attribute("sorted", 1)),
        order="largest" if model.attribute("largest", 1) else "smallest")


def softmax_cross_entropy_loss(model, library):
    """Classes come last, all other axes are rows. Their losses are added up here, as ONNX wants."""
    logits, labels = model.input(0), model.input(1)
    expect_type(logits, *REAL)
    if model.input(2) is not None:
        raise NotSupported("weights of classes")
    if model.attribute("ignore_index") is not None:
        raise NotSupported("a class that does not count (ignore_index)")
    if len(model.expected) > 1:
        raise NotSupported("logarithms of probabilities as an output")
    rows = np.moveaxis(logits, 1, -1).reshape(-1, logits.shape[1])
    loss, = library.call(
        "softmax_cross_entropy", {"logits": rows, "labels": labels.ravel(),
                                  "loss": poisoned(labels.size, np.float32)}, ["loss"])
    reduction = model.attribute("reduction", "mean")
    if reduction == "none":
        return [loss.reshape(labels.shape).astype(logits.dtype)]
    total = loss.sum() if reduction == "sum" else loss.mean()
    return [np.asarray(total, logits.dtype)]


def momentum(model, library):
    """A step for each tensor. In its first (T = 0) the gradient counts in full."""
    rate, step = model.input(0).item(), model.input(1).item()
    beta, mode = model.attribute("beta"), model.attribute("mode")
    if step > 0 and beta != 1:
        raise NotSupported("a gradient that counts in part (beta)")
    count = (len(model.arrays) - 2) // 3
    steps = []
    for n in range(count):
        parameter, gradient, velocity = (model.input(2 + n + part * count) for part in range(3))
        expect_type(parameter, *REAL)
        arrays = {"parameter": parameter, "gradient": gradient, "velocity": velocity}
        steps.append(library.call(
            "sgd_step", arrays, ["parameter", "velocity"], learning_rate=rate,
            momentum=model.attribute("alpha"), weight_decay=model.attribute("norm_coefficient"),
            nesterov=mode == "nesterov"))
    return [*(step[0] for step in steps), *(step[1] for step in steps)]


@dataclasses.dataclass
class Operator:
    operation: str
    function: Callable
    has_layouts: bool = False


OPERATORS = {
    "Conv": Operator("conv2d", conv, has_layouts=True),
    "ConvTranspose": Operator("conv2d_backward_data", conv_transpose, has_layouts=True),
    "QLinearConv": Operator("quantized_conv2d", qlinear_conv, has_layouts=True),
    "ConvInteger": Operator("quantized_conv2d", conv_integer, has_layouts=True),
    "MaxPool": Operator("pool2d", max_pool, has_layouts=True),
    "AveragePool": Operator("pool2d", average_pool, has_layouts=True),
    "GlobalMaxPool": Operator("pool2d", global_max_pool, has_layouts=True),
    "GlobalAveragePool": Operator("pool2d", global_average_pool, has_layouts=True),
    "Relu": Operator("activate", relu),
    "LeakyRelu": Operator("activate", leaky_relu),
    "Gelu": Operator("activate", gelu),
    "Swish": Operator("activate", swish),
    "Clip": Operator("activate", clip),
    "TopK": Operator("topk", top_k),
    "SoftmaxCrossEntropyLoss": Operator("softmax_cross_entropy", softmax_cross_entropy_loss),
    "Momentum": Operator("sgd_step", momentum),
}
