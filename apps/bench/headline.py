"""The README's table of ratios, between <!-- headline FILE --> and <!-- end of headline -->, of the
CPU of that CSV file."""

import re

from measurements import geometric_mean, ratio_of
from summary import ratio_text

NETWORKS = ["resnet50", "mobilenetv2", "resnext50"]
OTHERS = ["vgg16", "resnet18", "densenet121", "efficientnet_b0", "mobilenetv3_large", "convnext_t",
          "yolov8s", "unet", "audio", "first_layers", "small_images"]
# Label, family, lists; None: the family's others. Families that are not here come last, under their
# names. Every setting with a ratio is in the table: the test of report.py sees to it.
LINES = [
    ("convolution, ResNet-50", "conv2d", ["resnet50"]),
    ("convolution, MobileNetV2", "conv2d", ["mobilenetv2"]),
    ("convolution, ResNeXt-50", "conv2d", ["resnext50"]),
    ("convolution, other networks", "conv2d", OTHERS),
    ("convolution, other shapes", "conv2d", None),
    ("gradient of the weight, dense and grouped", "conv2d_backward_weight", None),
    ("gradient of the weight, depthwise", "conv2d_backward_weight", ["depthwise"]),
    ("gradient of the input, dense and grouped", "conv2d_backward_data", None),
    ("gradient of the input, depthwise", "conv2d_backward_data", ["depthwise"]),
    ("quantised convolution", "quantized_conv2d", None),
    ("top-k", "topk", None),
    ("sparse convolution", "tensor_product", None),
    ("sparse, gradient of the input", "tensor_product_backward_data", None),
    ("sparse, gradient of the weight", "tensor_product_backward_weight", None),
    ("kernel maps of voxels (s32)", "kernel_map", None),
    ("activations", "activate", None),
    ("gradients of activations", "activate_backward", None),
    ("SGD step", "sgd", None),
    ("pooling", "pool2d", None),
    ("gradient of pooling", "pool2d_backward", None),
    ("softmax cross-entropy", "softmax_cross_entropy", None),
    ("group normalisation", "group_norm", None),
    ("gradients of group normalisation", "group_norm_backward", None),
]
# Title: types and layouts; s32 are the coordinates of kernel maps.
COLUMNS = {
    "f32": (("f32", "s32"), ("nhwc", "any")),
    "f32, nchw": (("f32",), ("nchw",)),
    "f16": (("f16",), ("nhwc", "any")),
    "bf16": (("bf16",), ("nhwc", "any")),
    "u8": (("u8",), ("nhwc", "any")),
}
BLOCK = re.compile(r"(<!-- headline (\S+) -->\n).*?(<!-- end of headline -->)", re.S)


def cases_of(rows, family, lists, types, layouts):
    """Distinct ones that are compared, on one thread of the CPU, by their names."""
    return {(row["case"], row["layout"]): row for row in reversed(rows)
            if row["family"] == family and row["list"] in lists and row["type"] in types and
            row["layout"] in layouts and row["device"] == "cpu" and row["threads"] == 1 and
            ratio_of(row)}


def cell(cases):
    """The mean, in italics below 1, and the lowest where cases have a baseline."""
    if not cases:
        return ""
    mean = geometric_mean([ratio_of(row) for row in cases.values()])
    ratios = [row["ratio"] for row in cases.values() if row["ratio"]]
    worst = f" ({min(ratios):.2f})" if len(ratios) > 1 else ""
    return ratio_text(mean) + worst


def baselines(cases):
    """Libraries that count: of "NumPy" and "NumPy blocked" the first says it."""
    names = {name for row in cases for name in row["peers"]}
    whole = {name for name in names if not any(name.startswith(f"{other} ") for other in names)}
    return ", ".join(sorted(whole, key=str.lower)) if names else "memcpy"


def all_lines(rows):
    """With their lists, of families that were measured too."""
    named = [family for _, family, _ in LINES]
    others = dict.fromkeys(row["family"] for row in rows if row["family"] not in named)
    lines = LINES + [(family.replace("_", " "), family, None) for family in others]
    for label, family, lists in lines:
        taken = {name for _, other, some in lines if other == family for name in some or ()}
        yield label, family, lists or list(dict.fromkeys(
            row["list"] for row in rows if row["family"] == family and row["list"] not in taken))


def lines_of(rows):
    lines = ["| | " + " | ".join(COLUMNS) + " | against |",
             "|---|" + "---:|" * len(COLUMNS) + "---|"]
    for label, family, lists in all_lines(rows):
        cells = [cases_of(rows, family, lists, *column) for column in COLUMNS.values()]
        if any(cells):
            some = [row for cases in cells for row in cases.values()]
            lines.append("| " + " | ".join([label, *map(cell, cells), baselines(some)]) + " |")
    return lines


def with_headline(readme, measured):
    """The README with its table made anew; as it is where it has none."""
    files = {some.cpu.file: some for some in measured}

    def table(match):
        begin, file, end = match.groups()
        if file not in files:
            return match[0]
        some = files[file]
        caption = f"One core of an {some.cpu}; {max(row['date'] for row in some.rows)}."
        return "\n".join([begin + caption, "", *lines_of(some.rows), "", end])

    return BLOCK.sub(table, readme)
