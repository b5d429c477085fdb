#include "hk/tensor_product.h"

#include <nanobind/nanobind.h>

#include "call.h"
#include "hk/error.h"
#include "hk/tensor_product_backward.h"
#include "operations.h"
#include "sparse_maps.h"

namespace hk::python {

namespace {

using namespace nb::literals;

TensorProductMaps maps_of(const char *operation, Maps maps) {
    KernelMapObject *map = nullptr;
    const TensorProductMaps *products = nullptr;
    if (nb::try_cast(maps.object, map) && map) return map->products();
    if (nb::try_cast(maps.object, products) && products) return *products;
    refuse_type(std::string(operation) + ": maps is " + shown(maps.object) +
                ", it must be a KernelMap or TensorProductMaps");
}

TensorProductOptions options_of(int64_t groups, std::string_view summation, bool accumulate) {
    TensorProductOptions options;
    options.groups = groups;
    options.summation = summation_of(summation);
    options.accumulate = accumulate;
    return options;
}

// What all three check, and what is written, of that shape.
struct Product {
    Product(const char *operation, Maps argument, int64_t groups, std::string_view summation,
            OptionalArray out, bool accumulate)
        : call(operation),
          maps(maps_of(operation, argument)),
          options(options_of(groups, summation, accumulate)),
          out(out) {
        if (accumulate && !out.given()) {
            throw InvalidArgument(std::string(operation) +
                                  ": accumulate is True, out is None; it must be what is added to");
        }
    }

    Tensor matrix(Argument array, const char *name, size_t rank = 2) {
        const Tensor tensor = call.read(array, name);
        if (tensor.shape().size() != rank) {
            throw InvalidArgument(std::string(call.operation()) + ": " + name + " has shape " +
                                  to_string(tensor.shape()) + ", it must have " +
                                  std::to_string(rank) + " dimensions");
        }
        return tensor;
    }

    TensorProductProblem problem(const Shape &input, const Shape &weight, const Shape &output,
                                 DataType type) const {
        return TensorProductProblem::from_shapes(input, weight, maps.places(), output, type,
                                                 options);
    }

    template<typename Run>
    Result write(const Shape &shape, DataType type, Run run) {
        Written written = call.write_or_make(out, "out", shape, type);
        call.run([&] { run(written.tensor); });
        return call.give(written);
    }

    Call call;
    TensorProductMaps maps;
    TensorProductOptions options;
    OptionalArray out;
};

Result tensor_product(First input, Array weight, Maps maps, int64_t groups,
                      std::string_view summation, OptionalArray out, bool accumulate) {
    Product product("tensor_product", maps, groups, summation, out, accumulate);
    const Tensor x = product.matrix(input, "input"), w = product.matrix(weight, "weight", 3);
    const Shape shape{product.maps.output_rows(), w.shape()[2]};
    if (explaining()) {
        return explain_with(product.call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_tensor_product(product.problem(x.shape(), w.shape(), shape, x.type()),
                                         type, limits, true);
        });
    }
    return product.write(shape, x.type(), [&](const Tensor &y) {
        hk::tensor_product(x, w, product.maps, y, product.options, product.call.stream());
    });
}

Result backward_data(First output_gradient, Array weight, Maps maps, int64_t groups,
                     std::string_view summation, OptionalArray out, bool accumulate) {
    Product product("tensor_product_backward_data", maps, groups, summation, out, accumulate);
    const Tensor dy = product.matrix(output_gradient, "output_gradient");
    const Tensor w = product.matrix(weight, "weight", 3);
    int64_t channels = 0;
    if (__builtin_mul_overflow(w.shape()[1], groups, &channels) || channels < 0) {
        throw InvalidArgument("tensor_product_backward_data: groups is " + std::to_string(groups) +
                              ", weight has shape " + to_string(w.shape()));
    }
    const Shape shape{product.maps.input_rows(), channels};
    if (explaining()) {
        return explain_with(product.call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_tensor_product_backward_data(
                product.problem(shape, w.shape(), dy.shape(), dy.type()), type, limits, true);
        });
    }
    return product.write(shape, dy.type(), [&](const Tensor &dx) {
        hk::tensor_product_backward_data(dy, w, product.maps, dx, product.options,
                                         product.call.stream());
    });
}

Result backward_weight(First input, Array output_gradient, Maps maps, int64_t groups,
                       std::string_view summation, OptionalArray out, bool accumulate) {
    Product product("tensor_product_backward_weight", maps, groups, summation, out, accumulate);
    const Tensor x = product.matrix(input, "input");
    const Tensor dy = product.matrix(output_gradient, "output_gradient");
    if (groups < 1 || x.shape()[1] % groups != 0) {
        throw InvalidArgument("tensor_product_backward_weight: groups is " +
                              std::to_string(groups) + ", input has " +
                              std::to_string(x.shape()[1]) + " channels");
    }
    const Shape shape{product.maps.offsets(), x.shape()[1] / groups, dy.shape()[1]};
    if (explaining()) {
        return explain_with(product.call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_tensor_product_backward_weight(
                product.problem(x.shape(), shape, dy.shape(), x.type()), type, limits, true);
        });
    }
    return product.write(shape, x.type(), [&](const Tensor &dw) {
        hk::tensor_product_backward_weight(x, dy, product.maps, dw, product.options,
                                           product.call.stream());
    });
}

constexpr const char *kForward = R"(Gather, multiply, scatter-add: the core of sparse convolution.

    output[omap[p]] += input[imap[p]] @ weight[n]    for every pair p of every offset n

Args:
    input: [input rows, C]; float32, float16, bfloat16, float64, as all others.
    weight: [offsets, C/groups, M].
    maps: a KernelMap (submanifold_map, strided_map) or TensorProductMaps.
    summation: "deterministic", or "atomic": in any order, on a GPU.
    out: what is written, and returned; with accumulate what is added to.

Returns: [output rows, M]; rows that no pair reaches are 0.

Source: runtime/include/hk/tensor_product.h.)";

constexpr const char *kData =
    R"(Gradient of tensor_product's input from that of its output: [input rows, C].

Source: runtime/include/hk/tensor_product_backward.h.)";

constexpr const char *kWeight =
    R"(Gradient of tensor_product's weight from that of its output: [offsets, C/groups, M].

Source: runtime/include/hk/tensor_product_backward.h.)";

constexpr const char *kMaps = R"(Maps of a tensor product, checked and sorted once for many calls.

Args:
    imap, omap: int32 or int64: [offsets, P], where -1 in either is no pair; or, with starts,
        [pairs], those of offset n from starts[n] to starts[n + 1].
    input_rows, output_rows: that the maps may name.
    starts: [offsets + 1], int32 or int64.

The arrays' memory is kept and must not change.

Raises: ValueError for an index out of range, with its place and value.)";

}  // namespace

void add_tensor_product(nb::module_ &module) {
    nb::class_<TensorProductMaps>(module, "TensorProductMaps", kMaps)
        .def(
            "__init__",
            [](TensorProductMaps *self, Array imap, Array omap, int64_t input_rows,
               int64_t output_rows, OptionalArray starts) {
                const auto kept = [](Argument array, const char *name) {
                    return array.given() ? keep(array.object, {"TensorProductMaps", name})
                                         : Tensor();
                };
                const Tensor in = kept(imap, "imap"), out = kept(omap, "omap");
                const Tensor begins = kept(starts, "starts");
                const Unlocked unlocked;
                const Calling calling;
                new (self) TensorProductMaps(in, out, input_rows, output_rows, begins);
            },
            "imap"_a, "omap"_a, "input_rows"_a, "output_rows"_a, "starts"_a = nb::none())
        .def_prop_ro("offsets", &TensorProductMaps::offsets)
        .def_prop_ro("input_rows", &TensorProductMaps::input_rows)
        .def_prop_ro("output_rows", &TensorProductMaps::output_rows)
        .def_prop_ro("nbytes", &TensorProductMaps::bytes,
                     "Bytes that are kept beside the maps, so far.")
        .def("__repr__", [](const TensorProductMaps &self) {
            return "TensorProductMaps(input_rows=" + std::to_string(self.input_rows()) +
                   ", output_rows=" + std::to_string(self.output_rows()) +
                   ", offsets=" + std::to_string(self.offsets()) + ")";
        });
    const auto define = [&](const char *name, auto function, const char *first, const char *second,
                            const char *doc) {
        module.def(name, function, nb::arg(first), nb::arg(second), "maps"_a, nb::kw_only(),
                   "groups"_a = 1, "summation"_a = "deterministic", "out"_a = nb::none(),
                   "accumulate"_a = false, doc);
    };
    define("tensor_product", tensor_product, "input", "weight", kForward);
    define("tensor_product_backward_data", backward_data, "output_gradient", "weight", kData);
    define("tensor_product_backward_weight", backward_weight, "input", "output_gradient", kWeight);
}

}  // namespace hk::python
