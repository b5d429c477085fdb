"""NumPy's tasks: gather, BLAS, scatter, and the maps that these follow."""

import numpy as np
from python_peer import serve


def rows_as_elements(array):
    """Each row of a matrix as one element, which is copied as a whole."""
    return array.view(np.dtype((np.void, array.shape[1] * array.itemsize))).ravel()


def sum_type(type_):
    """16-bit floats are summed in 32 bits, which BLAS can multiply."""
    return np.float32 if type_ == np.float16 else type_


def offsets_of(arrays, block=None):
    """(offset, rows to gather, rows to add to): whole offsets, or blocks of them."""
    starts = arrays["starts"]
    imap, omap = (arrays[name].astype(np.intp) for name in ("imap", "omap"))
    result = []
    for n, (first, last) in enumerate(zip(starts[:-1], starts[1:])):
        step = block or max(last - first, 1)
        for at in range(first, last, step):
            end = min(at + step, last)
            result.append((n, imap[at:end], omap[at:end]))
    return result


class Rows:
    """Rows of a matrix, gathered into a buffer of their own, in the type of sums."""

    def __init__(self, matrix, most):
        self.matrix = matrix
        self.stored = np.empty((most, matrix.shape[1]), matrix.dtype)
        wide = sum_type(matrix.dtype)
        self.wide = self.stored if wide == matrix.dtype else np.empty(self.stored.shape, wide)

    def gather(self, rows):
        stored, wide = self.stored[: len(rows)], self.wide[: len(rows)]
        np.take(self.matrix, rows, axis=0, out=stored, mode="clip")
        if wide.dtype != stored.dtype:
            np.copyto(wide, stored)
        return wide


def tensor_product(arrays, options):
    """Gather, BLAS, scatter. An offset reaches each row of the output at most once."""
    input_, weight = arrays["input"], arrays["weight"]
    if options["turned"]:
        weight = weight.transpose(0, 2, 1)
    channels = weight.shape[2]
    blocks = offsets_of(arrays, options.get("block"))
    most = max(len(rows) for _, rows, _ in blocks)
    wide = sum_type(input_.dtype)
    weight = weight.astype(wide)
    gathered = Rows(input_, most)
    products = np.empty((most, channels), wide)
    sums = np.empty((options["output_rows"], channels), wide)
    output = sums if wide == input_.dtype else np.empty(sums.shape, input_.dtype)
    whole = rows_as_elements(sums)

    def run():
        sums[:] = 0
        for n, sources, targets in blocks:
            product = np.matmul(gathered.gather(sources), weight[n], out=products[: len(sources)])
            if options.get("block"):
                added = sums.take(targets, axis=0, mode="clip")
                added += product
                whole[targets] = rows_as_elements(added)
            else:
                sums[targets] += product
        if output is not sums:
            np.copyto(output, sums)

    return run, lambda: {"output": output}


def tensor_product_backward_weight(arrays, options):
    """Rows of both sides gathered, BLAS."""
    blocks = offsets_of(arrays, options.get("block"))
    most = max(len(rows) for _, rows, _ in blocks)
    input_, gradient = (Rows(arrays[name], most) for name in ("input", "gradient"))
    shape = (len(arrays["starts"]) - 1, input_.wide.shape[1], gradient.wide.shape[1])
    sums = np.empty(shape, input_.wide.dtype)
    product = np.empty(shape[1:], sums.dtype)
    output = sums if sums.dtype == arrays["input"].dtype else np.empty(shape, arrays["input"].dtype)

    def run():
        sums[:] = 0
        for n, sources, targets in blocks:
            np.matmul(input_.gather(sources).T, gradient.gather(targets), out=product)
            sums[n] += product
        if output is not sums:
            np.copyto(output, sums)

    return run, lambda: {"output": output}


def kernel_map(arrays, options):
    """Coordinates packed into integers and sorted; a search for the neighbours of each offset."""
    coordinates = arrays["coordinates"]
    kernel, stride = options["kernel"], options["stride"]
    least = 0 if kernel % 2 == 0 else -(kernel // 2)
    steps = range(least, least + kernel)
    room = max(kernel, stride)  # around the cloud, so that no step leaves its row of voxels
    maps = []

    def run():
        maps.clear()
        low = coordinates.min(axis=0).astype(np.int64) - room
        extents = coordinates.max(axis=0) - low + room + 1
        scale = np.array([extents[1] * extents[2] * extents[3], extents[2] * extents[3],
                          extents[3], 1])
        keys = (coordinates - low) @ scale
        order = np.argsort(keys)
        keys = keys[order]
        places, outputs = order, keys
        if stride > 1:
            corners = coordinates.astype(np.int64)
            corners[:, 1:] = corners[:, 1:] // stride * stride
            outputs = np.unique((corners - low) @ scale)
            places = np.arange(len(outputs))
        for x in steps:
            for y in steps:
                for z in steps:
                    wanted = outputs + (x * scale[1] + y * scale[2] + z)
                    at = np.searchsorted(keys, wanted)
                    hits = np.flatnonzero(keys.take(at, mode="clip") == wanted)
                    maps.append((order[at[hits]], places[hits]))

    def outputs():
        starts = np.cumsum([0] + [len(sources) for sources, _ in maps])
        sources, targets = (np.concatenate(parts).astype(np.int32) for parts in zip(*maps))
        return {"imap": sources, "omap": targets, "starts": starts}

    return run, outputs


TASKS = {
    task.__name__: task for task in (tensor_product, tensor_product_backward_weight, kernel_map)
}


def version():
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"NumPy {np.__version__} with {blas['name']} {blas['version']}"


if __name__ == "__main__":
    serve(TASKS, version)
