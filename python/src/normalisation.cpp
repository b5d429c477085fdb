#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>

#include "call.h"
#include "hk/error.h"
#include "hk/group_norm.h"
#include "operations.h"

namespace hk::python {

namespace {

using namespace nb::literals;

GroupNormOptions options_of(const Call &call, int64_t groups, float epsilon) {
    GroupNormOptions options;
    options.layout = call.layout();
    options.groups = groups;
    options.epsilon = epsilon;
    return options;
}

nb::object group_norm(First input, int64_t groups, OptionalArray weight, OptionalArray bias,
                      float epsilon, std::string_view layout, bool statistics, OptionalArray out) {
    Call call("group_norm");
    call.set_layout(layout);
    const Tensor x = call.image(input, "input");
    const Tensor w = call.optional(weight, "weight");
    const Tensor b = call.optional(bias, "bias");
    const GroupNormOptions options = options_of(call, groups, epsilon);
    const auto problem = GroupNormProblem::from_shape(x.shape(), x.type(), options);
    if (explaining()) {
        return explain_with(call,
                            [&](DeviceType type, const DeviceLimits &limits) {
                                return select_group_norm(problem, type, limits, true);
                            })
            .object;
    }
    Written y = call.write_or_make_image(out, "out", x.shape(), x.type());
    const Shape shape{problem.batch, groups};
    Written mean = statistics ? call.make(shape, DataType::f32) : Written();
    Written rstd = statistics ? call.make(shape, DataType::f32) : Written();
    const bool in_place = out.given() && out.object.is(input.object);
    call.run([&] {
        hk::group_norm(in_place ? y.tensor : x, w, b,
                       in_place ? inplace(y.tensor) : Output(y.tensor), {mean.tensor, rstd.tensor},
                       options, call.stream());
    });
    const nb::object output = call.give(y).object;
    if (!statistics) return output;
    return nb::make_tuple(output, call.give(mean).object, call.give(rstd).object);
}

nb::object group_norm_backward(First output_gradient, Array input, Array mean, Array rstd,
                               int64_t groups, OptionalArray weight, std::string_view layout,
                               std::array<bool, 3> wanted) {
    Call call("group_norm_backward");
    call.set_layout(layout);
    const Tensor dy = call.image(output_gradient, "output_gradient");
    const Tensor x = call.image(input, "input");
    const GroupNormStatistics statistics{call.read(mean, "mean"), call.read(rstd, "rstd")};
    const Tensor w = call.optional(weight, "weight");
    const GroupNormOptions options = options_of(call, groups, 0);
    const auto problem = GroupNormProblem::from_shape(x.shape(), x.type(), options, true);
    if (explaining()) {
        return explain_with(call,
                            [&](DeviceType type, const DeviceLimits &limits) {
                                return select_group_norm(problem, type, limits, true);
                            })
            .object;
    }
    const auto made = [&](bool want, const Shape &shape) {
        if (!want) return Written();
        return shape.size() == 4 ? call.make_image(shape, x.type()) : call.make(shape, x.type());
    };
    Written results[] = {made(wanted[0], x.shape()), made(wanted[1], {problem.channels}),
                         made(wanted[2], {problem.channels})};
    call.run([&] {
        hk::group_norm_backward(dy, x, w, statistics,
                                {results[0].tensor, results[1].tensor, results[2].tensor}, options,
                                call.stream());
    });
    const auto given = [&](size_t i) {
        return wanted[i] ? call.give(results[i]).object : nb::none();
    };
    return nb::make_tuple(given(0), given(1), given(2));
}

constexpr const char *kNorm =
    R"(Group normalisation; with one group layer, with as many as channels instance normalisation.

Args:
    input: [N, H, W, C] in layout "nhwc", [N, C, H, W] in "nchw"; float32, float16, bfloat16.
        Layer normalisation of rows: [rows, 1, 1, C].
    groups: divides C.
    weight, bias: [C]; None: 1 and 0.
    epsilon: added to the variance.
    statistics: whether mean and 1 / deviation are wanted, for group_norm_backward.
    out: what is written; it may be the input itself.

Returns: the output; with statistics (output, mean, rstd), the latter float32 [N, groups].

Source: runtime/include/hk/group_norm.h; Wu and He, Group Normalization, ECCV 2018.)";

constexpr const char *kBackward =
    R"(Gradients of group_norm's input, weight and bias from that of its output.

Args:
    input, weight, groups, layout: of group_norm.
    mean, rstd: that group_norm gave.
    wanted: which of the three; the others are None.

Returns: a tuple of three.

Source: runtime/include/hk/group_norm.h.)";

}  // namespace

void add_normalisation(nb::module_ &module) {
    module.def("group_norm", group_norm, "input"_a, "groups"_a = 1, "weight"_a = nb::none(),
               "bias"_a = nb::none(), nb::kw_only(), "epsilon"_a = 1e-5f, "layout"_a = "nhwc",
               "statistics"_a = false, "out"_a = nb::none(), kNorm,
               nb::sig("def group_norm(input: halide_kernels.typing.A, groups: int = 1, weight: "
                       "halide_kernels.typing.Array | None = None, bias: "
                       "halide_kernels.typing.Array | None = None, *, epsilon: float = 1e-05, "
                       "layout: str = 'nhwc', statistics: bool = False, out: "
                       "halide_kernels.typing.Array | None = None) -> halide_kernels.typing.A | "
                       "tuple[halide_kernels.typing.A, halide_kernels.typing.A, "
                       "halide_kernels.typing.A]"));
    module.def("group_norm_backward", group_norm_backward, "output_gradient"_a, "input"_a, "mean"_a,
               "rstd"_a, "groups"_a = 1, "weight"_a = nb::none(), nb::kw_only(),
               "layout"_a = "nhwc", "wanted"_a = nb::make_tuple(true, true, true), kBackward,
               nb::sig("def group_norm_backward(output_gradient: halide_kernels.typing.A, input: "
                       "halide_kernels.typing.Array, mean: halide_kernels.typing.Array, rstd: "
                       "halide_kernels.typing.Array, groups: int = 1, weight: "
                       "halide_kernels.typing.Array | None = None, *, layout: str = 'nhwc', "
                       "wanted: collections.abc.Sequence[bool] = (True, True, True)) -> "
                       "tuple[halide_kernels.typing.A | None, halide_kernels.typing.A | None, "
                       "halide_kernels.typing.A | None]"));
}

}  // namespace hk::python
