"""Times layers here against PyTorch, ONNX Runtime and spconv, those of them that are installed.

    python -m halide_kernels.bench                          what a call costs beside the kernel
    python -m halide_kernels.bench resnet50 depthwise       lists of convolutions
    python -m halide_kernels.bench topk --threads 2         rows of top-k
    python -m halide_kernels.bench cloud                    sparse convolutions, forward
    python -m halide_kernels.bench layers.csv --json out.json

Each row: milliseconds of the least of several rounds, in which all take turns; then the fastest
other library over the faster of our layouts. Training: forward, gradients of input and weight.
Results are compared before anything is timed.
"""

import argparse
import csv
import dataclasses
import importlib.util
import json
import math
import pathlib
import time

import numpy as np

import halide_kernels as hk

from . import _core

LISTS = pathlib.Path(__file__).with_name("lists")
LAYOUTS = ("nhwc", "nchw")
ROUND = 5e-3  # seconds, at least


def numbers(text):
    return tuple(map(int, text.split("x")))


def pair(text):
    values = numbers(text)
    return values * 2 if len(values) == 1 else values


@dataclasses.dataclass
class Layer:
    """A convolution, with the shapes of nhwc."""

    input: tuple
    weight: tuple
    stride: tuple
    padding: tuple
    dilation: tuple
    groups: int
    has_gradients: bool

    def __str__(self):
        text = "x".join(map(str, self.input)) + " * " + "x".join(map(str, self.weight))
        for name, value, usual in (("stride", self.stride, (1, 1)),
                                   ("dilation", self.dilation, (1, 1)),
                                   ("groups", self.groups, 1)):
            if value != usual:
                text += f" {name} {value if name == 'groups' else max(value)}"
        return text


@dataclasses.dataclass
class Rows:
    """A top-k."""

    input: tuple
    k: int

    def __str__(self):
        return "x".join(map(str, self.input)) + f" top {self.k}"


@dataclasses.dataclass
class Voxels:
    """A sparse convolution over a surface."""

    count: int
    kernel: int
    stride: int
    channels: tuple

    def __str__(self):
        return (f"{self.count} voxels, {self.channels[0]}-{self.channels[1]} channels, kernel "
                f"{self.kernel} stride {self.stride}")


def read_list(name):
    path = pathlib.Path(name) if name.endswith(".csv") else LISTS / f"{name}.csv"
    if not path.exists():
        known = ", ".join(sorted(file.stem for file in LISTS.glob("*.csv")))
        raise SystemExit(f"bench: there is no list {name}; there are {known}, or a file .csv")
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    for row in csv.DictReader(lines):
        if "k" in row:
            yield Rows(numbers(row["input"]), int(row["k"]))
        elif "voxels" in row:
            yield Voxels(int(row["voxels"]), int(row["kernel"]), int(row["stride"]),
                         (int(row["c"]), int(row["m"])))
        else:
            yield Layer(numbers(row["input"]), numbers(row["weight"]),
                        pair(row.get("stride") or "1"), pair(row.get("padding") or "0"),
                        pair(row.get("dilation") or "1"), int(row.get("groups") or 1),
                        "bwd_data" in (row.get("passes") or "bwd_data"))


def ours(layer, x, w, dy):
    """(name, forward, training) of each layout; arrays are nhwc."""
    options = {"stride": layer.stride, "padding": layer.padding, "dilation": layer.dilation,
               "groups": layer.groups}
    for layout in LAYOUTS:
        a, b, g = (np.ascontiguousarray(one.transpose(0, 3, 1, 2)) if layout == "nchw" else one
                   for one in (x, w, dy))
        filters = hk.prepare_filter(b)

        def forward(a=a, filters=filters, layout=layout):
            return hk.conv2d(a, filters, layout=layout, **options)

        def training(a=a, b=b, g=g, layout=layout):
            y = hk.conv2d(a, b, layout=layout, **options)
            dx, dw, _ = hk.conv2d_backward(g, a, b, layout=layout, wanted=(True, True, False),
                                           **options)
            return y, dx, dw

        yield f"hk {layout}", forward, training


def pytorch(layer, x, w, dy):
    import torch

    options = {"stride": layer.stride, "padding": layer.padding, "dilation": layer.dilation,
               "groups": layer.groups}
    for layout in LAYOUTS:
        a, b, g = (torch.from_numpy(one).permute(0, 3, 1, 2) for one in (x, w, dy))
        if layout == "nchw":
            a, b, g = (one.contiguous() for one in (a, b, g))
        leaves = [a.clone().requires_grad_(), b.clone().requires_grad_()]

        def forward(a=a, b=b):
            with torch.no_grad():
                return torch.nn.functional.conv2d(a, b, **options)

        def training(leaves=leaves, g=g):
            y = torch.nn.functional.conv2d(*leaves, **options)
            return y.detach(), *torch.autograd.grad(y, leaves, g)

        yield f"torch {layout}", forward, training


def onnx_session(node, inputs, outputs, constants, threads):
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    def values(infos):
        return [helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape)
                for name, kind, shape in infos]

    graph = helper.make_graph([node], "bench", values(inputs), values(outputs),
                              [numpy_helper.from_array(array, name)
                               for name, array in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def onnx_conv(layer, x, w, dy, threads):
    from onnx import helper

    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=layer.stride, group=layer.groups,
                            pads=layer.padding * 2, dilations=layer.dilation)
    a, b = (np.ascontiguousarray(one.transpose(0, 3, 1, 2)) for one in (x, w))
    session = onnx_session(node, [("x", "FLOAT", a.shape)], [("y", "FLOAT", [None] * 4)],
                           {"w": b}, threads)
    yield "onnxruntime nchw", lambda: session.run(["y"], {"x": a})[0], None


def has(name):
    return importlib.util.find_spec(name) is not None


def layer_contestants(layer, threads):
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape, np.float32) for shape in (layer.input, layer.weight))
    y = hk.conv2d(x, w, stride=layer.stride, padding=layer.padding, dilation=layer.dilation,
                  groups=layer.groups)
    dy = rng.standard_normal(y.shape, np.float32)
    found = list(ours(layer, x, w, dy))
    if has("torch"):
        found += pytorch(layer, x, w, dy)
    if has("onnxruntime") and has("onnx"):
        found += onnx_conv(layer, x, w, dy, threads)
    return [("forward", {name: forward for name, forward, _ in found})] + [
        ("training", {name: training for name, _, training in found if training})
    ] * layer.has_gradients


def topk_contestants(rows, threads):
    x = np.random.default_rng(0).standard_normal(rows.input, np.float32)
    found = {"hk": lambda: hk.topk(x, rows.k)}
    if has("torch"):
        import torch

        tensor = torch.from_numpy(x)
        found["torch"] = lambda: tuple(torch.topk(tensor, rows.k))
    if has("onnxruntime") and has("onnx"):
        from onnx import helper

        shape = [rows.input[0], rows.k]
        session = onnx_session(helper.make_node("TopK", ["x", "k"], ["v", "i"]),
                               [("x", "FLOAT", x.shape)],
                               [("v", "FLOAT", shape), ("i", "INT64", shape)],
                               {"k": np.array([rows.k], np.int64)}, threads)
        found["onnxruntime"] = lambda: tuple(session.run(["v", "i"], {"x": x}))
    return [("forward", found)]


def surface(count):
    """Coordinates of voxels on hills, (batch, x, y, z), one a column."""
    side = math.isqrt(count - 1) + 1
    x, y = np.divmod(np.arange(count), side)
    z = 20 + 8 * np.sin(x / 9) + 8 * np.cos(y / 13)
    return np.stack([np.zeros(count), x, y, z], 1).astype(np.int32)


def spconv_layer(voxels, cloud, x, w):
    """Its call, by maps that it keeps, as ours are. Rows of a strided one have an order of their
    own, so only submanifold ones are compared."""
    import spconv.pytorch as sp
    import torch

    layer = sp.SubMConv3d(*voxels.channels, voxels.kernel, bias=False, indice_key="maps",
                          algo=sp.ConvAlgo.Native)
    kernel = (voxels.kernel,) * 3
    filters = torch.from_numpy(w).reshape(*kernel, *voxels.channels).permute(4, 0, 1, 2, 3)
    box = [int(size) + 1 for size in cloud[:, 1:].max(0)]
    made = sp.SparseConvTensor(torch.from_numpy(x), torch.from_numpy(cloud), box, 1)
    with torch.no_grad():
        layer.weight.copy_(filters)
        kept = layer(made).indice_dict
    made = sp.SparseConvTensor(made.features, made.indices, box, 1, indice_dict=kept)

    def forward():
        with torch.no_grad():
            return layer(made).features

    return forward


def sparse_contestants(voxels, threads):
    rng = np.random.default_rng(0)
    cloud = surface(voxels.count)
    maps = (hk.submanifold_map(cloud, voxels.kernel) if voxels.stride == 1 else
            hk.strided_map(cloud, voxels.kernel, voxels.stride))
    x = rng.standard_normal((voxels.count, voxels.channels[0]), np.float32)
    w = rng.standard_normal((voxels.kernel ** 3, *voxels.channels), np.float32)
    found = {"hk": lambda: hk.tensor_product(x, w, maps)}
    if voxels.stride == 1 and has("torch") and has("spconv"):
        found["spconv"] = spconv_layer(voxels, cloud, x, w)
    return [("forward", found)]


def arrays_of(name, result):
    """As NumPy's, images in nchw."""
    arrays = [np.asarray(one) for one in (result if isinstance(result, tuple) else (result,))]
    return [one.transpose(0, 3, 1, 2) for one in arrays] if name == "hk nhwc" else arrays


def check(contestants, compared):
    """The first results of all are the same, but for rounding."""
    expected = None
    for name, function in contestants.items():
        arrays = arrays_of(name, function())[:compared]
        expected = expected or arrays
        for array, right in zip(arrays, expected, strict=True):
            scale = np.abs(right).max() or 1
            if array.shape != right.shape or np.abs(array - right).max() > 1e-3 * scale:
                raise SystemExit(f"bench: {name} and {next(iter(contestants))} differ")


def measure(contestants, rounds):
    """Seconds a call of each, the least of the rounds."""
    calls = {}
    for name, function in contestants.items():
        start = time.perf_counter()
        function()
        calls[name] = max(1, math.ceil(ROUND / max(time.perf_counter() - start, 1e-7)))
    best = dict.fromkeys(contestants, math.inf)
    for _ in range(rounds):
        for name, function in contestants.items():
            start = time.perf_counter()
            for _ in range(calls[name]):
                function()
            best[name] = min(best[name], (time.perf_counter() - start) / calls[name])
    return best


def ratio(times):
    """The fastest other library over ours; None where there is no other."""
    mine = min(seconds for name, seconds in times.items() if name.startswith("hk"))
    others = [seconds for name, seconds in times.items() if not name.startswith("hk")]
    return min(others) / mine if others else None


def repeated(function):
    def run():
        for _ in range(1000):
            function()

    return run


def overheads():
    """Seconds that a call takes more than the same call of C++, of NumPy's and PyTorch's arrays."""
    x, w = np.ones((1, 4, 4, 8), np.float32), np.ones((8, 1, 1, 8), np.float32)
    calls = {"C++": lambda: _core._repeat_conv2d(x, w, 1000),
             "NumPy": repeated(lambda: hk.conv2d(x, w))}
    if has("torch"):
        import torch

        import halide_kernels.torch as hkt

        a, b = (torch.from_numpy(one).permute(0, 3, 1, 2) for one in (x, w))
        calls["PyTorch, no gradient"] = repeated(lambda: hkt.conv2d(a, b))
        leaf = b.clone().requires_grad_()
        calls["PyTorch, gradient recorded"] = repeated(lambda: hkt.conv2d(a, leaf))
    times = {name: seconds / 1000 for name, seconds in measure(calls, 20).items()}
    base = times.pop("C++")
    print(f"a conv2d of 1x4x4x8 in C++: {base * 1e6:.2f} µs; more a call from")
    for name, seconds in times.items():
        print(f"  {name}: {(seconds - base) * 1e6:.2f} µs")
    return {name: seconds - base for name, seconds in times.items()}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


# Who takes part, and how many of their results are compared: of a top-k its values alone, as of
# equal elements others may take another one.
CONTESTANTS = {Layer: (layer_contestants, 3), Rows: (topk_contestants, 1),
               Voxels: (sparse_contestants, 1)}


def run_list(name, layers, rounds, threads):
    rows, ratios = [], {}
    for layer in layers:
        made, compared = CONTESTANTS[type(layer)]
        for passes, contestants in made(layer, threads):
            check(contestants, compared)
            times = measure(contestants, rounds)
            rows.append({"list": name, "layer": str(layer), "passes": passes, "seconds": times})
            found = ratio(times)
            texts = [f"{one} {seconds * 1e3:.3f}" for one, seconds in times.items()]
            if found is not None:
                texts.append(f"ratio {found:.2f}")
                ratios.setdefault(passes, []).append(found)
            print(f"{layer} {passes}:", ", ".join(texts), flush=True)
    for passes, values in ratios.items():
        print(f"{name} {passes}: {len(values)} rows, ratio {geometric_mean(values):.2f}, "
              f"worst {min(values):.2f}")
    return rows


def main():
    parser = argparse.ArgumentParser(prog="python -m halide_kernels.bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", nargs="*", help="names of lists, or files .csv such as theirs")
    parser.add_argument("--threads", type=int, default=1, help="of a call; 0: one a core")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", help="a file for all times")
    arguments = parser.parse_args()
    lists = {name: list(read_list(name)) for name in arguments.lists}
    hk.set_threads(arguments.threads)
    if has("torch"):
        import torch

        torch.set_num_threads(arguments.threads)
    report = {"overhead_seconds": overheads(), "rows": []}
    for name, layers in lists.items():
        report["rows"] += run_list(name, layers, arguments.rounds, arguments.threads)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
