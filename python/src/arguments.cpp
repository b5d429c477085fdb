#include "arguments.h"

#include <algorithm>

#include "element_types.h"
#include "hk/error.h"

namespace hk::python {

std::string type_words(nb::handle object) {
    const nb::handle type = object.type();
    const auto module = nb::cast<std::string_view>(nb::str(type.attr("__module__")));
    const auto name = nb::cast<std::string_view>(nb::str(type.attr("__qualname__")));
    return (module == "builtins" ? "" : std::string(module) + ".") + std::string(name);
}

std::string shown(nb::handle object) {
    const nb::str text = nb::repr(object);
    std::string result(text.c_str());
    if (result.size() > 80) result = result.substr(0, 77) + "...";
    return result;
}

nb::tuple tuple_of(const Shape &shape) {
    const nb::tuple sizes =
        nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
    if (!sizes.is_valid()) throw nb::python_error();
    for (size_t i = 0; i < shape.size(); i++) {
        PyTuple_SET_ITEM(sizes.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i]));
    }
    return sizes;
}

void refuse_type(const std::string &message) { throw nb::type_error(message.c_str()); }

namespace {

[[noreturn]] void refuse(const char *operation, const char *name, nb::handle object,
                         const char *wanted) {
    refuse_type(std::string(operation) + ": " + name + " is " + shown(object) + ", it must be " +
                wanted);
}

// The ints of a sequence of that length; false for anything else.
template<size_t N>
bool ints_of(const char *operation, const char *name, nb::handle object,
             std::array<int64_t, N> &ints) {
    if (PyUnicode_Check(object.ptr()) || !PySequence_Check(object.ptr())) return false;
    if (PySequence_Size(object.ptr()) != Py_ssize_t{N}) {
        PyErr_Clear();
        return false;
    }
    for (size_t i = 0; i < N; i++)
        ints[i] = read_int(operation, name, object[nb::int_(static_cast<int64_t>(i))]);
    return true;
}

template<size_t N>
std::array<int64_t, N> ints_or_one(const char *operation, const char *name, nb::handle object,
                                   const char *wanted) {
    std::array<int64_t, N> ints{};
    if (PyIndex_Check(object.ptr())) {
        ints.fill(read_int(operation, name, object));
    } else if (!ints_of(operation, name, object, ints)) {
        refuse(operation, name, object, wanted);
    }
    return ints;
}

int64_t same_total(const Axis &axis) {
    // The library refuses what is out of this range.
    for (const int64_t part : {axis.input, axis.kernel, axis.stride, axis.dilation})
        if (part < 1 || part > INT32_MAX) return 0;
    const int64_t outputs = (axis.input + axis.stride - 1) / axis.stride;
    const int64_t reach = (outputs - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    return std::max<int64_t>(0, reach - axis.input);
}

}  // namespace

int64_t read_int(const char *operation, const char *name, nb::handle object) {
    if (PyLong_CheckExact(object.ptr())) {
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
        if (!overflow) return value;
    }
    if (!PyIndex_Check(object.ptr())) refuse(operation, name, object, "an int");
    const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    if (overflow) {
        throw InvalidArgument(std::string(operation) + ": " + name + " is " + shown(object) +
                              ", more than 64 bits");
    }
    return value;
}

std::array<int64_t, 2> read_pair(const char *operation, const char *name, Pair pair) {
    return ints_or_one<2>(operation, name, pair.object, "an int or two: y, x");
}

std::array<int64_t, 3> read_triple(const char *operation, const char *name, Triple triple) {
    return ints_or_one<3>(operation, name, triple.object, "an int or three: x, y, z");
}

Padding read_four(const char *operation, const char *name, Sizes four) {
    std::array<int64_t, 4> pixels{};
    if (!ints_of(operation, name, four.object, pixels))
        refuse(operation, name, four.object, "four ints: top, bottom, left, right");
    return {pixels[0], pixels[1], pixels[2], pixels[3]};
}

Shape read_shape(const char *operation, const char *name, Sizes sizes) {
    const nb::handle object = sizes.object;
    if (PyIndex_Check(object.ptr())) return {read_int(operation, name, object)};
    if (PyUnicode_Check(object.ptr()) || !PySequence_Check(object.ptr()))
        refuse(operation, name, object, "a shape");
    Shape shape;
    for (const nb::handle size : nb::borrow(object))
        shape.push_back(read_int(operation, name, size));
    return shape;
}

DataType read_type(TypeName type) {
    nb::object name = nb::borrow(type.object);
    // numpy.float32 and ml_dtypes.bfloat16 are classes; others print as their names.
    if (PyType_Check(name.ptr())) name = name.attr("__name__");
    return type_named(nb::str(name).c_str());
}

Device read_device(Where device) { return Device::parse(nb::str(device.object).c_str()); }

Padding read_padding(const char *operation, Pads padding, const Axis &y, const Axis &x) {
    const nb::handle object = padding.object;
    constexpr const char *kWanted =
        "\"same\", \"valid\", an int, two: y, x, or ((top, bottom), (left, right))";
    if (PyUnicode_Check(object.ptr())) {
        const auto word = nb::cast<std::string_view>(object);
        if (word == "valid") return {};
        if (word == "same") {
            const int64_t down = same_total(y), across = same_total(x);
            return {down / 2, down - down / 2, across / 2, across - across / 2};
        }
        throw InvalidArgument(std::string(operation) + ": padding is " + shown(object) +
                              ", it must be " + kWanted);
    }
    std::array<int64_t, 2> ints{};
    if (PyIndex_Check(object.ptr())) {
        ints.fill(read_int(operation, "padding", object));
    } else if (PySequence_Check(object.ptr()) && PySequence_Size(object.ptr()) == 2) {
        const nb::object down = object[nb::int_(0)], across = object[nb::int_(1)];
        if (!PyIndex_Check(down.ptr())) {
            std::array<int64_t, 2> rows{}, columns{};
            if (!ints_of(operation, "padding", down, rows) ||
                !ints_of(operation, "padding", across, columns))
                refuse(operation, "padding", object, kWanted);
            return {rows[0], rows[1], columns[0], columns[1]};
        }
        ints = {read_int(operation, "padding", down), read_int(operation, "padding", across)};
    } else {
        PyErr_Clear();
        refuse(operation, "padding", object, kWanted);
    }
    return {ints[0], ints[0], ints[1], ints[1]};
}

std::array<int64_t, 2> spatial(const char *operation, const char *name, const Shape &shape,
                               Layout layout) {
    if (shape.size() != 4) {
        throw InvalidArgument(std::string(operation) + ": " + name + " has shape " +
                              to_string(shape) + ", it must have 4 dimensions");
    }
    return layout == Layout::nchw ? std::array{shape[2], shape[3]} : std::array{shape[1], shape[2]};
}

void read_activation(std::optional<std::string_view> name, std::optional<float> alpha,
                     std::optional<float> beta, Activation &activation, float &to_alpha,
                     float &to_beta) {
    if (name) activation = activation_of(*name);
    if (alpha) to_alpha = *alpha;
    if (beta) to_beta = *beta;
}

}  // namespace hk::python
