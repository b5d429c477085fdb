#include <array>
#include <memory>

#include "arguments.h"
#include "element_types.h"
#include "hk/dlpack.h"
#include "hk/error.h"
#include "imported.h"

namespace hk::python {

Hold &Hold::operator=(Hold &&other) noexcept {
    release();
    buffer = std::exchange(other.buffer, {});
    versioned = std::exchange(other.versioned, nullptr);
    plain = std::exchange(other.plain, nullptr);
    return *this;
}

void Hold::release() noexcept {
    if (buffer.obj) PyBuffer_Release(&buffer);
    if (versioned && versioned->deleter) versioned->deleter(versioned);
    if (plain && plain->deleter) plain->deleter(plain);
    buffer = {};
    versioned = nullptr;
    plain = nullptr;
}

std::string operator+(const Place &place, const std::string &text) {
    return std::string(place.operation) + ": " + place.name + text;
}

namespace {

// What an array says of itself. `shape` and `strides` are where a buffer's are put, in elements.
struct Description {
    static constexpr int kMostDimensions = 64;

    DLTensor tensor{};
    Hold hold;
    bool read_only = false;
    std::array<int64_t, kMostDimensions> shape, strides;
};

[[noreturn]] void refuse_array(nb::handle array, const Place &where) {
    refuse_type(where + " is " + shown(array) + " of type " + type_words(array) +
                ", it must be an array: what has __dlpack__ or the buffer protocol, as "
                "numpy.asarray makes it");
}

// In the words of the array's own library, where it has some.
[[noreturn]] void refuse_elements(nb::handle array, const std::string &what, const Place &where) {
    const nb::object dtype = nb::getattr(array, "dtype", nb::none());
    refuse_type(where + " has elements of " +
                (dtype.is_none() ? what : "dtype " + shown(nb::str(dtype))) +
                ", they must be float32, float16, bfloat16, float64, or int or uint of 8, 16, 32 "
                "or 64 bits in the machine's byte order");
}

void describe_buffer(Description &to, DataType type, const Place &where) {
    const Py_buffer &buffer = to.hold.buffer;
    const int64_t size = size_of(type);
    if (buffer.ndim > Description::kMostDimensions) {
        throw InvalidArgument(where + " has " + std::to_string(buffer.ndim) +
                              " dimensions, there may be " +
                              std::to_string(Description::kMostDimensions));
    }
    for (int i = 0; i < buffer.ndim; i++) {
        const auto d = static_cast<size_t>(i);
        to.shape[d] = buffer.shape[i];
        to.strides[d] = buffer.strides[i] / size;
        if (buffer.shape[i] > 1 && buffer.strides[i] % size != 0) {
            throw InvalidArgument(where + " has elements " + std::to_string(buffer.strides[i]) +
                                  " bytes apart along dimension " + std::to_string(i) + ", " +
                                  numpy_name(type) + " needs a multiple of " +
                                  std::to_string(size) + "; pass a copy");
        }
    }
    to.tensor = {
        buffer.buf, {kDLCPU, 0}, buffer.ndim, dlpack_type(type), to.shape.data(), to.strides.data(),
        0};
    to.read_only = buffer.readonly;
}

// NumPy gives no buffer of a bfloat16 that ml_dtypes adds to it: of its bits it does.
bool take_bfloat16(nb::handle array, Py_buffer &buffer) {
    const nb::object dtype = nb::getattr(array, "dtype", nb::none());
    const nb::object name = nb::getattr(dtype, "name", nb::none());
    if (!PyUnicode_Check(name.ptr()) || nb::cast<std::string_view>(name) != "bfloat16")
        return false;
    const nb::object bits = array.attr("view")("uint16");
    return PyObject_GetBuffer(bits.ptr(), &buffer, PyBUF_RECORDS_RO) == 0;
}

void take_buffer(Description &to, nb::handle array, const Place &where) {
    if (PyObject_GetBuffer(array.ptr(), &to.hold.buffer, PyBUF_RECORDS_RO) == 0) {
        const Py_buffer &buffer = to.hold.buffer;
        const auto type = type_of_format(buffer.format, buffer.itemsize);
        if (!type) {
            refuse_elements(
                array, "format \"" + std::string(buffer.format ? buffer.format : "") + "\"", where);
        }
        return describe_buffer(to, *type, where);
    }
    PyErr_Clear();
    to.hold.buffer = {};
    if (take_bfloat16(array, to.hold.buffer)) return describe_buffer(to, DataType::bf16, where);
    PyErr_Clear();
    to.hold.buffer = {};
    refuse_elements(array, "type " + type_words(array), where);
}

void take_managed(Description &to, VersionedTensor *managed) {
    to.hold.versioned = managed;
    to.tensor = managed->dl_tensor;
    to.read_only = managed->flags & kReadOnly;
}

// Borrowed where the array outlives the tensor, which takes less time.
void take_exchanged(Description &to, nb::handle array, const ExchangeApi &api, bool borrows) {
    if (borrows && api.borrow_object) {
        if (api.borrow_object(array.ptr(), &to.tensor) != 0) throw nb::python_error();
        return;
    }
    VersionedTensor *managed = nullptr;
    if (api.from_object(array.ptr(), &managed) != 0 || !managed) throw nb::python_error();
    take_managed(to, managed);
}

// The capsule of an exporter, of DLPack 1 or before. On a GPU its elements are there when the work
// is done that was put on the default queue, the library's own.
nb::object ask_for_capsule(nb::handle array, int32_t device) {
    constexpr int kDefaultStream = 1;
    nb::dict options;
    if (device == kDLCUDA || device == kDLCUDAManaged) options["stream"] = kDefaultStream;
    const nb::object method = array.attr("__dlpack__");
    try {
        nb::dict newer = nb::steal<nb::dict>(PyDict_Copy(options.ptr()));
        newer["max_version"] = nb::make_tuple(kDlpackVersion.major, kDlpackVersion.minor);
        return method(**newer);
    } catch (nb::python_error &error) {
        if (!error.matches(PyExc_TypeError)) throw;
    }
    return method(**options);
}

void take_dlpack(Description &to, nb::handle array, const Place &where) {
    int32_t device = kDLCPU;
    if (nb::hasattr(array, "__dlpack_device__")) {
        const nb::object pair = array.attr("__dlpack_device__")();
        if (!PySequence_Check(pair.ptr()) || nb::len(pair) != 2)
            refuse_type(where + ": __dlpack_device__() gives " + shown(pair) + ", not two ints");
        device = static_cast<int32_t>(
            read_int("__dlpack_device__", "the device's type", nb::object(pair[nb::int_(0)])));
    }
    nb::object capsule;
    try {
        capsule = ask_for_capsule(array, device);
    } catch (nb::python_error &) {
        if (library_of(array.type()) != "jax") throw;  // whose arrays are of jaxlib
        refuse_type(where +
                    " is traced by JAX, in a transform such as jit or grad; call the function of "
                    "halide_kernels.jax");
    }
    const auto take = [&](const char *name, const char *used) -> void * {
        if (!PyCapsule_IsValid(capsule.ptr(), name)) return nullptr;
        void *managed = PyCapsule_GetPointer(capsule.ptr(), name);
        PyCapsule_SetName(capsule.ptr(), used);
        return managed;
    };
    if (void *managed = take("dltensor_versioned", "used_dltensor_versioned")) {
        auto *versioned = static_cast<VersionedTensor *>(managed);
        to.hold.versioned = versioned;
        if (versioned->version.major != kDlpackVersion.major) {
            throw InvalidArgument(where + ": its DLPack is version " +
                                  std::to_string(versioned->version.major) + ", not " +
                                  std::to_string(kDlpackVersion.major));
        }
        take_managed(to, versioned);
    } else if (void *plain = take("dltensor", "used_dltensor")) {
        to.hold.plain = static_cast<DLManagedTensor *>(plain);
        to.tensor = to.hold.plain->dl_tensor;
    } else {
        refuse_type(where + ": __dlpack__() gives " + shown(capsule) +
                    ", not a capsule with a DLPack tensor");
    }
}

// False where PyTorch is there and records none. What it is asked by is looked up once.
bool gradients_are_recorded() {
    static PyObject *asked = nullptr;
    if (!asked) {
        const nb::object torch = nb::steal(PyImport_GetModule(nb::str("torch").ptr()));
        if (torch.is_valid()) asked = nb::getattr(torch, "is_grad_enabled").release().ptr();
        PyErr_Clear();
    }
    return !asked || nb::handle(asked)().ptr() != Py_False;
}

// What is computed of a tensor that wants a gradient would be lost to it.
void check_gradient(nb::handle array, const Place &where) {
    static PyObject *const name = PyUnicode_InternFromString("requires_grad");
    if (nb::getattr(array, nb::handle(name), nb::none()).ptr() != Py_True) return;
    if (!gradients_are_recorded()) return;
    throw InvalidArgument(where +
                          " requires a gradient, which this function does not record; call that of "
                          "halide_kernels.torch, or pass it detach()ed");
}

// PyTorch negates such a view as it reads it, of which DLPack does not tell.
void check_sign(nb::handle array, const Place &where) {
    static PyObject *const name = PyUnicode_InternFromString("is_neg");
    const nb::object negated = nb::steal(PyObject_CallMethodNoArgs(array.ptr(), name));
    if (!negated.is_valid()) return PyErr_Clear();
    if (negated.ptr() == Py_True) {
        throw InvalidArgument(where +
                              " is a view whose elements PyTorch negates as it reads them; "
                              "pass its resolve_neg()");
    }
}

void describe(Description &to, nb::handle array, const Kind &kind, const Place &where,
              bool borrows) {
    switch (kind.way) {
        case Kind::Way::numpy:
        case Kind::Way::buffer:
            return take_buffer(to, array, where);
        case Kind::Way::exchange:
            check_gradient(array, where);
            check_sign(array, where);
            return take_exchanged(to, array, *kind.api, borrows);
        case Kind::Way::dlpack:
            check_sign(array, where);
            return take_dlpack(to, array, where);
        default:
            refuse_array(array, where);
    }
}

// What Tensor::from_dlpack takes over, with what it keeps alive.
struct Managed : DLManagedTensor {
    nb::object array;  // goes after what it has given
    Hold hold;
};

// The tensor takes `hold` over, where there is one, and keeps `array`, which may be null.
Tensor tensor_over(const DLTensor &described, Hold hold, nb::handle array = {}) {
    auto managed = std::make_unique<Managed>();
    managed->dl_tensor = described;
    managed->array = nb::borrow(array);
    managed->hold = std::move(hold);
    managed->deleter = [](DLManagedTensor *tensor) {
        auto *self = static_cast<Managed *>(tensor);
        const bool held = self->hold.buffer.obj || self->hold.versioned || self->hold.plain;
        if (!held) {
            delete self;
        } else if (Py_IsInitialized()) {
            const nb::gil_scoped_acquire lock;
            delete self;
        }  // else the interpreter is gone, and what it owned with it
    };
    return Tensor::from_dlpack(managed.release());
}

// For the time of a call, in which somebody else holds the memory.
Tensor borrowed_tensor(const DLTensor &described) {
    if (device_of(described.device) != Device::cpu()) return tensor_over(described, {});
    const DLTensor &d = described;
    if (d.ndim < 0 || (d.ndim > 0 && !d.shape)) return tensor_over(described, {});
    return Tensor::borrow(static_cast<char *>(d.data) + d.byte_offset, *data_type_of(d.dtype),
                          Shape(d.shape, d.shape + d.ndim),
                          d.strides ? Shape(d.strides, d.strides + d.ndim) : Shape());
}

// Messages of the library say what is wrong with a tensor; the argument's name comes before them.
template<typename Make>
Tensor named(nb::handle array, const DLTensor &described, const Place &where, Make make) {
    if (!data_type_of(described.dtype)) refuse_elements(array, words_of(described.dtype), where);
    // Drivers crash over a handle that is none of theirs, and no way to ask is left.
    const std::optional<Device> device = device_of(described.device);
    if (device && device->type() == DeviceType::opencl) {
        throw InvalidArgument(where +
                              " is another library's on an OpenCL device; pass "
                              "halide_kernels.asarray(it on the CPU, device=\"opencl:0\")");
    }
    try {
        return make();
    } catch (const InvalidArgument &error) {
        throw InvalidArgument(where + ": " + error.what());
    }
}

}  // namespace

Imported import_array(nb::handle array, const Kind &kind, const Place &where) {
    if (kind.way == Kind::Way::tensor) return {nb::cast<const Tensor &>(array), {}, false};
    Description description;
    describe(description, array, kind, where, true);
    const DLTensor &described = description.tensor;
    Tensor tensor = named(array, described, where, [&] { return borrowed_tensor(described); });
    return {std::move(tensor), std::move(description.hold), description.read_only};
}

Tensor keep(nb::handle array, const Place &where) {
    const Kind kind = kind_of(array);
    if (kind.way == Kind::Way::tensor) return nb::cast<const Tensor &>(array);
    Description description;
    describe(description, array, kind, where, false);
    const DLTensor &described = description.tensor;
    // What gives DLPack should keep its memory until that is released; not all of it does.
    const nb::handle kept = kind.way == Kind::Way::dlpack ? array : nb::handle();
    return named(array, described, where,
                 [&] { return tensor_over(described, std::move(description.hold), kept); });
}

}  // namespace hk::python
