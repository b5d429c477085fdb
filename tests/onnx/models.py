"""The models of one operator that the package onnx tests its backends with, and their data."""

import dataclasses
import importlib
import pathlib
import pkgutil
import warnings

import numpy as np
import onnx
import onnx.backend.test.case.node as node_cases
from onnx import helper, numpy_helper
from onnx.backend.test.loader import load_model_tests


@dataclasses.dataclass
class Model:
    """A node with its data. `arrays` and `expected` are its inputs and outputs by place, None where
    one is left out. What is read of it is recorded, so that nothing of a node is ignored unseen."""

    name: str
    operator: str
    attributes: dict
    arrays: list
    expected: list
    rtol: float
    atol: float
    read: set = dataclasses.field(default_factory=set)

    def attribute(self, name, default=None):
        self.read.add(name)
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def input(self, place):
        self.read.add(place)
        return self.arrays[place] if place < len(self.arrays) else None

    def unread(self):
        places = [n for n, array in enumerate(self.arrays) if array is not None]
        return [part for part in [*self.attributes, *places] if part not in self.read]


def data_of(case):
    """The model of a case, its inputs and its outputs: from memory, or from files beside it."""
    if case.model is not None:
        return case.model, *case.data_sets[0]
    folder = pathlib.Path(case.model_dir)
    data = folder / "test_data_set_0"

    def tensors(kind):
        count = len(list(data.glob(f"{kind}_*.pb")))
        return [onnx.load_tensor(data / f"{kind}_{n}.pb") for n in range(count)]

    return onnx.load(folder / "model.onnx"), tensors("input"), tensors("output")


def as_array(value):
    is_message = isinstance(value, onnx.TensorProto)
    return numpy_helper.to_array(value) if is_message else np.asarray(value)


def model_of(case):
    """None where the graph is more than one node and its constants."""
    model, inputs, outputs = data_of(case)
    nodes = list(model.graph.node)
    if len(nodes) != 1:
        return None
    node, graph = nodes[0], model.graph
    values = {constant.name: as_array(constant) for constant in graph.initializer}
    given = [value.name for value in graph.input]
    if len(given) != len(inputs):
        given = [name for name in given if name not in values]
    values |= zip(given, map(as_array, inputs), strict=True)
    results = dict(zip([value.name for value in graph.output], map(as_array, outputs), strict=True))
    return Model(
        name=case.name,
        operator=node.op_type,
        attributes={a.name: helper.get_attribute_value(a) for a in node.attribute},
        arrays=[values[name] if name else None for name in node.input],
        expected=[results[name] if name else None for name in node.output],
        rtol=case.rtol,
        atol=case.atol,
    )


def models_of(operators):
    """All models of one node of these operators, by name. Those of ONNX itself are made by modules
    that have the operators' names; those exported from PyTorch are files."""
    wanted = {operator.lower() for operator in operators}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {module.name.replace("_", ""): module.name
                 for module in pkgutil.iter_modules(node_cases.__path__)}
        for operator in sorted(wanted):
            importlib.import_module(f"{node_cases.__name__}.{found[operator]}")
        cases = list(node_cases._NodeTestCases)
        for kind in ("simple", "pytorch-operator", "pytorch-converted"):
            cases += load_model_tests(kind=kind)
        models = [model_of(case) for case in cases]
    models = [model for model in models if model is not None and model.operator in operators]
    return sorted(models, key=lambda model: model.name)
