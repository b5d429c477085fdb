#pragma once
// What functions take and give: types whose names stubs show, and how options are read. A message
// has the operation, the argument and the value. Functions here need the interpreter's lock.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "hk/conv2d.h"

namespace hk::python {

namespace nb = nanobind;

// As it was passed; borrowed for the call.
struct Argument {
    nb::handle object;
    bool given() const { return object.is_valid() && !object.is_none(); }
};

struct First : Argument {};            // an array, whose kind results have
struct Array : Argument {};            // any array
struct OptionalArray : Argument {};    // or None
struct Weight : Argument {};           // an array or a Filter
struct QuantizedWeight : Argument {};  // an array or a QuantizedFilter
struct Maps : Argument {};             // a KernelMap or TensorProductMaps
struct Pair : Argument {};             // an int, or two: y, x
struct Pads : Argument {};             // "same", "valid", an int, two, or two pairs
struct Triple : Argument {};           // an int, or three: x, y, z
struct Sizes : Argument {};            // a shape
struct Scales : Argument {};           // a number, an array, or None
struct TypeName : Argument {};         // of elements
struct Where : Argument {};            // a device's name

// What a function gives: an array of the kind of its First.
struct Result {
    nb::object object;
};

std::string type_words(nb::handle object);  // "numpy.ndarray"
std::string shown(nb::handle object);

nb::tuple tuple_of(const Shape &shape);

int64_t read_int(const char *operation, const char *name, nb::handle object);
std::array<int64_t, 2> read_pair(const char *operation, const char *name, Pair pair);
std::array<int64_t, 3> read_triple(const char *operation, const char *name, Triple triple);
Padding read_four(const char *operation, const char *name, Sizes four);
Shape read_shape(const char *operation, const char *name, Sizes sizes);
DataType read_type(TypeName type);
Device read_device(Where device);

// What padding is computed of along one axis.
struct Axis {
    int64_t input, kernel, stride, dilation;
};

// "same": as many outputs as the stride leaves of the input's pixels, the odd one added at the end
// (ONNX SAME_UPPER).
Padding read_padding(const char *operation, Pads padding, const Axis &y, const Axis &x);

// Height and width of an image or a weight; throws InvalidArgument for another rank than 4.
std::array<int64_t, 2> spatial(const char *operation, const char *name, const Shape &shape,
                               Layout layout);

// None leaves what `options` has.
void read_activation(std::optional<std::string_view> name, std::optional<float> alpha,
                     std::optional<float> beta, Activation &activation, float &to_alpha,
                     float &to_beta);

[[noreturn]] void refuse_type(const std::string &message);  // TypeError

}  // namespace hk::python

namespace nanobind::detail {

// Whatever was passed goes on, for the function to read, which says what is wrong with it.
#define HK_PYTHON_ARGUMENT(type, text)                                       \
    template<>                                                               \
    struct type_caster<hk::python::type> {                                   \
        NB_TYPE_CASTER(hk::python::type, const_name(text))                   \
        bool from_python(handle source, uint32_t, cleanup_list *) noexcept { \
            value.object = source;                                           \
            return true;                                                     \
        }                                                                    \
        static handle from_cpp(const hk::python::type &source, rv_policy,    \
                               cleanup_list *) noexcept {                    \
            return source.object.inc_ref();                                  \
        }                                                                    \
    };

HK_PYTHON_ARGUMENT(First, "halide_kernels.typing.A")
HK_PYTHON_ARGUMENT(Array, "halide_kernels.typing.Array")
HK_PYTHON_ARGUMENT(OptionalArray, "halide_kernels.typing.Array")
HK_PYTHON_ARGUMENT(Weight, "halide_kernels.typing.Array | Filter")
HK_PYTHON_ARGUMENT(QuantizedWeight, "halide_kernels.typing.Array | QuantizedFilter")
HK_PYTHON_ARGUMENT(Maps, "TensorProductMaps | KernelMap")
HK_PYTHON_ARGUMENT(Pair, "int | tuple[int, int]")
HK_PYTHON_ARGUMENT(Pads, "str | int | tuple[int, int] | tuple[tuple[int, int], tuple[int, int]]")
HK_PYTHON_ARGUMENT(Triple, "int | tuple[int, int, int]")
HK_PYTHON_ARGUMENT(Sizes, "int | collections.abc.Sequence[int]")
HK_PYTHON_ARGUMENT(Scales, "float | halide_kernels.typing.Array")
HK_PYTHON_ARGUMENT(TypeName, "halide_kernels.typing.Dtype")
HK_PYTHON_ARGUMENT(Where, "str")
#undef HK_PYTHON_ARGUMENT

template<>
struct type_caster<hk::python::Result> {
    NB_TYPE_CASTER(hk::python::Result, const_name("halide_kernels.typing.A"))
    bool from_python(handle source, uint32_t, cleanup_list *) noexcept {
        value.object = borrow(source);
        return true;
    }
    static handle from_cpp(const hk::python::Result &source, rv_policy, cleanup_list *) noexcept {
        return source.object.inc_ref();
    }
};

}  // namespace nanobind::detail
