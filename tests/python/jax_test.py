"""halide_kernels.jax: against JAX's own, under jit, grad and vmap; arrays of JAX in plain calls."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

import halide_kernels as hk  # noqa: E402
import halide_kernels.jax as hkj  # noqa: E402

CONVS = [{}, {"stride": 2, "padding": "same"}, {"padding": ((1, 0), (2, 1)), "groups": 2},
         {"dilation": (1, 2), "padding": 1}]


def lax_conv(x, w, stride=1, padding=0, dilation=1, groups=1, layout="nhwc"):
    pads = {"same": "SAME"}.get(padding, padding) if isinstance(padding, str) else (
        [(padding, padding)] * 2 if isinstance(padding, int) else padding)
    names = ("NHWC", "OHWI", "NHWC") if layout == "nhwc" else ("NCHW", "OIHW", "NCHW")
    two = lambda v: (v, v) if isinstance(v, int) else v  # noqa: E731
    return jax.lax.conv_general_dilated(
        x, w, two(stride), pads, rhs_dilation=two(dilation), feature_group_count=groups,
        dimension_numbers=names, precision="highest")


@pytest.mark.parametrize("layout, options", [("nhwc", one) for one in CONVS] + [("nchw", CONVS[2])])
def test_conv2d(rng, layout, options):
    x = rng.standard_normal((2, 8, 7, 4)).astype(np.float32)
    w = rng.standard_normal((6, 3, 3, 4 // options.get("groups", 1))).astype(np.float32)
    if layout == "nchw":
        x, w = x.transpose(0, 3, 1, 2), w.transpose(0, 3, 1, 2)

    def loss(conv):
        return jax.jit(lambda x, w: jnp.sin(conv(x, w, layout=layout, **options)).sum())

    found = hkj.conv2d(x, w, layout=layout, **options)
    np.testing.assert_allclose(found, lax_conv(x, w, layout=layout, **options), rtol=1e-4,
                               atol=1e-4)
    for ours, theirs in zip(jax.grad(loss(hkj.conv2d), (0, 1))(x, w),
                            jax.grad(loss(lax_conv), (0, 1))(x, w)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def test_vmap(rng):
    x = jnp.asarray(rng.standard_normal((3, 2, 5, 5, 4)).astype(np.float32))
    w = jnp.asarray(rng.standard_normal((3, 6, 3, 3, 4)).astype(np.float32))
    inputs = jax.vmap(hkj.conv2d, (0, None))(x, w[0])
    both = jax.vmap(hkj.conv2d)(x, w)
    weights = jax.vmap(hkj.conv2d, (None, 0))(x[0], w)
    for i in range(3):
        np.testing.assert_allclose(inputs[i], hkj.conv2d(x[i], w[0]), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(both[i], hkj.conv2d(x[i], w[i]), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(weights[i], hkj.conv2d(x[0], w[i]), rtol=1e-5, atol=1e-5)


def test_bias_and_bfloat16(ints):
    x, w, b = (jnp.asarray(a, jnp.bfloat16) for a in (ints(1, 4, 4, 8), ints(2, 3, 3, 8), ints(2)))
    y = hkj.conv2d(x, w, b)
    assert y.dtype == jnp.bfloat16
    np.testing.assert_array_equal(y, hk.conv2d(np.asarray(x), np.asarray(w)) + np.asarray(b))


def test_topk(rng):
    x = jnp.asarray(rng.standard_normal((4, 9)).astype(np.float32))
    values, indices = jax.jit(lambda x: hkj.topk(x, 3))(x)
    expected = jax.lax.top_k(x, 3)
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(indices, expected[1])
    ours, theirs = (jax.grad(lambda x: (f(x)[0] ** 2).sum())(x)  # noqa: B023
                    for f in (lambda x: hkj.topk(x, 3), lambda x: jax.lax.top_k(x, 3)))
    np.testing.assert_allclose(ours, theirs)
    with pytest.raises(ValueError, match="axis is 5"):
        hkj.topk(x, 3, 5)


def test_tensor_product(ints):
    cells = np.stack([np.zeros(20), *np.unravel_index(np.arange(20) * 3, (4, 4, 4))], 1)
    maps = hk.submanifold_map(cells.astype(np.int32))
    x, w = jnp.asarray(ints(20, 4)), jnp.asarray(ints(27, 4, 3))
    y = jax.jit(lambda x, w: hkj.tensor_product(x, w, maps))(x, w)
    np.testing.assert_array_equal(y, hk.tensor_product(np.asarray(x), np.asarray(w), maps))
    dy = jnp.asarray(ints(*y.shape))
    dx, dw = jax.vjp(lambda x, w: hkj.tensor_product(x, w, maps), x, w)[1](dy)
    g = np.asarray(dy)
    np.testing.assert_array_equal(dx, hk.tensor_product_backward_data(g, np.asarray(w), maps))
    np.testing.assert_array_equal(dw, hk.tensor_product_backward_weight(np.asarray(x), g, maps))


def test_errors_of_the_library_are_told():
    x, w = jnp.ones((1, 4, 4, 8)), jnp.ones((2, 3, 3, 4))
    with pytest.raises(Exception, match="weight has.*4.*8|8.*4"):
        jax.block_until_ready(hkj.conv2d(x, w))
    with pytest.raises(Exception, match="weight is float16, input is float32"):
        jax.block_until_ready(hkj.conv2d(x, jnp.ones((2, 3, 3, 8), jnp.float16)))
    with pytest.raises(ValueError, match="nope"):
        hkj.conv2d(x, w, layout="nope")


def test_arrays_of_jax_in_plain_calls(ints):
    x = jnp.asarray(ints(3, 4))
    y = hk.activate(x)
    assert isinstance(y, jax.Array)
    np.testing.assert_array_equal(y, np.maximum(np.asarray(x), 0))
    assert hk.activate(x.astype(jnp.bfloat16)).dtype == jnp.bfloat16
    with pytest.raises(ValueError, match="read-only"):
        hk.activate(ints(3, 4), out=x)
    with pytest.raises(TypeError, match="input is traced by JAX.*halide_kernels.jax"):
        jax.jit(lambda x: hk.activate(x))(x)
