#include "call.h"

#include "element_types.h"
#include "hk/error.h"

namespace hk::python {

Imported Call::import(nb::handle array, const char *name) {
    const Kind kind = kind_of(array);
    Imported imported = import_array(array, kind, {operation_, name});
    if (!has_kind_) {
        has_kind_ = true;
        kind_ = kind;
        device_ = imported.tensor.device();
        if (kind.way == Kind::Way::exchange && device_.type() == DeviceType::cuda &&
            kind.api->current_stream(kDLCUDA, device_.index(), &stream_.handle) != 0)
            throw nb::python_error();
    }
    return imported;
}

Tensor Call::read(Argument array, const char *name) {
    Imported imported = import(array.object, name);
    held_.push_back(std::move(imported.hold));
    return std::move(imported.tensor);
}

Tensor Call::optional(Argument array, const char *name) {
    return array.given() ? read(array, name) : Tensor();
}

namespace {

Tensor adjacent(Tensor tensor) {
    const bool copied =
        tensor.rank() > 0 && tensor.shape().back() > 1 && tensor.strides().back() != 1;
    return copied ? tensor.contiguous() : tensor;
}

// The messages of an allocator that tells its error by a function.
void set_error(void *to, const char *, const char *message) {
    *static_cast<std::string *>(to) = message ? message : "";
}

}  // namespace

Tensor Call::image(Argument array, const char *name) { return adjacent(read(array, name)); }

Tensor Call::optional_image(Argument array, const char *name) {
    return array.given() ? image(array, name) : Tensor();
}

Written Call::write(Argument array, const char *name) {
    Imported imported = import(array.object, name);
    if (imported.read_only) {
        throw InvalidArgument(std::string(operation_) + ": " + name +
                              " is read-only, it is written to");
    }
    held_.push_back(std::move(imported.hold));
    Written written;
    written.tensor = std::move(imported.tensor);
    written.array = nb::borrow(array.object);
    return written;
}

Written Call::make(Shape shape, DataType type) {
    Written written;
    if (kind_.way != Kind::Way::exchange) {
        written.tensor = Tensor(std::move(shape), type, device_);
        return written;
    }
    // The framework's memory: only it knows on which streams its arrays are used later.
    DLTensor prototype{};
    prototype.device = {device_.is_cpu() ? kDLCPU : kDLCUDA, device_.index()};
    prototype.ndim = static_cast<int32_t>(shape.size());
    prototype.dtype = dlpack_type(type);
    prototype.shape = shape.data();
    std::string message;
    if (kind_.api->allocate(&prototype, &written.managed, &message, set_error) != 0) {
        PyErr_Clear();
        written.managed = nullptr;
        throw OutOfMemory(std::string(operation_) + ": no memory for an array of shape " +
                          to_string(shape) + ": " + message);
    }
    DLTensor &made = written.managed->dl_tensor;
    written.tensor =
        Tensor::borrow(static_cast<char *>(made.data) + made.byte_offset, type, std::move(shape),
                       {}, device_);
    return written;
}

Written Call::write_or_make(Argument array, const char *name, const Shape &shape, DataType type) {
    return array.given() ? write(array, name) : make(shape, type);
}

Result Call::give(Written &written) const {
    if (written.array.is_valid()) return {written.array};
    if (!written.managed) return give(written.tensor);
    void *made = nullptr;
    if (kind_.api->to_object(std::exchange(written.managed, nullptr), &made) != 0 || !made)
        throw nb::python_error();
    return {nb::steal(static_cast<PyObject *>(made))};
}

Result Call::give(const Tensor &tensor) const { return {export_tensor(tensor, kind_)}; }

}  // namespace hk::python
