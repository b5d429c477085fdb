"""ncnn's tasks: a convolution as a network of one layer, through the layouts of ncnn's own choice and
with Winograd's transforms where ncnn takes them."""

import os
import tempfile

import ncnn
import numpy as np
from python_peer import serve


def network(shape, weight, options):
    """Of images of this shape (c, y, x) and filters (k, c, r, s)."""
    channels, height, width = shape
    filters, _, kernel_height, kernel_width = weight.shape
    parameters = {
        0: filters, 1: kernel_width, 11: kernel_height, 5: 0, 6: weight.size,
        12: options["dilation"][0], 2: options["dilation"][1],
        13: options["stride"][0], 3: options["stride"][1],
        14: options["padding"][0], 16: options["padding"][1],
        4: options["padding"][2], 15: options["padding"][3],
    }  # fmt: skip
    layer = "Convolution"
    if options["groups"] > 1:
        layer = "ConvolutionDepthWise"
        parameters[7] = options["groups"]
    text = " ".join(f"{key}={value}" for key, value in parameters.items())
    result = ncnn.Net()
    result.opt.num_threads = options["threads"]
    for halved in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_packed", "bf16_storage"):
        setattr(result.opt, f"use_{halved}", False)
    if result.load_param_mem(
        f"7767517\n2 2\nInput in 0 1 in 0={width} 1={height} 2={channels}\n"
        f"{layer} c 1 1 in out {text}\n"
    ):
        raise ValueError("ncnn refuses the layer")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights")
        with open(path, "wb") as file:
            file.write(bytes(4))  # what follows is f32
            file.write(np.ascontiguousarray(weight, "<f4").tobytes())
        if result.load_model(path):
            raise ValueError("ncnn refuses the weights")
    return result


def conv2d(arrays, options):
    """ncnn has no batches: it gets the images one after the other."""
    images, weight = arrays["input"], arrays["weight"]
    if options["layout"] == "nhwc":
        images, weight = (array.transpose(0, 3, 1, 2) for array in (images, weight))
    net = network(images.shape[1:], weight, options)
    # A Mat of an array neither owns it nor keeps it alive; its copy has data of its own.
    images = np.ascontiguousarray(images)
    mats = [ncnn.Mat(image).clone() for image in images]
    made = [None] * len(mats)

    def run():
        for i, mat in enumerate(mats):
            extractor = net.create_extractor()
            extractor.input("in", mat)
            status, made[i] = extractor.extract("out")
            if status != 0:
                raise RuntimeError("ncnn: the layer failed")

    def outputs():
        result = np.stack([np.array(mat) for mat in made])
        if options["layout"] == "nhwc":
            result = result.transpose(0, 2, 3, 1)
        return {"output": np.ascontiguousarray(result)}

    return run, outputs


if __name__ == "__main__":
    serve({"conv2d": conv2d}, lambda: f"ncnn {ncnn.__version__}")
