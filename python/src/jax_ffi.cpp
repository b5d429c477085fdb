// Handlers of XLA's foreign functions, which JAX calls on the CPU without the interpreter's lock.
// halide_kernels.jax registers them; each is a capsule of jax_targets().
// (docs.jax.dev/en/latest/ffi.html; headers are in the package jaxlib)

#include <nanobind/nanobind.h>
#include <xla/ffi/api/ffi.h>

#include <string>

#include "element_types.h"
#include "hk/conv2d_backward.h"
#include "hk/error.h"
#include "hk/tensor_product_backward.h"
#include "hk/topk.h"
#include "operations.h"
#include "unlocked.h"

namespace hk::python {

namespace {

namespace ffi = xla::ffi;
namespace nb = nanobind;

using Ints = ffi::Span<const int64_t>;
using Buffer = ffi::AnyBuffer;
using Output = ffi::Result<Buffer>;

DataType type_of(ffi::DataType type) {
    switch (type) {
        case ffi::F32:
            return DataType::f32;
        case ffi::F16:
            return DataType::f16;
        case ffi::BF16:
            return DataType::bf16;
        case ffi::F64:
            return DataType::f64;
        case ffi::S8:
            return DataType::s8;
        case ffi::U8:
            return DataType::u8;
        case ffi::S16:
            return DataType::s16;
        case ffi::U16:
            return DataType::u16;
        case ffi::S32:
            return DataType::s32;
        case ffi::U32:
            return DataType::u32;
        case ffi::S64:
            return DataType::s64;
        case ffi::U64:
            return DataType::u64;
        default:
            throw InvalidArgument("jax: XLA's element type " +
                                  std::to_string(static_cast<int>(type)) + " is none of hk's");
    }
}

Tensor tensor(const Buffer &buffer) {
    const auto sizes = buffer.dimensions();
    return Tensor::borrow(buffer.untyped_data(), type_of(buffer.element_type()),
                          Shape(sizes.begin(), sizes.end()));
}
Tensor tensor(Output &output) { return tensor(*output); }

// What the library throws, as XLA's error.
template<typename Run>
ffi::Error guarded(Run run) {
    try {
        const Calling calling;
        run();
        return ffi::Error::Success();
    } catch (const InvalidArgument &error) {
        return ffi::Error::InvalidArgument(in_numpy_names(error.what()));
    } catch (const OutOfMemory &error) {
        return ffi::Error(ffi::ErrorCode::kResourceExhausted, in_numpy_names(error.what()));
    } catch (const std::exception &error) {
        return ffi::Error::Internal(in_numpy_names(error.what()));
    }
}

int64_t at(Ints ints, size_t i) {
    if (i >= ints.size()) throw InvalidArgument("jax: an option has too few numbers");
    return ints.begin()[i];
}

Conv2dOptions options_of(Ints stride, Ints padding, Ints dilation, int64_t groups,
                         std::string_view layout) {
    Conv2dOptions options;
    options.layout = layout_of(layout);
    options.stride = {at(stride, 0), at(stride, 1)};
    options.padding = {at(padding, 0), at(padding, 1), at(padding, 2), at(padding, 3)};
    options.dilation = {at(dilation, 0), at(dilation, 1)};
    options.groups = groups;
    return options;
}

ffi::Error conv2d(Buffer input, Buffer weight, ffi::RemainingArgs bias, Output output, Ints stride,
                  Ints padding, Ints dilation, int64_t groups, std::string_view layout) {
    return guarded([&] {
        Tensor b;
        if (bias.size() > 0) b = tensor(bias.get<Buffer>(0).value());
        const Tensor w = tensor(weight), y = tensor(output);
        hk::conv2d(tensor(input), w, b, {}, y,
                   options_of(stride, padding, dilation, groups, layout));
    });
}

ffi::Error conv2d_backward_data(Buffer output_gradient, Buffer weight, Output input_gradient,
                                Ints stride, Ints padding, Ints dilation, int64_t groups,
                                std::string_view layout) {
    return guarded([&] {
        hk::conv2d_backward_data(tensor(output_gradient), tensor(weight), tensor(input_gradient),
                                 options_of(stride, padding, dilation, groups, layout));
    });
}

ffi::Error conv2d_backward_weight(Buffer output_gradient, Buffer input, Output weight_gradient,
                                  Ints stride, Ints padding, Ints dilation, int64_t groups,
                                  std::string_view layout) {
    return guarded([&] {
        hk::conv2d_backward_weight(tensor(output_gradient), tensor(input), tensor(weight_gradient),
                                   options_of(stride, padding, dilation, groups, layout));
    });
}

ffi::Error topk(Buffer input, Output values, Output indices, int64_t axis, bool largest) {
    return guarded([&] {
        TopKOptions options;
        options.axis = static_cast<int>(axis);
        options.order = largest ? Order::largest : Order::smallest;
        const Tensor v = tensor(values);
        hk::topk(tensor(input), v.shape().at(static_cast<size_t>(axis)), v, tensor(indices),
                 options);
    });
}

// Maps are arrays here, and sorted in each call.
TensorProductMaps maps_of(Buffer imap, Buffer omap, Buffer starts, int64_t input_rows,
                          int64_t output_rows) {
    return TensorProductMaps(tensor(imap), tensor(omap), input_rows, output_rows, tensor(starts));
}

TensorProductOptions groups_of(int64_t groups) {
    TensorProductOptions options;
    options.groups = groups;
    return options;
}

ffi::Error tensor_product(Buffer input, Buffer weight, Buffer imap, Buffer omap, Buffer starts,
                          Output output, int64_t groups) {
    return guarded([&] {
        const Tensor x = tensor(input), y = tensor(output);
        hk::tensor_product(x, tensor(weight),
                           maps_of(imap, omap, starts, x.shape().at(0), y.shape().at(0)), y,
                           groups_of(groups));
    });
}

ffi::Error tensor_product_backward_data(Buffer output_gradient, Buffer weight, Buffer imap,
                                        Buffer omap, Buffer starts, Output input_gradient,
                                        int64_t groups) {
    return guarded([&] {
        const Tensor dy = tensor(output_gradient), dx = tensor(input_gradient);
        hk::tensor_product_backward_data(
            dy, tensor(weight), maps_of(imap, omap, starts, dx.shape().at(0), dy.shape().at(0)), dx,
            groups_of(groups));
    });
}

ffi::Error tensor_product_backward_weight(Buffer input, Buffer output_gradient, Buffer imap,
                                          Buffer omap, Buffer starts, Output weight_gradient,
                                          int64_t groups) {
    return guarded([&] {
        const Tensor x = tensor(input), dy = tensor(output_gradient);
        hk::tensor_product_backward_weight(
            x, dy, maps_of(imap, omap, starts, x.shape().at(0), dy.shape().at(0)),
            tensor(weight_gradient), groups_of(groups));
    });
}

template<typename Binding>
auto with_convolution(Binding binding) {
    return std::move(binding)
        .template Attr<Ints>("stride")
        .template Attr<Ints>("padding")
        .template Attr<Ints>("dilation")
        .template Attr<int64_t>("groups")
        .template Attr<std::string_view>("layout");
}

auto two_to_one() { return ffi::Ffi::Bind().Arg<Buffer>().Arg<Buffer>().Ret<Buffer>(); }

auto product() {
    return ffi::Ffi::Bind()
        .Arg<Buffer>()
        .Arg<Buffer>()
        .Arg<Buffer>()
        .Arg<Buffer>()
        .Arg<Buffer>()
        .Ret<Buffer>()
        .Attr<int64_t>("groups");
}

XLA_FFI_DEFINE_HANDLER(
    kConv2d, conv2d,
    with_convolution(ffi::Ffi::Bind().Arg<Buffer>().Arg<Buffer>().RemainingArgs().Ret<Buffer>()));
XLA_FFI_DEFINE_HANDLER(kConv2dData, conv2d_backward_data, with_convolution(two_to_one()));
XLA_FFI_DEFINE_HANDLER(kConv2dWeight, conv2d_backward_weight, with_convolution(two_to_one()));
XLA_FFI_DEFINE_HANDLER(
    kTopK, topk,
    ffi::Ffi::Bind().Arg<Buffer>().Ret<Buffer>().Ret<Buffer>().Attr<int64_t>("axis").Attr<bool>(
        "largest"));
XLA_FFI_DEFINE_HANDLER(kProduct, tensor_product, product());
XLA_FFI_DEFINE_HANDLER(kProductData, tensor_product_backward_data, product());
XLA_FFI_DEFINE_HANDLER(kProductWeight, tensor_product_backward_weight, product());

nb::dict targets() {
    nb::dict result;
    const auto add = [&](const char *name, XLA_FFI_Handler *handler) {
        result[name] = nb::capsule(reinterpret_cast<void *>(handler));
    };
    add("conv2d", kConv2d);
    add("conv2d_backward_data", kConv2dData);
    add("conv2d_backward_weight", kConv2dWeight);
    add("topk", kTopK);
    add("tensor_product", kProduct);
    add("tensor_product_backward_data", kProductData);
    add("tensor_product_backward_weight", kProductWeight);
    return result;
}

}  // namespace

void add_jax(nb::module_ &module) {
    module.def("_jax_targets", targets, "Handlers of XLA's foreign functions, by name.");
}

}  // namespace hk::python
