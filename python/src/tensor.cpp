#include "hk/tensor.h"

#include <nanobind/nanobind.h>

#include "arguments.h"
#include "element_types.h"
#include "hk/dlpack.h"
#include "hk/error.h"
#include "imported.h"
#include "operations.h"
#include "unlocked.h"

namespace hk::python {

namespace {

using namespace nb::literals;

// What __dlpack_device__ gives.
std::array<int64_t, 2> device_pair(const Tensor &tensor) {
    const DLDevice device = dlpack_device(tensor.device());
    return {device.device_type, device.device_id};
}

nb::object capsule(const Tensor &tensor, nb::object stream, nb::object max_version,
                   nb::object dl_device, nb::object copy) {
    const auto pair = [](nb::handle object) {
        return read_pair("__dlpack__", "an argument", Pair{{object}});
    };
    if (!dl_device.is_none() && pair(dl_device) != device_pair(tensor))
        throw nb::buffer_error("__dlpack__: the tensor is not on dl_device; use to()");
    if (copy.ptr() == Py_True) throw nb::buffer_error("__dlpack__: it makes no copy; use to()");
    // What the taker puts on a queue of its own comes after what is on the library's.
    if (!tensor.device().is_cpu() && !stream.is_none()) {
        const Unlocked unlocked;
        const Calling calling;
        tensor.device().synchronize();
    }
    return dlpack_capsule(tensor, !max_version.is_none() && pair(max_version)[0] >= 1);
}

nb::object to_numpy(const Tensor &tensor) { return numpy_array(tensor.to(Device::cpu())); }

// NumPy asks for it where it gets no buffer: of a device, or of bfloat16.
nb::object as_array(const Tensor &tensor, nb::object dtype, nb::object copy) {
    if (!tensor.device().is_cpu()) {
        refuse_type("the tensor is on " + tensor.device().name() +
                    ", NumPy reads memory of the CPU; use numpy(), which copies");
    }
    if (copy.ptr() == Py_False)
        throw nb::value_error("a tensor of bfloat16 is copied, copy is False");
    const nb::object array = to_numpy(tensor);
    return dtype.is_none() ? array : array.attr("astype")(dtype);
}

Tensor to_device(const Tensor &tensor, Where device) {
    const Device target = read_device(device);
    const Unlocked unlocked;
    const Calling calling;
    return tensor.to(target);
}

Tensor as_tensor(Array array, Where device) {
    const Kind kind = kind_of(array.object);
    if (kind.way == Kind::Way::tensor && !device.given())
        return nb::cast<const Tensor &>(array.object);
    const Tensor tensor = keep(array.object, {"asarray", "array"});
    return device.given() ? to_device(tensor, device) : tensor;
}

template<bool kZeros>
Tensor make(Sizes shape, TypeName type, Where device) {
    const char *operation = kZeros ? "zeros" : "empty";
    Shape sizes = read_shape(operation, "shape", shape);
    const DataType element = read_type(type);
    const Device target = read_device(device);
    return kZeros ? Tensor::zeros(std::move(sizes), element, target)
                  : Tensor(std::move(sizes), element, target);
}

std::string text_of(const Tensor &tensor) {
    return "<halide_kernels.Tensor " + to_string(tensor.shape()) + " " + numpy_name(tensor.type()) +
           " on " + tensor.device().name() + ">";
}

PyType_Slot kSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void *>(fill_buffer)},
                        {Py_bf_releasebuffer, reinterpret_cast<void *>(free_buffer)},
                        {0, nullptr}};

constexpr const char *kClass = R"(An array of the library, on the CPU, CUDA or OpenCL.

Functions take it and give it as any other array. NumPy reads one on the CPU (numpy.asarray), and
who takes DLPack any.)";

}  // namespace

void add_tensor(nb::module_ &module) {
    nb::class_<Tensor>(module, "Tensor", kClass, nb::type_slots(kSlots))
        .def_prop_ro(
            "shape", [](const Tensor &self) { return tuple_of(self.shape()); },
            nb::sig("def shape(self) -> tuple[int, ...]"))
        .def_prop_ro(
            "strides", [](const Tensor &self) { return tuple_of(self.strides()); }, "In elements.",
            nb::sig("def strides(self) -> tuple[int, ...]"))
        .def_prop_ro("ndim", &Tensor::rank)
        .def_prop_ro(
            "dtype", [](const Tensor &self) { return numpy_name(self.type()); },
            "NumPy's name of the elements' type.")
        .def_prop_ro(
            "device", [](const Tensor &self) { return self.device().name(); },
            "\"cpu\", \"cuda:0\", \"opencl:1\".")
        .def_prop_ro("nbytes",
                     [](const Tensor &self) { return self.elements() * size_of(self.type()); })
        .def("to", to_device, "device"_a, "A packed copy on a device.")
        .def("numpy", to_numpy, "A packed copy as a NumPy array.",
             nb::sig("def numpy(self) -> numpy.ndarray"))
        .def("__array__", as_array, "dtype"_a = nb::none(), "copy"_a = nb::none())
        .def("__dlpack__", capsule, nb::kw_only(), "stream"_a = nb::none(),
             "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
        .def(
            "__dlpack_device__",
            [](const Tensor &self) {
                const auto pair = device_pair(self);
                return nb::make_tuple(pair[0], pair[1]);
            },
            nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
        .def("__repr__", text_of);
    module.def("asarray", as_tensor, "array"_a, "device"_a = nb::none(),
               "The array as a Tensor: over its memory, or copied to a device.");
    module.def("empty", make<false>, "shape"_a, "dtype"_a = "float32", "device"_a = "cpu",
               "A Tensor whose elements are not set.");
    module.def("zeros", make<true>, "shape"_a, "dtype"_a = "float32", "device"_a = "cpu",
               "A Tensor of zeros.");
}

}  // namespace hk::python
