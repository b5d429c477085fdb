#include <memory>
#include <vector>

#include "arguments.h"
#include "element_types.h"
#include "hk/error.h"
#include "imported.h"

namespace hk::python {

namespace {

// A tensor in DLPack 1, which the library gives in the DLPack before it.
struct Exported : VersionedTensor {
    DLManagedTensor *inner;
};

VersionedTensor *versioned_of(const Tensor &tensor) {
    auto exported = std::make_unique<Exported>();
    exported->inner = tensor.to_dlpack();
    exported->version = kDlpackVersion;
    exported->flags = 0;
    exported->dl_tensor = exported->inner->dl_tensor;
    exported->manager_ctx = nullptr;
    exported->deleter = [](VersionedTensor *self) {
        const std::unique_ptr<Exported> exported(static_cast<Exported *>(self));
        exported->inner->deleter(exported->inner);
    };
    return exported.release();
}

// What NumPy's arrays are made of, looked up once.
struct Numpy {
    Numpy() {
        const nb::module_ numpy = nb::module_::import_("numpy");
        array = numpy.attr("ndarray");
        empty = numpy.attr("empty");
        for (size_t i = 0; i < std::size(types); i++) {
            const auto type = static_cast<DataType>(i);
            if (type != DataType::bf16) types[i] = numpy.attr("dtype")(numpy_name(type));
        }
    }

    const nb::object &type_of(DataType type) {
        nb::object &object = types[static_cast<size_t>(type)];
        if (!object.is_valid()) {
            const nb::object bfloat16 = nb::module_::import_("ml_dtypes").attr("bfloat16");
            object = nb::module_::import_("numpy").attr("dtype")(bfloat16);
        }
        return object;
    }

    nb::object array, empty, types[kDataTypes];
};

// What makes an array of an object with __dlpack__, in the library that defines the type.
nb::object from_dlpack_of(nb::handle type) {
    const std::string name = library_of(type);
    if (name == "jaxlib") return nb::module_::import_("jax.numpy").attr("from_dlpack");
    const nb::object library = nb::steal(PyImport_GetModule(nb::str(name.c_str()).ptr()));
    if (library.is_valid()) return nb::getattr(library, "from_dlpack", nb::none());
    PyErr_Clear();
    return nb::none();
}

}  // namespace

nb::object numpy_array(const Tensor &tensor) {
    static Numpy &numpy = *new Numpy;
    const nb::tuple shape = tuple_of(tensor.shape());
    const nb::object &type = numpy.type_of(tensor.type());
    if (tensor.elements() == 0) return numpy.empty(shape, type);
    const nb::object memory = nb::cast(tensor);
    PyObject *const arguments[] = {shape.ptr(), type.ptr(), memory.ptr()};
    PyObject *array = PyObject_Vectorcall(numpy.array.ptr(), arguments, 3, nullptr);
    if (!array) throw nb::python_error();
    return nb::steal(array);
}

nb::object export_tensor(const Tensor &tensor, const Kind &kind) {
    if (kind.way == Kind::Way::tensor) return nb::cast(tensor);
    if (kind.way == Kind::Way::exchange) {
        void *made = nullptr;
        VersionedTensor *versioned = versioned_of(tensor);
        if (kind.api->to_object(versioned, &made) != 0 || !made) throw nb::python_error();
        return nb::steal(static_cast<PyObject *>(made));
    }
    if (kind.way == Kind::Way::dlpack) {
        const nb::object from_dlpack = from_dlpack_of(kind.type);
        if (!from_dlpack.is_none()) return from_dlpack(nb::cast(tensor));
    }
    return tensor.device().is_cpu() ? numpy_array(tensor) : nb::cast(tensor);
}

nb::object dlpack_capsule(const Tensor &tensor, bool versioned) {
    // Whoever takes the tensor out of the capsule renames it.
    PyObject *capsule =
        versioned ? PyCapsule_New(versioned_of(tensor), "dltensor_versioned",
                                  [](PyObject *self) {
                                      if (!PyCapsule_IsValid(self, "dltensor_versioned")) return;
                                      auto *tensor = static_cast<VersionedTensor *>(
                                          PyCapsule_GetPointer(self, "dltensor_versioned"));
                                      tensor->deleter(tensor);
                                  })
                  : PyCapsule_New(tensor.to_dlpack(), "dltensor", [](PyObject *self) {
                        if (!PyCapsule_IsValid(self, "dltensor")) return;
                        auto *tensor =
                            static_cast<DLManagedTensor *>(PyCapsule_GetPointer(self, "dltensor"));
                        tensor->deleter(tensor);
                    });
    if (!capsule) throw nb::python_error();
    return nb::steal(capsule);
}

int fill_buffer(PyObject *self, Py_buffer *view, int flags) {
    view->obj = nullptr;
    const Tensor &tensor = *nb::inst_ptr<Tensor>(self);
    const auto fail = [](const char *why) {
        PyErr_SetString(PyExc_BufferError, why);
        return -1;
    };
    if (!tensor.device().is_cpu()) return fail("the tensor is on a device; use to(\"cpu\")");
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !tensor.packed())
        return fail("the tensor is not contiguous");
    if (flags & PyBUF_FORMAT && tensor.type() == DataType::bf16)
        return fail("the buffer protocol has no bfloat16; use numpy()");
    const int64_t size = size_of(tensor.type());
    const size_t rank = tensor.shape().size();
    auto *sizes = static_cast<Py_ssize_t *>(PyMem_Malloc((2 * rank + 1) * sizeof(Py_ssize_t)));
    if (!sizes) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = tensor.shape()[i];
        sizes[rank + i] = tensor.strides()[i] * size;
    }
    try {
        const Tensor bytes = tensor;  // its address, whatever the type is
        switch (size) {
            case 1:
                view->buf = bytes.data<uint8_t>();
                break;
            case 2:
                view->buf = bytes.data<uint16_t>();
                break;
            case 4:
                view->buf = bytes.data<uint32_t>();
                break;
            default:
                view->buf = bytes.data<uint64_t>();
                break;
        }
    } catch (const std::exception &error) {
        PyMem_Free(sizes);
        return fail(error.what());
    }
    view->len = tensor.elements() * size;
    view->itemsize = size;
    view->readonly = 0;
    view->ndim = static_cast<int>(rank);
    view->format = flags & PyBUF_FORMAT ? const_cast<char *>(format_of(tensor.type())) : nullptr;
    view->shape = flags & PyBUF_ND ? sizes : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? sizes + rank : nullptr;
    view->suboffsets = nullptr;
    view->internal = sizes;
    Py_INCREF(self);
    view->obj = self;
    return 0;
}

void free_buffer(PyObject *, Py_buffer *view) { PyMem_Free(view->internal); }

}  // namespace hk::python
