#!/usr/bin/env python3
"""Adds PyTorch's times to the results of bench on CUDA, and prints what came out.

    compare.py FOLDER    of the bench-*.json that run.sh wrote; writes results.json and summary.md there, after
                         each of them

Where PyTorch is missing the tables have our times alone. PyTorch's calls are timed by the device's
events, over copies of the inputs in turn, as many as bench has; with TF32 where the type is tf32, with
cuDNN's own search for the fastest algorithm, and in both layouts, of which the faster counts. Their
results are not checked. A tensor product of ours has its maps prepared ("kept maps"), on the same
tensors in every call; PyTorch's has as many pairs, of random rows in ascending order.

Exits with 1 where a result is wrong or missing.
"""

import json
import pathlib
import statistics
import sys

from measurements import geometric_mean, group_by

try:
    import torch
except ImportError:
    torch = None

TOGETHER, COPIES = 256 << 20, 16  # bytes of tensors in turn, and how many of each: ProblemCase of bench
SECONDS = 0.02        # of a sample
ROUNDS = 5


def numbers(text):
    return [int(part) for part in str(text).split("x")]


def both(fields, name, default):
    values = numbers(fields.get(name, default))
    return (values[0], values[-1])


def random(shape, dtype, form=None):
    made = torch.randn(shape, device="cuda").to(dtype)
    return made if form is None else made.to(memory_format=form)


def images(shape, layout):
    """The shape as PyTorch has it, NxCxHxW."""
    n, a, b, c = shape
    return (n, c, a, b) if layout == "nhwc" else tuple(shape)


class Convolution:
    def __init__(self, result, dtype, form):
        fields, layout = result["fields"], result["layout"]
        shapes = {name: images(shape, layout) for name, shape in result["shapes"].items()}
        sides = str(fields.get("padding", "0")).split(",")
        if len(sides) == 4:
            top, bottom, left, right = map(int, sides)
            if top != bottom or left != right:
                raise NotImplementedError("padding of one side")
            padding = (top, left)
        else:
            padding = both(fields, "padding", 0)
        self.options = (both(fields, "stride", 1), padding, both(fields, "dilation", 1))
        self.groups = int(fields.get("groups", 1))

        def tensor(*names):
            shape = next(shapes[name] for name in names if name in shapes)
            return random(shape, dtype, form)

        self.tensors = (tensor("input", "input_gradient"), tensor("weight", "weight_gradient"),
                        tensor("output", "output_gradient"))

    def forward(self):
        x, w, _ = self.tensors
        stride, padding, dilation = self.options
        torch.conv2d(x, w, None, stride, padding, dilation, self.groups)

    def backward(self, data):
        x, w, dy = self.tensors
        stride, padding, dilation = self.options
        torch.ops.aten.convolution_backward(dy, x, w, None, stride, padding, dilation, False, (0, 0),
                                            self.groups, (data, not data, False))


def convolution(call):
    def make(result, dtype):
        for name, form in (("nhwc", torch.channels_last), ("nchw", torch.contiguous_format)):
            def one(form=form):
                made = Convolution(result, dtype, form)
                return made.tensors, lambda: call(made)
            yield name, one
    return make


def topk(result, dtype):
    k, dim = int(result["fields"]["k"]), int(result["fields"].get("axis", -1))
    largest = result["fields"].get("order", "largest") == "largest"

    def one():
        x = random(result["shapes"]["input"], dtype)
        return (x,), lambda: torch.topk(x, k, dim, largest)
    yield "topk", one


def tensor_product(made):
    """index, mm, index_add of each offset."""
    def make(result, dtype):
        shapes = result["shapes"]
        offsets, pairs = shapes[next(n for n in shapes if n.startswith("weight"))][0], shapes["imap"][0]

        def one():
            x = random(next(s for n, s in shapes.items() if n.startswith("input")), dtype)
            y = random(next(s for n, s in shapes.items() if n.startswith("output")), dtype)
            w = random(next(s for n, s in shapes.items() if n.startswith("weight")), dtype)
            each = min(pairs // offsets, x.shape[0], y.shape[0])
            take = torch.sort(torch.randperm(x.shape[0], device="cuda")[:each]).values
            give = torch.sort(torch.randperm(y.shape[0], device="cuda")[:each]).values

            def run():
                for o in range(offsets):
                    if made == "weight":
                        w[o] = x[take].t() @ y[give]
                    elif made == "output":
                        y.index_add_(0, give, x[take] @ w[o])
                    else:
                        x.index_add_(0, take, y[give] @ w[o].t())
            return (), run
        yield "index, mm, index_add", one
    return make


def group_norm(backward):
    def make(result, dtype):
        for name, form in (("nhwc", torch.channels_last), ("nchw", torch.contiguous_format)):
            def one(form=form):
                shape = images(result["shapes"]["input"], result["layout"])
                x, groups = random(shape, dtype, form), int(result["fields"]["groups"])
                w, b = random(shape[1], dtype), random(shape[1], dtype)
                if not backward:
                    return (x,), lambda: torch.nn.functional.group_norm(x, groups, w, b)
                n, c, pixels = shape[0], shape[1], shape[2] * shape[3]
                _, mean, rstd = torch.native_group_norm(x, w, b, n, c, pixels, groups, 1e-5)
                dy = torch.randn_like(x)
                return (x, dy), lambda: torch.ops.aten.native_group_norm_backward(
                    dy, x, mean, rstd, w, n, c, pixels, groups, (True, True, True))
            yield name, one
    return make


def pool2d(backward):
    def make(result, dtype):
        fields = result["fields"]
        kernel, stride, padding = (both(fields, name, 1) for name in ("kernel", "stride", "padding"))
        is_max = fields.get("pooling", "max") == "max"
        for name, form in (("nhwc", torch.channels_last), ("nchw", torch.contiguous_format)):
            def one(form=form):
                shape = result["shapes"].get("input") or result["shapes"]["input_gradient"]
                x = random(images(shape, result["layout"]), dtype, form)
                if not backward:
                    f = torch.nn.functional.max_pool2d if is_max else torch.nn.functional.avg_pool2d
                    return (x,), lambda: f(x, kernel, stride, padding)
                if is_max:
                    y, indices = torch.ops.aten.max_pool2d_with_indices(x, kernel, stride, padding)
                    dy = torch.randn_like(y)
                    return (x, dy), lambda: torch.ops.aten.max_pool2d_with_indices_backward(
                        dy, x, kernel, stride, padding, (1, 1), False, indices)
                dy = torch.randn_like(torch.nn.functional.avg_pool2d(x, kernel, stride, padding))
                return (x, dy), lambda: torch.ops.aten.avg_pool2d_backward(
                    dy, x, kernel, stride, padding, False, True, None)
            yield name, one
    return make


def softmax(result, dtype):
    outputs = result["fields"]["outputs"]
    if outputs == "in_place":
        return

    def one():
        rows, classes = result["shapes"]["logits"]
        x = random((rows, classes), dtype)
        labels = torch.randint(classes, (rows,), device="cuda")
        if outputs == "loss":
            return (x,), lambda: torch.nn.functional.cross_entropy(x, labels, reduction="none")
        x.requires_grad_()
        ones = torch.ones(rows, device="cuda")

        def run():
            loss = torch.nn.functional.cross_entropy(x, labels, reduction="none")
            torch.autograd.grad(loss, x, ones)
        return (x, x), run
    yield "cross_entropy", one


def activate(backward):
    def make(result, dtype):
        name = result["fields"]["activation"]
        aten, f = torch.ops.aten, getattr(torch.nn.functional, name)

        def one():
            shape = next(iter(result["shapes"].values()))
            x, dy = random(shape, dtype), random(shape, dtype)
            if not backward:
                return (x, dy), lambda: f(x)
            gradient = {"relu": lambda: aten.threshold_backward(dy, x, 0),
                        "silu": lambda: aten.silu_backward(dy, x),
                        "gelu": lambda: aten.gelu_backward(dy, x)}[name]
            return (x, x, dy), gradient
        yield name, one
    return make


def sgd(result, dtype):
    def one():
        shape = result["shapes"]["parameter"]
        parameter = torch.nn.Parameter(random(shape, dtype))
        parameter.grad = random(shape, dtype)
        momentum = 0.9 if "velocity" in result["shapes"] else 0
        optimizer = torch.optim.SGD([parameter], lr=0.01, momentum=momentum, fused=True)
        optimizer.step()
        return (parameter, parameter), optimizer.step
    yield "SGD, fused", one


if torch:
    CALLS = {
        "conv2d": convolution(Convolution.forward),
        "conv2d_backward_data": convolution(lambda c: c.backward(True)),
        "conv2d_backward_weight": convolution(lambda c: c.backward(False)),
        "topk": topk,
        "tensor_product": tensor_product("output"),
        "tensor_product_backward_data": tensor_product("input"),
        "tensor_product_backward_weight": tensor_product("weight"),
        "group_norm": group_norm(False), "group_norm_backward": group_norm(True),
        "pool2d": pool2d(False), "pool2d_backward": pool2d(True),
        "softmax_cross_entropy": softmax,
        "activate": activate(False), "activate_backward": activate(True),
        "sgd": sgd,
    }
    TYPES = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def seconds_of(calls, count):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for i in range(count):
        calls[i % len(calls)]()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


def nanoseconds(one):
    """Of a call that `one` makes, with the tensors that it is to have copies of."""
    tensors, call = one()
    size = sum(t.numel() * t.element_size() for t in tensors)
    calls = [call] + [one()[1] for _ in range(1, min(COPIES, TOGETHER // size) if size else 1)]
    for each in calls:
        each()
    count = len(calls)
    while (seconds := seconds_of(calls, count)) < SECONDS / 4 and count < 1 << 16:
        count *= 4
    count = max(1, round(count * SECONDS / seconds))
    return statistics.median(seconds_of(calls, count) / count for _ in range(ROUNDS)) * 1e9


def own_time(result):
    """With the maps of a tensor product prepared, as PyTorch's are."""
    return result["other_layouts"].get("hk kept maps", result["ns"])


def compare(result):
    calls = CALLS.get(result["family"])
    if not calls or result["type"] not in TYPES:
        return
    torch.backends.cudnn.allow_tf32 = result["type"] == "tf32"
    times = {}
    for variant, one in calls(result, TYPES[result["type"]]):
        try:
            times[variant] = nanoseconds(one)
        except NotImplementedError:
            continue
    if not times:
        return
    best = min(times, key=times.get)
    result["peers"]["PyTorch"], result["peer_variants"]["PyTorch"] = times[best], best
    result["other_layouts"].update({f"PyTorch {name}": ns for name, ns in times.items()})
    if result["ns"]:
        result["ratio"] = times[best] / own_time(result)


def ceilings():
    """Of this device: multiply-adds as cuBLAS reaches them, GFLOP/s; a copy, read and written, GB/s."""
    found = {}
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        def one(dtype=dtype):
            a, b = random((8192, 8192), dtype), random((8192, 8192), dtype)
            return (a, b), lambda: a @ b
        found[name] = 2 * 8192**3 / nanoseconds(one)

    def copy():
        a, b = (torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in "ab")
        return (a, b), lambda: b.copy_(a)
    found["copy"] = 2 * (1 << 30) / nanoseconds(copy)
    return found


def line_of(result):
    line = f"{result['family']} {result['type']} {result['layout']} {result['case']}"
    if result["failure"]:
        return f"{line}: FAILED {result['failure']}"
    line += f" [{result['row']}] {result['ns'] / 1e3:.1f} us, {result['rate']:.0f} {result['unit']}"
    if "hk kept maps" in result["other_layouts"]:
        line += f", kept maps {result['other_layouts']['hk kept maps'] / 1e3:.1f} us"
    if "PyTorch" in result["peers"]:
        line += (f", PyTorch {result['peers']['PyTorch'] / 1e3:.1f} us"
                 f" ({result['peer_variants']['PyTorch']}), ratio {result['ratio']:.2f}")
    return line


def heading(results, found):
    """What was measured, on what: lines of Markdown."""
    lines = ["# CUDA kernels beside PyTorch", ""]
    if found:
        cudnn = torch.backends.cudnn.version()  # 91900: 9.19.0
        lines += [f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {cudnn // 10000}."
                  f"{cudnn // 100 % 100}.{cudnn % 100}, {max(r['date'] for r in results)}; of the same run:", "",
                  f"- matrix products of cuBLAS: {found['f32'] / 1e3:.1f} TFLOP/s of f32 without TF32, "
                  f"{found['bf16'] / 1e3:.0f} of bf16",
                  f"- a copy, read and written: {found['copy']:.0f} GB/s", ""]
    lines += ["*Ratio*: PyTorch's time over ours, in its better layout; above 1 ours is faster. Means are geometric. "
              "*Of ceiling*: the mean rate over that of matrix products of the type, or of the copy.", ""]
    return lines


def run_of(result):
    """The run of bench that it is of."""
    return tuple(result[name] for name in ("family", "type", "layout", "list", "batch"))


def summary(results, found):
    """The table of a line for each run of bench."""
    lines = ["| family | type | layout | list | batch | cases | failed | ratio | least | most | rate | of ceiling |",
             "|---|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|"]
    for names, some in group_by(results, run_of).items():
        good = [r for r in some if not r["failure"]]
        ratios = [r["ratio"] for r in good if "PyTorch" in r["peers"]]
        cells = [*names, len(some), len(some) - len(good)]
        cells += [f"{f(ratios):.2f}" if ratios else "" for f in (geometric_mean, min, max)]
        rate = geometric_mean([r["rate"] * r["ns"] / own_time(r) for r in good]) if good else 0
        unit = good[0]["unit"] if good else ""
        ceiling = found.get({"GB/s": "copy", "GFLOP/s": names[1]}.get(unit))
        cells += [f"{rate:.0f} {unit}" if good else "", f"{rate / ceiling:.3f}" if ceiling else ""]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def write(folder, results, found):
    """Of what there is so far; returns the page."""
    page = heading(results, found) + summary(results, found)
    (folder / "results.json").write_text(json.dumps({"ceilings": found, "results": results}, indent=1))
    (folder / "summary.md").write_text("\n".join(page) + "\n")
    return page


def main():
    folder = pathlib.Path(sys.argv[1])
    results = []
    for path in sorted(folder.glob("bench-*.json")):
        batch = path.stem.rsplit("-b", 1)[1]
        for result in json.loads(path.read_text()):
            kind = "tf32" if result.get("allow_tf32") else result["type"]
            results.append({**result, "type": kind, "batch": "" if batch == "0" else batch})
    if not results:
        print(f"{folder}: no results of bench")
        return 1
    found = {}
    if torch and torch.cuda.is_available():
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        found = ceilings()
        last = run_of(results[0])
        for result in results:
            if run_of(result) != last:
                write(folder, results, found)
                last = run_of(result)
            try:
                compare(result)
            except Exception as error:  # one call that PyTorch refuses must not hide the others
                result["peer_failure"] = str(error)
                print(f"PyTorch, {result['family']} {result['case']}: {error}"[:300])
    page = write(folder, results, found)
    print("\n".join([*map(line_of, results), "", *page]))
    return 1 if any(result["failure"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
