#include "call.h"

#include <algorithm>
#include <memory>

#include "element_types.h"
#include "hk/dlpack.h"
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

const std::vector<int> kToNhwc{0, 2, 3, 1}, kToNchw{0, 3, 1, 2};

// An nchw image whose channels lie next to each other, and columns don't. Of one channel its stride
// decides.
bool is_channels_last(const Tensor &tensor) {
    if (tensor.rank() != 4 || tensor.strides()[1] != 1) return false;
    return tensor.shape()[1] == 1 || tensor.shape()[3] == 1 || tensor.strides()[3] != 1;
}

// The messages of an allocator that tells its error by a function.
void set_error(void *to, const char *, const char *message) {
    *static_cast<std::string *>(to) = message ? message : "";
}

}  // namespace

void Call::set_layout(std::string_view layout, bool may_turn) {
    layout_ = layout_of(layout);
    may_turn_ = may_turn && layout_ == Layout::nchw;
}

Tensor Call::image(Argument array, const char *name) {
    Tensor tensor = read(array, name);
    if (may_turn_) {
        turned_ = is_channels_last(tensor);
        may_turn_ = false;
        if (turned_) layout_ = Layout::nhwc;
    }
    if (turned_ && tensor.rank() == 4) tensor = tensor.permute(kToNhwc);
    return adjacent(std::move(tensor));
}

Shape Call::image_shape(Sizes sizes, const char *name) const {
    const Shape shape = read_shape(operation_, name, sizes);
    if (!turned_ || shape.size() != 4) return shape;
    return {shape[0], shape[2], shape[3], shape[1]};
}

Tensor Call::optional_image(Argument array, const char *name) {
    return array.given() ? image(array, name) : Tensor();
}

Written Call::write(Argument array, const char *name) {
    Imported imported = import(array.object, name);
    // JAX's arrays never change, which their DLPack does not say.
    const bool is_constant = imported.read_only || library_of(array.object.type()) == "jaxlib";
    if (is_constant) {
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
    prototype.device = dlpack_device(device_);
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
    written.tensor = Tensor::borrow(static_cast<char *>(made.data) + made.byte_offset, type,
                                    std::move(shape), {}, device_);
    return written;
}

Written Call::write_or_make(Argument array, const char *name, const Shape &shape, DataType type) {
    return array.given() ? write(array, name) : make(shape, type);
}

Written Call::make_image(Shape shape, DataType type) {
    Written written = make(std::move(shape), type);
    written.turned = turned_;
    return written;
}

Written Call::write_or_make_image(Argument array, const char *name, const Shape &shape,
                                  DataType type) {
    if (!array.given()) return make_image(shape, type);
    Written written = write(array, name);
    if (turned_ && written.tensor.rank() == 4) written.tensor = written.tensor.permute(kToNhwc);
    return written;
}

namespace {

// PyTorch's transpose() exchanges two dimensions; others have no permute().
nb::object as_nchw(nb::handle array) {
    static PyObject *const order = nb::make_tuple(0, 3, 1, 2).release().ptr();
    static PyObject *const permute = PyUnicode_InternFromString("permute");
    static PyObject *const transpose = PyUnicode_InternFromString("transpose");
    PyObject *name = PyObject_HasAttr(array.ptr(), permute) ? permute : transpose;
    PyObject *turned = PyObject_CallMethodOneArg(array.ptr(), name, order);
    if (!turned) throw nb::python_error();
    return nb::steal(turned);
}

// An nhwc tensor as an nchw one, over the same memory. To ask its library for that takes longer.
struct Turned : VersionedTensor {
    VersionedTensor *inner;
    std::array<int64_t, 4> sizes, steps;
};

VersionedTensor *turned_of(VersionedTensor *inner, const Tensor &nchw) {
    auto *turned = new Turned;
    static_cast<VersionedTensor &>(*turned) = *inner;
    turned->inner = inner;
    std::ranges::copy(nchw.shape(), turned->sizes.begin());
    std::ranges::copy(nchw.strides(), turned->steps.begin());
    turned->dl_tensor.shape = turned->sizes.data();
    turned->dl_tensor.strides = turned->steps.data();
    turned->deleter = [](VersionedTensor *self) {
        const std::unique_ptr<Turned> owner(static_cast<Turned *>(self));
        if (owner->inner->deleter) owner->inner->deleter(owner->inner);
    };
    return turned;
}

}  // namespace

Result Call::give(Written &written) const {
    if (written.array.is_valid()) return {written.array};
    if (!written.managed) {
        if (!written.turned) return give(written.tensor);
        if (kind_.way == Kind::Way::tensor) return {nb::cast(written.tensor.permute(kToNchw))};
        return {as_nchw(give(written.tensor).object)};
    }
    VersionedTensor *managed = written.managed;
    if (written.turned) managed = turned_of(managed, written.tensor.permute(kToNchw));
    written.managed = nullptr;
    void *made = nullptr;
    if (kind_.api->to_object(managed, &made) != 0 || !made) throw nb::python_error();
    return {nb::steal(static_cast<PyObject *>(made))};
}

Result Call::give(const Tensor &tensor) const { return {export_tensor(tensor, kind_)}; }

}  // namespace hk::python
