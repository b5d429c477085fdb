// hk::group_norm and its gradients, apart and in place.

#include "hk/group_norm.h"

#include "tests/fuzz/compare.h"
#include "tests/fuzz/family.h"
#include "tests/group_norm/case.h"
#include "tests/reference/elements.h"

namespace hk::fuzz {
namespace {

using InPlace = test::GroupNormCase::InPlace;

test::GroupNormCase draw_case(Case &c) {
    test::GroupNormRequest request{draw_type(c.random), draw_layout(c.random),
                                   draw_conditions(c, group_norm_kernels()),
                                   one_in(c.random, 10) ? 3e4 : 3e3};
    auto drawn = test::random_case<test::GroupNormCase>(c.random(), request);
    while (!drawn || drawn->problem.channels > 20000) {
        request.where = {};
        drawn = test::random_case<test::GroupNormCase>(c.random(), request);
    }
    if (one_in(c.random, 50)) test::make_empty(*drawn);
    return *drawn;
}

Values values_of(const Tensor &tensor) { return listed(reference::read(tensor)); }

void spoil(Case &c, GroupNormOptions &options) {
    c.spoil_enum(options.layout);
    c.spoil(options.groups);
    c.spoil(options.epsilon);
}

// The case that the tensors of a call make, which a hostile one has changed.
test::GroupNormCase case_of(test::GroupNormCase drawn, const Tensor &input,
                            const GroupNormOptions &options) {
    drawn.problem =
        GroupNormProblem::from_shape(input.shape(), input.type(), options, drawn.problem.backward);
    return drawn;
}

std::string accepted(const GroupNormOptions &options) {
    return options.layout > Layout::nchw ? "a layout that is none was accepted" : "";
}

Result forward(Case &c, const test::GroupNormCase &d) {
    const DataType type = d.problem.type;
    GroupNormOptions options = d.problem.options;
    spoil(c, options);
    const bool in_place = d.in_place != InPlace::no && !c.misplaces();
    const Shape shape = d.shape(), channels{d.problem.channels},
                groups{d.problem.batch, d.problem.options.groups};
    const Operand &input = c.place({"input", in_place ? Use::update : Use::read, shape, type,
                                    values_of(test::input_of(d)), true});
    const Operand &weight =
        d.weight ? c.place({"weight", Use::read, channels, type, values_of(test::vector_of(d, 3))})
                 : Case::none();
    const Operand &bias =
        d.bias ? c.place({"bias", Use::read, channels, type, values_of(test::vector_of(d, 4))})
               : Case::none();
    const Operand &output =
        in_place ? input : c.place({"output", Use::write, shape, type, whole(0, 0), true});
    const Operand &mean =
        d.mean ? c.place({"mean", Use::write, groups, DataType::f32}) : Case::none();
    const Operand &rstd =
        d.rstd ? c.place({"rstd", Use::write, groups, DataType::f32}) : Case::none();
    c.tell(test::to_string(d));
    // Copied before the call, in which allocations fail.
    c.prepare();
    const GroupNormStatistics statistics{mean.tensor, rstd.tensor};
    const auto call = [&] {
        const Output place = in_place ? inplace(output.tensor) : Output(output.tensor);
        hk::group_norm(input.tensor, weight.tensor, bias.tensor, place, statistics, options);
    };
    return c.run(call, [&]() -> std::string {
        if (const std::string wrong = accepted(options); !wrong.empty()) return wrong;
        const auto after = [](const Operand &of) {
            return of.before.defined() ? of.after() : Tensor();
        };
        return test::compare_forward(case_of(d, input.before, options), input.before, weight.before,
                                     bias.before, output.after(), {after(mean), after(rstd)});
    });
}

Result gradients(Case &c, const test::GroupNormCase &d) {
    const DataType type = d.problem.type;
    GroupNormOptions options = d.problem.options;
    spoil(c, options);
    const InPlace in_place = c.misplaces() ? InPlace::no : d.in_place;
    const Shape shape = d.shape(), channels{d.problem.channels},
                groups{d.problem.batch, d.problem.options.groups};
    const Tensor values = test::input_of(d);
    const GroupNormStatistics saved = test::statistics_of(d, values);
    const auto use = [&](InPlace which) { return in_place == which ? Use::update : Use::read; };
    const Operand &gradient = c.place({"output gradient", use(InPlace::of_first), shape, type,
                                       values_of(test::output_gradient_of(d)), true});
    // Repeated elements would not have the statistics of these.
    const Operand &input = c.place(
        {"input", use(InPlace::of_second), shape, type, values_of(values), true, false, false});
    const Operand &weight =
        d.weight ? c.place({"weight", Use::read, channels, type, values_of(test::vector_of(d, 3))})
                 : Case::none();
    const Operand &mean =
        c.place({"mean", Use::read, groups, DataType::f32, values_of(saved.mean)});
    const Operand &rstd =
        c.place({"rstd", Use::read, groups, DataType::f32, values_of(saved.rstd)});
    const Operand &of_input =
        !d.input_gradient               ? Case::none()
        : in_place == InPlace::of_first ? gradient
        : in_place == InPlace::of_second
            ? input
            : c.place({"input gradient", Use::write, shape, type, whole(0, 0), true});
    const Operand &of_weight =
        d.weight_gradient ? c.place({"weight gradient", Use::write, channels, type}) : Case::none();
    const Operand &of_bias =
        d.bias_gradient ? c.place({"bias gradient", Use::write, channels, type}) : Case::none();
    c.tell(test::to_string(d));
    c.prepare();
    const Output place =
        in_place == InPlace::no ? Output(of_input.tensor) : inplace(of_input.tensor);
    const GroupNormStatistics statistics{mean.tensor, rstd.tensor};
    const GroupNormGradients results{place, of_weight.tensor, of_bias.tensor};
    const auto call = [&] {
        hk::group_norm_backward(gradient.tensor, input.tensor, weight.tensor, statistics, results,
                                options);
    };
    return c.run(call, [&]() -> std::string {
        if (const std::string wrong = accepted(options); !wrong.empty()) return wrong;
        const auto after = [](const Operand &of) {
            return of.before.defined() ? of.after() : Tensor();
        };
        return test::compare_gradients(case_of(d, input.before, options), gradient.before,
                                       input.before, weight.before, {mean.before, rstd.before},
                                       after(of_input), after(of_weight), after(of_bias));
    });
}

}  // namespace

Result group_norm(Case &c) {
    const test::GroupNormCase drawn = draw_case(c);
    return drawn.problem.backward ? gradients(c, drawn) : forward(c, drawn);
}

}  // namespace hk::fuzz
