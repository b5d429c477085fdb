// Which way a call of halide_kernels.torch goes: Python takes a microsecond more to find out.

#include <nanobind/nanobind.h>

#include <vector>

#include "operations.h"

namespace hk::python {

namespace {

namespace nb = nanobind;
using namespace nb::literals;

// As halide_kernels.torch.registration has them.
enum Way : int { kComputes, kRecords, kDispatches, kTransforms };

bool is_true(const nb::object &value) {
    const int result = PyObject_IsTrue(value.ptr());
    if (result < 0) throw nb::python_error();
    return result;
}

bool wants_gradient(nb::handle tensor) {
    static PyObject *const name = PyUnicode_InternFromString("requires_grad");
    return is_true(tensor.attr(nb::handle(name)));
}

// Of a type that PyTorch's tensors don't have, nor their subclasses.
bool is_plain(nb::handle value) {
    PyObject *object = value.ptr();
    return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) ||
           PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) ||
           PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

class TorchCalls {
public:
    TorchCalls(nb::object transforms, nb::tuple onlookers, nb::object is_grad_enabled,
               nb::object tensor, nb::object parameter)
        : transforms_(std::move(transforms)),
          is_grad_enabled_(std::move(is_grad_enabled)),
          tensor_(std::move(tensor)),
          parameter_(std::move(parameter)) {
        for (const nb::handle onlooker : onlookers) onlookers_.push_back(nb::borrow(onlooker));
    }

    int way_of(nb::tuple arguments) const {
        if (is_true(transforms_())) return kTransforms;
        for (const nb::object &onlooker : onlookers_)
            if (is_true(onlooker())) return kDispatches;
        bool records = false;
        for (const nb::handle value : arguments) {
            const nb::handle type = value.type();
            if (type.is(tensor_) || type.is(parameter_)) {
                records = records || wants_gradient(value);
            } else if (!is_plain(value) && nb::isinstance(value, tensor_)) {
                return kDispatches;
            }
        }
        return records && is_true(is_grad_enabled_()) ? kRecords : kComputes;
    }

private:
    nb::object transforms_;              // whether a transform of torch.func is at work
    std::vector<nb::object> onlookers_;  // what else has to hear of all calls
    nb::object is_grad_enabled_, tensor_, parameter_;
};

constexpr const char *kClass =
    "How halide_kernels.torch calls an operator, by what PyTorch is asked: whether transforms are "
    "at work, who looks on, whether gradients are recorded; and the types of tensors.";

constexpr const char *kWayOf =
    "0: it is computed, 1: a gradient is recorded, 2: PyTorch's dispatcher has it, 3: transforms.";

}  // namespace

void add_torch_calls(nb::module_ &module) {
    nb::class_<TorchCalls>(module, "_TorchCalls", kClass)
        .def(nb::init<nb::object, nb::tuple, nb::object, nb::object, nb::object>(), "transforms"_a,
             "onlookers"_a, "is_grad_enabled"_a, "tensor"_a, "parameter"_a)
        .def("way_of", &TorchCalls::way_of, "arguments"_a, kWayOf);
}

}  // namespace hk::python
