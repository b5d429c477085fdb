"""Every operation against NumPy, in both layouts."""

import ml_dtypes
import numpy as np
import pytest
import reference

import halide_kernels as hk

TO = {"nhwc": (0, 1, 2, 3), "nchw": (0, 3, 1, 2)}
FROM = {"nhwc": (0, 1, 2, 3), "nchw": (0, 2, 3, 1)}
LAYOUTS = pytest.mark.parametrize("layout", TO)


def to(layout, array):
    return np.ascontiguousarray(array.transpose(TO[layout]))


def back(layout, array):
    return array.transpose(FROM[layout])


@LAYOUTS
@pytest.mark.parametrize("options", [
    {}, {"stride": 2, "padding": "same"}, {"stride": (2, 1), "padding": 1},
    {"dilation": (1, 2), "padding": (2, 1)}, {"padding": ((1, 0), (2, 3)), "groups": 2},
    {"groups": 4, "padding": "same"}, {"padding": "valid", "stride": np.int64(1)},
])
def test_conv2d(ints, layout, options):
    x, w, b = ints(2, 7, 9, 4), ints(8, 3, 3, 4 // options.get("groups", 1)), ints(8)
    y = hk.conv2d(to(layout, x), to(layout, w), b, layout=layout, direct=True, allow_tf32=True, **options)
    plain = {name: int(v) if isinstance(v, np.int64) else v for name, v in options.items()}
    np.testing.assert_array_equal(back(layout, y), reference.conv2d(x, w, **plain) + b)


@pytest.mark.parametrize("activation, function", [
    (("relu", None, None), lambda v: np.maximum(v, 0)),
    (("clamp", -3, 2), lambda v: np.clip(v, -3, 2)),
    (("leaky_relu", 0.5, None), lambda v: np.where(v < 0, v / 2, v)),
])
def test_conv2d_adds_and_activates(ints, activation, function):
    x, w, b, residual = ints(1, 4, 5, 3), ints(2, 1, 1, 3), ints(2), ints(1, 4, 5, 2)
    name, alpha, beta = activation
    expected = function(reference.conv2d(x, w) + b + residual)
    y = hk.conv2d(x, w, b, residual, activation=name, alpha=alpha, beta=beta)
    np.testing.assert_array_equal(y, expected)
    same = hk.conv2d(x, w, b, residual, activation=name, alpha=alpha, beta=beta, out=residual)
    assert same is residual
    np.testing.assert_array_equal(residual, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_conv2d_of_each_type(ints, dtype):
    x, w = ints(1, 5, 5, 8, dtype=dtype), ints(4, 3, 3, 8, dtype=dtype)
    y = hk.conv2d(x, w)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, reference.conv2d(x, w).astype(dtype))
    np.testing.assert_array_equal(y, hk.conv2d(x, hk.prepare_filter(w)))


@LAYOUTS
@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1}, {"groups": 2, "dilation": 2}])
def test_conv2d_gradients(ints, layout, options):
    x, w = ints(1, 6, 5, 4), ints(4, 2, 3, 4 // options.get("groups", 1))
    dy = ints(*reference.conv2d(x, w, **options).shape)
    dx, dw = reference.conv2d_gradients(dy, x, w, **options)
    db = dy.sum((0, 1, 2), dtype=np.float64)
    xs, ws, dys = (to(layout, array) for array in (x, w, dy))
    options = {**options, "layout": layout}
    all_three = hk.conv2d_backward(dys, xs, ws, direct=True, allow_tf32=True, **options)
    one_each = (hk.conv2d_backward_data(dys, ws, xs.shape, direct=True, allow_tf32=True, **options),
                hk.conv2d_backward_weight(dys, xs, ws.shape, **options),
                hk.conv2d_backward_bias(dys, layout=layout))
    for results in (all_three, one_each):
        np.testing.assert_array_equal(back(layout, results[0]), dx)
        np.testing.assert_array_equal(back(layout, results[1]), dw)
        np.testing.assert_array_equal(results[2], db)
    out = to(layout, np.ones(w.shape, np.float32))
    added = hk.conv2d_backward_weight(dys, xs, ws.shape, out=out, accumulate=True, **options)
    assert added is out
    np.testing.assert_array_equal(back(layout, out), dw + 1)
    some = hk.conv2d_backward(dys, xs, ws, wanted=(False, True, False), **options)
    assert some[0] is None and some[2] is None
    np.testing.assert_array_equal(some[1], all_three[1])


def test_quantized_conv2d(rng):
    x = rng.integers(0, 256, (1, 5, 6, 4)).astype(np.uint8)
    w = rng.integers(-128, 128, (3, 3, 3, 4)).astype(np.int8)
    bias = rng.integers(-1000, 1000, 3).astype(np.int32)
    sums = reference.conv2d(x.astype(float) - 128, w.astype(float)) + bias
    exact = hk.quantized_conv2d(x, w, bias, input_scale=0.5, input_zero_point=128,
                                weight_scale=0.25, output_dtype="int32")
    assert exact.dtype == np.int32
    np.testing.assert_array_equal(exact, sums)
    scales = np.array([0.25, 0.5, 2], np.float32)
    real = hk.quantized_conv2d(x, w, bias, input_scale=np.float32(0.5), input_zero_point=128,
                               weight_scale=scales)
    np.testing.assert_array_equal(real, (sums * 0.5 * scales).astype(np.float32))
    stored = hk.quantized_conv2d(x, w, bias, input_scale=1, input_zero_point=128, weight_scale=1,
                                 output_dtype=np.int8, output_scale=4096.0, output_zero_point=-3)
    np.testing.assert_array_equal(stored, np.clip(np.rint(sums / 4096) - 3, -128, 127))


@LAYOUTS
@pytest.mark.parametrize("scale", [0.25, [0.25, 0.5, 2, 1]])
@pytest.mark.parametrize("options", [{"padding": 1}, {"groups": 2, "stride": 2}])
def test_prepared_quantised_filters(rng, layout, scale, options):
    x = rng.integers(0, 256, (2, 6, 5, 4)).astype(np.uint8)
    w = rng.integers(-128, 128, (4, 3, 3, 4 // options.get("groups", 1))).astype(np.int8)
    weight = {"weight_scale": scale if isinstance(scale, float) else np.array(scale, np.float32),
              "weight_zero_point": 3}
    options = {**options, "input_scale": 0.5, "input_zero_point": 128, "layout": layout}
    expected = hk.quantized_conv2d(to(layout, x), to(layout, w), **weight, **options)
    filters = hk.prepare_filter(to(layout, w), **weight)
    assert isinstance(filters, hk.QuantizedFilter) and filters.shape == to(layout, w).shape
    for _ in range(2):  # the first call keeps what it makes of the weight
        found = hk.quantized_conv2d(to(layout, x), filters, **options)
        np.testing.assert_array_equal(found, expected)
    # nhwc's memory, which plain calls read as it is.
    if layout == "nchw":
        found = hk.quantized_conv2d(x.transpose(TO[layout]), filters, **options)
        np.testing.assert_array_equal(found, expected)
    filters = hk.prepare_filter(to(layout, w), **weight)
    del weight, w
    np.testing.assert_array_equal(hk.quantized_conv2d(to(layout, x), filters, **options), expected)


def test_prepared_quantised_filters_keep_copies(rng):
    x = rng.integers(0, 256, (1, 20, 20, 64)).astype(np.uint8)
    w = rng.integers(-128, 128, (64, 3, 3, 64)).astype(np.int8)
    filters = hk.prepare_filter(w, weight_scale=1)
    assert filters.nbytes == 0
    hk.quantized_conv2d(x, filters, input_scale=1)
    selected = hk.explain(hk.quantized_conv2d, x, filters, input_scale=1).kernel
    assert (filters.nbytes > 0) == selected.algorithm.startswith("packed")


def test_filters_of_the_other_kind(ints):
    x, w = ints(1, 4, 4, 8), ints(8, 1, 1, 8)
    byte = w.astype(np.int8)
    real, quantised = hk.prepare_filter(w), hk.prepare_filter(byte, weight_scale=1)
    with pytest.raises(TypeError, match="conv2d: weight is a QuantizedFilter.*quantized_conv2d"):
        hk.conv2d(x, quantised)
    with pytest.raises(TypeError, match="quantized_conv2d: weight is a Filter.*weight_scale"):
        hk.quantized_conv2d(x, real)
    with pytest.raises(ValueError, match="weight_scale.*given, the weight is a QuantizedFilter"):
        hk.quantized_conv2d(x, quantised, weight_scale=2.0)
    for scale in (0, float("nan"), np.zeros(8, np.float32)):
        with pytest.raises(ValueError, match="scale"):
            hk.prepare_filter(byte, weight_scale=scale)
    with pytest.raises(ValueError, match="weight_zero_point is 4294967296"):
        hk.prepare_filter(byte, weight_scale=1, weight_zero_point=1 << 32)
    for function in (hk.conv2d, hk.quantized_conv2d):
        with pytest.raises(TypeError, match="NoneType"):
            function(x, None)


def test_quantised_operands_without_a_scale(ints):
    x, w = ints(1, 4, 4, 8).astype(np.uint8), ints(8, 1, 1, 8).astype(np.int8)
    with pytest.raises(ValueError, match="input is uint8, input_scale is None"):
        hk.quantized_conv2d(x, w, weight_scale=1)
    with pytest.raises(ValueError, match="weight is int8, weight_scale is None"):
        hk.quantized_conv2d(x, w, input_scale=1)
    with pytest.raises(ValueError, match="bias is int8, bias_scale is None"):
        hk.quantized_conv2d(x, w, ints(8).astype(np.int8), input_scale=1, weight_scale=1)
    with pytest.raises(ValueError, match="output is uint8, output_scale is None"):
        hk.quantized_conv2d(x, w, input_scale=1, weight_scale=1, output_dtype="uint8")
    # Where no scale helps, the type is what is wrong.
    for scale in [None, 1]:
        with pytest.raises(ValueError, match="bias is uint8, it must be float32, int8 or int32"):
            hk.quantized_conv2d(x, w, np.zeros(8, np.uint8), input_scale=1, weight_scale=1,
                                bias_scale=scale)
        with pytest.raises(ValueError, match="weight is uint8, it must be int8"):
            hk.quantized_conv2d(x, w.astype(np.uint8), input_scale=1, weight_scale=scale)


def test_quantised_operands_with_a_scale_that_is_wrong(ints):
    x, w = ints(1, 4, 4, 8).astype(np.uint8), ints(8, 1, 1, 8).astype(np.int8)
    scales = {"input_scale": 1, "weight_scale": 1}
    with pytest.raises(ValueError, match="input is float32, input_scale must be None"):
        hk.quantized_conv2d(x.astype(np.float32), w, **scales)
    with pytest.raises(ValueError, match="bias is float32, bias_scale must be None"):
        hk.quantized_conv2d(x, w, np.zeros(8, np.float32), bias_scale=1, **scales)
    for dtype in ("float32", "int32"):
        with pytest.raises(ValueError, match=f"output is {dtype}, output_scale must be None"):
            hk.quantized_conv2d(x, w, output_dtype=dtype, output_scale=1, **scales)
    for scale in (0, -1.0, float("nan"), np.float32(0)):
        with pytest.raises(ValueError, match="quantized_conv2d: input_scale is .*above 0"):
            hk.quantized_conv2d(x, w, input_scale=scale, weight_scale=1)
    with pytest.raises(ValueError, match="quantized_conv2d: weight_scale: .*scale 0 is 0"):
        hk.quantized_conv2d(x, w, input_scale=1, weight_scale=np.zeros(8, np.float32))


def test_filters_say_what_they_are(ints):
    w = ints(8, 1, 1, 4)
    byte = w.astype(np.int8)
    real = hk.prepare_filter(w)
    assert repr(real) == "<halide_kernels.Filter [8, 1, 1, 4] float32>" and real.dtype == "float32"
    stored = hk.prepare_filter(byte, weight_scale=0.1, weight_zero_point=3)
    assert repr(stored) == ("<halide_kernels.QuantizedFilter [8, 1, 1, 4] int8, scale 0.1, "
                            "zero point 3>") and stored.dtype == "int8"
    many = hk.prepare_filter(byte, weight_scale=np.ones(8, np.float32))
    assert repr(many) == "<halide_kernels.QuantizedFilter [8, 1, 1, 4] int8, 8 scales>"


def test_weights_that_no_filter_can_be_of(ints):
    w = ints(8, 1, 1, 4)
    byte = w.astype(np.int8)
    with pytest.raises(ValueError, match=r"prepare_filter: weight has shape \[8, 4\]"):
        hk.prepare_filter(w[:, 0, 0])
    with pytest.raises(ValueError, match=r"prepare_filter: weight has shape \[8, 4\]"):
        hk.prepare_filter(byte[:, 0, 0], weight_scale=1)
    with pytest.raises(ValueError, match="weight is int8, weight_scale is None"):
        hk.prepare_filter(byte)
    with pytest.raises(ValueError, match="weight is float64, it must be float32, float16 or bfl"):
        hk.prepare_filter(w.astype(np.float64))
    with pytest.raises(ValueError, match="weight is float32, it must be int8"):
        hk.prepare_filter(w, weight_scale=1)
    with pytest.raises(ValueError, match="weight_scale has 5 scales, the weight has 8 filters"):
        hk.prepare_filter(byte, weight_scale=np.ones(5, np.float32))


@LAYOUTS
@pytest.mark.parametrize("pooling", ["max", "average"])
@pytest.mark.parametrize("options", [{"kernel": 2}, {"kernel": (3, 2), "stride": 1, "padding": 1}])
def test_pool2d(ints, layout, pooling, options):
    x = ints(2, 6, 7, 3)
    stride = options.get("stride", options["kernel"])
    expected = reference.pool2d(x, options["kernel"], pooling, stride, options.get("padding", 0))
    y = hk.pool2d(to(layout, x), pooling=pooling, layout=layout, **options)
    np.testing.assert_allclose(back(layout, y), expected, rtol=1e-6, atol=1e-6)


def test_pool2d_gradients(ints):
    x = np.arange(2 * 4 * 4 * 3, dtype=np.float32).reshape(2, 4, 4, 3) % 17
    y = hk.pool2d(x)
    dy = ints(*y.shape)
    dx = hk.pool2d_backward(dy, x, y)
    seen = reference.windows(x, (2, 2), (2, 2), (1, 1), ((0, 0), (0, 0)))
    expected = np.zeros_like(x)
    for n, i, j, c in np.ndindex(y.shape):
        r, s = np.unravel_index(seen[n, i, j, :, :, c].argmax(), (2, 2))
        expected[n, 2 * i + r, 2 * j + s, c] += dy[n, i, j, c]
    np.testing.assert_array_equal(dx, expected)
    mean = hk.pool2d_backward(dy, x, kernel=2, pooling="average")
    np.testing.assert_array_equal(mean, dy.repeat(2, 1).repeat(2, 2) / 4)


def test_activations(ints):
    v, dy = ints(3, 5), ints(3, 5)
    np.testing.assert_array_equal(hk.activate(v), np.maximum(v, 0))
    np.testing.assert_array_equal(hk.activate_backward(dy, v), np.where(v > 0, dy, 0))
    np.testing.assert_allclose(hk.activate(v, "silu"), v / (1 + np.exp(-v)), rtol=1e-6)
    clamped = hk.activate(v, "clamp", alpha=-1, beta=2, out=v)
    assert clamped is v and v.min() == -1 and v.max() == 2


def test_softmax_cross_entropy(rng):
    logits = rng.standard_normal((4, 7)).astype(np.float32)
    labels = rng.integers(0, 7, 4)
    e = np.exp(logits.astype(np.float64))
    p = e / e.sum(1, keepdims=True)
    loss, gradient = hk.softmax_cross_entropy(logits, labels, gradient=True, scale=0.25)
    np.testing.assert_allclose(loss, -np.log(p[np.arange(4), labels]), rtol=1e-5)
    np.testing.assert_allclose(gradient, (p - np.eye(7)[labels]) / 4, rtol=1e-4, atol=1e-7)
    np.testing.assert_array_equal(hk.softmax_cross_entropy(logits, labels.astype(np.int32)), loss)
    with pytest.raises(ValueError, match="7"):
        hk.softmax_cross_entropy(logits, np.full(4, 7))


@LAYOUTS
def test_group_norm(rng, layout):
    x, w, b = (rng.standard_normal(s).astype(np.float32) for s in [(2, 3, 4, 6), (6,), (6,)])
    y, mean, rstd = hk.group_norm(to(layout, x), 3, w, b, layout=layout, statistics=True)
    assert mean.shape == rstd.shape == (2, 3)
    np.testing.assert_allclose(back(layout, y), reference.group_norm(x, 3, w, b, 1e-5), rtol=1e-4,
                               atol=1e-5)
    dy = rng.standard_normal(x.shape).astype(np.float32)
    dx, dw, db = hk.group_norm_backward(to(layout, dy), to(layout, x), mean, rstd, 3, w,
                                        layout=layout)
    np.testing.assert_allclose(db, dy.sum((0, 1, 2)), rtol=1e-4, atol=1e-5)
    # Along a direction the loss changes as the gradients say.
    step = 1e-4
    directions = [rng.standard_normal(a.shape) for a in (x, w)]
    loss = [(reference.group_norm(x + t * directions[0], 3, w + t * directions[1], b, 1e-5)
             * dy).sum() for t in (-step, step)]
    slope = (back(layout, dx) * directions[0]).sum() + (dw * directions[1]).sum()
    assert abs((loss[1] - loss[0]) / (2 * step) - slope) < 1e-2 * (1 + abs(slope))


def test_sgd_step(ints):
    p, v, g = ints(5), ints(5), ints(5)
    grad = g + 0.5 * p
    velocity = 0.5 * v + grad
    expected = p - 0.25 * (grad + 0.5 * velocity)
    assert hk.sgd_step(p, v, g, learning_rate=0.25, momentum=0.5, weight_decay=0.5,
                       nesterov=True) is None
    np.testing.assert_array_equal(v, velocity)
    np.testing.assert_array_equal(p, expected)
    hk.sgd_step(p, None, g, learning_rate=1)
    np.testing.assert_array_equal(p, expected - g)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int8, np.uint8, np.int16,
                                   np.uint16, np.int32, np.uint32, np.int64, np.uint64,
                                   ml_dtypes.bfloat16])
def test_topk_and_sort(rng, dtype):
    x = rng.integers(0, 20, (3, 11, 2)).astype(dtype)
    order = np.argsort(x, axis=1, kind="stable")
    np.testing.assert_array_equal(hk.sort(x, 1), np.take_along_axis(x, order, 1))
    np.testing.assert_array_equal(hk.argsort(x, 1), order)
    values, indices = hk.topk(x, 4, axis=1)
    assert values.dtype == dtype and indices.dtype == np.int64
    down = np.argsort(-x.astype(np.float64), axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(indices, down)
    np.testing.assert_array_equal(values, np.take_along_axis(x, down, 1))
    smallest, none = hk.topk(x, 4, -2, largest=False, indices=False)
    assert none is None
    np.testing.assert_array_equal(smallest, np.take_along_axis(x, order[:, :4], 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_tensor_product(ints, rng, dtype, index):
    x, w = ints(9, 4, dtype=dtype), ints(3, 4, 5, dtype=dtype)
    imap, omap = (rng.integers(-1, n, (3, 6)).astype(index) for n in (9, 7))
    maps = hk.TensorProductMaps(imap, omap, 9, 7)
    y = hk.tensor_product(x, w, maps)
    np.testing.assert_array_equal(y, reference.tensor_product(x, w, imap, omap, 7))
    dy = ints(7, 5, dtype=dtype)
    dx = hk.tensor_product_backward_data(dy, w, maps)
    turned = w.transpose(0, 2, 1)
    np.testing.assert_array_equal(dx, reference.tensor_product(dy, turned, omap, imap, 9))
    dw = hk.tensor_product_backward_weight(x, dy, maps)
    expected = np.zeros(w.shape)
    for n, p in np.ndindex(imap.shape):
        if imap[n, p] >= 0 and omap[n, p] >= 0:
            expected[n] += np.outer(x[imap[n, p]], dy[omap[n, p]])
    np.testing.assert_array_equal(dw, expected)
    hk.tensor_product(x, w, maps, out=y, accumulate=True)
    np.testing.assert_array_equal(y, 2 * reference.tensor_product(x, w, imap, omap, 7))


def test_kernel_maps(rng, ints):
    cells = rng.permutation(6 * 6 * 6)[:60]
    cloud = np.stack([cells * 0, cells // 36, cells // 6 % 6, cells % 6], 1).astype(np.int32)
    same = hk.submanifold_map(cloud)
    assert (same.input_rows, same.output_rows, same.offsets) == (60, 60, 27)
    offsets = np.repeat(np.arange(27), np.diff(same.starts))
    pairs = set(zip(offsets.tolist(), same.imap.tolist(), same.omap.tolist()))
    assert len(pairs) == same.pairs
    assert pairs == reference.pairs_of_cloud(cloud, cloud, 3, 1)
    down = hk.strided_map(cloud, 3, 2)
    np.testing.assert_array_equal(
        down.coordinates, np.unique(cloud // [1, 2, 2, 2], axis=0))
    offsets = np.repeat(np.arange(27), np.diff(down.starts))
    assert (set(zip(offsets.tolist(), down.imap.tolist(), down.omap.tolist()))
            == reference.pairs_of_cloud(cloud, down.coordinates, 3, 2))
    up = down.transposed(cloud)
    assert (up.input_rows, up.output_rows) == (down.output_rows, 60)
    x, w = ints(60, 4), ints(27, 4, 3)
    maps = hk.TensorProductMaps(same.imap, same.omap, 60, 60, same.starts)
    np.testing.assert_array_equal(hk.tensor_product(x, w, same), hk.tensor_product(x, w, maps))
    with pytest.raises(ValueError):
        hk.submanifold_map(np.concatenate([cloud, cloud[:1]]))


def test_channels_last_is_not_copied(ints):
    """An nchw view of nhwc memory runs as nhwc; results lie likewise."""
    x, w, b = ints(2, 6, 7, 4), ints(8, 3, 3, 4), ints(8)
    view, filters = x.transpose(0, 3, 1, 2), w.transpose(0, 3, 1, 2)
    y = hk.conv2d(view, filters, b, layout="nchw", padding=1, stride=2)
    np.testing.assert_array_equal(y.transpose(0, 2, 3, 1), hk.conv2d(x, w, b, padding=1, stride=2))
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous
    depthwise = ints(4, 1, 3, 3)  # of which every CPU has rows of nchw

    def layout_of(image):
        return hk.explain(hk.conv2d, image, depthwise, layout="nchw", groups=4).kernel.layout

    assert (layout_of(view), layout_of(view.copy())) == ("nhwc", "nchw")
    packed = np.ascontiguousarray(filters)
    np.testing.assert_array_equal(hk.conv2d(view, packed, b, layout="nchw", padding=1, stride=2), y)
    np.testing.assert_array_equal(hk.conv2d(view, hk.prepare_filter(packed), b, layout="nchw",
                                            padding=1, stride=2), y)
    out = np.zeros_like(y)
    assert hk.conv2d(view, filters, b, layout="nchw", padding=1, stride=2, out=out) is out
    np.testing.assert_array_equal(out, y)
    dx, dw, db = hk.conv2d_backward(y, view, filters, layout="nchw", padding=1, stride=2)
    same = hk.conv2d_backward(y.transpose(0, 2, 3, 1), x, w, padding=1, stride=2)
    np.testing.assert_array_equal(dx.transpose(0, 2, 3, 1), same[0])
    np.testing.assert_array_equal(dw.transpose(0, 2, 3, 1), same[1])
    np.testing.assert_array_equal(db, same[2])
    np.testing.assert_array_equal(
        hk.conv2d_backward_data(y, filters, view.shape, layout="nchw", padding=1, stride=2), dx)
    pooled = hk.pool2d(view, layout="nchw")
    np.testing.assert_array_equal(pooled.transpose(0, 2, 3, 1), hk.pool2d(x))
    tensor = hk.pool2d(hk.asarray(view), layout="nchw")
    np.testing.assert_array_equal(np.asarray(tensor), pooled)
