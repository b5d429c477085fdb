#include <nanobind/nanobind.h>

#include "call.h"
#include "hk/error.h"
#include "hk/topk.h"
#include "operations.h"

namespace hk::python {

namespace {

using namespace nb::literals;

TopKOptions options_of(const char *operation, int64_t axis, bool largest) {
    if (axis < INT32_MIN || axis > INT32_MAX) {
        throw InvalidArgument(std::string(operation) + ": axis is " + std::to_string(axis) +
                              ", more than 32 bits");
    }
    TopKOptions options;
    options.axis = static_cast<int>(axis);
    options.order = largest ? Order::largest : Order::smallest;
    return options;
}

// Values and indices, those that are wanted, along the axis of x.
struct Parts {
    nb::object values, indices;
};

Parts parts(Call &call, const Tensor &x, int64_t k, const TopKOptions &options, bool values,
            bool indices) {
    const auto problem = TopKProblem::from_shape(x.shape(), x.type(), k, options);
    if (explaining()) {
        TopKProblem asked = problem;
        asked.values = values;
        asked.indices = indices;
        const nb::object selection =
            explain_with(call, [&](DeviceType type, const DeviceLimits &limits) {
                return select_topk(asked, type, limits, true);
            }).object;
        return {selection, selection};
    }
    Shape shape = x.shape();
    shape[static_cast<size_t>(options.axis < 0 ? options.axis + x.rank() : options.axis)] = k;
    Written first = values ? call.make(shape, x.type()) : Written();
    Written second = indices ? call.make(shape, DataType::s64) : Written();
    call.run([&] { hk::topk(x, k, first.tensor, second.tensor, options, call.stream()); });
    return {values ? call.give(first).object : nb::none(),
            indices ? call.give(second).object : nb::none()};
}

nb::object topk(First input, int64_t k, int64_t axis, bool largest, bool values, bool indices) {
    Call call("topk");
    const Tensor x = call.read(input, "input");
    const TopKOptions options = options_of("topk", axis, largest);
    if (!values && !indices)
        throw InvalidArgument("topk: values and indices are False, one must be True");
    const Parts found = parts(call, x, k, options, values, indices);
    if (explaining()) return found.values;
    return nb::make_tuple(found.values, found.indices);
}

// All elements in order: their values, or their places.
template<bool kValues>
Result sorted(First input, int64_t axis, bool descending) {
    Call call(kValues ? "sort" : "argsort");
    const Tensor x = call.read(input, "input");
    const TopKOptions options = options_of(call.operation(), axis, descending);
    const int64_t rank = x.rank(), dimension = axis < 0 ? axis + rank : axis;
    if (dimension < 0 || dimension >= rank) {
        throw InvalidArgument(std::string(call.operation()) + ": axis is " + std::to_string(axis) +
                              ", the input has " + std::to_string(rank) + " dimensions");
    }
    const Parts found =
        parts(call, x, x.shape()[static_cast<size_t>(dimension)], options, kValues, !kValues);
    return {kValues ? found.values : found.indices};
}

constexpr const char *kTopK = R"(The k largest or smallest elements along an axis, best first.

Of equal elements that with the lower index comes first; NaN is larger than everything else. The
same bits on each device and with any number of threads.

Args:
    input: any shape; float of 16, 32, 64 bits, bfloat16, int or uint of 8 to 64 bits.
    k: 0 to all elements of the axis.
    axis: negative ones count from the back.
    largest: or the smallest.
    values, indices: which are wanted; one alone is faster, the other is None.

Returns: (values, indices): with k elements along the axis, the indices int64.

Source: runtime/include/hk/topk.h.)";

constexpr const char *kSort = R"(All elements along an axis in order; equal ones as they stood.

NaN is larger than everything else. Types are those of topk.

Source: runtime/include/hk/topk.h.)";

constexpr const char *kArgsort = R"(The places of all elements along an axis in order, int64.

Equal ones stay as they stood; NaN is larger than everything else. Types are those of topk.

Source: runtime/include/hk/topk.h.)";

}  // namespace

void add_topk(nb::module_ &module) {
    module.def("topk", topk, "input"_a, "k"_a, "axis"_a = -1, nb::kw_only(), "largest"_a = true,
               "values"_a = true, "indices"_a = true, kTopK,
               nb::sig("def topk(input: halide_kernels.typing.A, k: int, axis: int = -1, *, "
                       "largest: bool = True, values: bool = True, indices: bool = True) -> "
                       "tuple[halide_kernels.typing.A | None, halide_kernels.typing.A | None]"));
    module.def("sort", sorted<true>, "input"_a, "axis"_a = -1, nb::kw_only(),
               "descending"_a = false, kSort);
    module.def("argsort", sorted<false>, "input"_a, "axis"_a = -1, nb::kw_only(),
               "descending"_a = false, kArgsort);
}

}  // namespace hk::python
