// hk::pool2d and its gradient.

#include "hk/pool2d.h"

#include "tests/fuzz/compare.h"
#include "tests/fuzz/family.h"
#include "tests/reference/elements.h"
#include "tests/pool2d/reference.h"
#include "tests/support/checked_call.h"
#include "tests/pool2d/case.h"

namespace hk::fuzz {
namespace {

test::Pool2dCase draw_case(Case &c, DataType type, std::span<const KernelInfo> kernels) {
    test::Conv2dRequest request{type, draw_layout(c.random), test::Data::integers,
                                draw_conditions(c, kernels), 1e5};
    for (;;) {
        auto drawn = test::random_case<test::Pool2dCase>(c.random(), request);
        if (!drawn || drawn->problem.operations() > 2e6) {
            request.where = {};
            continue;
        }
        if (c.hits(6)) widen(c, drawn->problem);
        return *drawn;
    }
}

void spoil(Case &c, Pool2dOptions &o) {
    c.spoil_enum(o.layout);
    c.spoil_enum(o.pooling);
    Padding &p = o.padding;
    for (int64_t *number : {&o.kernel[0], &o.kernel[1], &o.stride[0], &o.stride[1], &p.top,
                            &p.bottom, &p.left, &p.right}) {
        c.spoil(*number);
    }
}

bool small(const Pool2dProblem &p) {
    return static_cast<double>(p.batch * p.output_height() * p.output_width() * p.channels) *
               static_cast<double>(p.options.kernel[0]) * static_cast<double>(p.options.kernel[1]) <
           4e6;
}

std::string accepted(const Pool2dOptions &options) {
    if (options.layout > Layout::nchw) return "a layout that is none was accepted";
    if (options.pooling > Pooling::average) return "a pooling that is none was accepted";
    return "";
}

std::vector<double> in_order(const Tensor &image, Layout layout) {
    return reference::read(reference::channels_last(image, layout));
}

std::string compare_images(const Tensor &got, const reference::Conv2dResult &wanted,
                           Layout layout) {
    return compare(got.type(), in_order(got, layout), wanted.value, wanted.magnitude,
                   wanted.terms + 2) +
           test::unwritten(got);
}

// Few different ones, so that windows have several maxima; now and then a NaN.
Values values_of(Random &random) {
    const bool with_nan = one_in(random, 4), real = one_in(random, 2);
    return [=](Random &random) {
        if (with_nan && one_in(random, 20)) return std::numeric_limits<double>::quiet_NaN();
        return real ? any_real()(random) : whole(-3, 3)(random);
    };
}

}  // namespace

Result pool2d(Case &c) {
    const DataType type = draw_type(c.random);
    const test::Pool2dCase drawn = draw_case(c, type, pool2d_kernels());
    const Pool2dProblem p = drawn.pool();
    Pool2dOptions options = p.options;
    spoil(c, options);
    const Operand &input = c.place(
        {"input", Use::read, test::input_shape(drawn.problem), type, values_of(c.random), true});
    const bool into_new = one_in(c.random, 8);
    const Operand &output =
        into_new ? Case::none()
                 : c.place({"output", Use::write, p.output_shape(), type, whole(0, 0), true});
    c.tell(test::to_string(drawn));
    Tensor made;
    const auto call = [&] {
        if (into_new) {
            made = hk::pool2d(input.tensor, options);
        } else {
            hk::pool2d(input.tensor, output.tensor, options);
        }
    };
    return c.run(call, [&]() -> std::string {
        if (const std::string wrong = accepted(options); !wrong.empty()) return wrong;
        const Tensor &x = input.before;
        const auto actual = Pool2dProblem::from_shape(x.shape(), x.type(), options);
        if (!small(actual)) return "";
        return compare_images(into_new ? made.to(Device::cpu()) : output.after(),
                              reference::pool2d(actual, in_order(x, options.layout)),
                              options.layout);
    });
}

Result pool2d_backward(Case &c) {
    const DataType type = draw_type(c.random);
    const test::Pool2dCase drawn = draw_case(c, type, pool2d_backward_kernels());
    const Pool2dProblem p = drawn.pool();
    Pool2dOptions options = p.options;
    spoil(c, options);
    const Shape image = test::input_shape(drawn.problem);
    const Operand &gradient =
        c.place({"output gradient", Use::read, p.output_shape(), type, whole(-3, 3), true});
    const bool max = p.options.pooling == Pooling::max;
    const Operand *input = &Case::none(), *output = &Case::none();
    if (max) {
        // What pool2d makes of it, which elements of a repeated dimension also are.
        input =
            &c.place({"input", Use::read, image, type, values_of(c.random), true, false, false});
        Values values = whole(-3, 3);
        const Tensor x = input->tensor;
        if (c.untouched() && x.elements() <= 1 << 20 && p.batch > 0) {
            const auto pooled = reference::pool2d(p, in_order(x, options.layout));
            const bool nhwc = options.layout == Layout::nhwc;
            Tensor made(p.output_shape(), type);
            const Tensor last = nhwc ? made : made.permute({0, 2, 3, 1});
            reference::write(last, pooled.value);
            values = listed(reference::read(made));
        }
        output =
            &c.place({"output", Use::read, p.output_shape(), type, values, true, false, false});
        // Of another output than that of the input nothing is promised but that memory is left
        // alone.
        if (!c.untouched()) c.leave_unchecked();
    }
    const Operand &made = c.place({"input gradient", Use::write, image, type, whole(0, 0), true});
    c.tell("gradient of " + test::to_string(drawn));
    const auto call = [&] {
        hk::pool2d_backward(gradient.tensor, input->tensor, output->tensor, made.tensor, options);
    };
    return c.run(call, [&]() -> std::string {
        if (const std::string wrong = accepted(options); !wrong.empty()) return wrong;
        const auto actual =
            Pool2dProblem::from_shape(made.before.shape(), made.before.type(), options);
        if (!small(actual)) return "";
        const std::vector<double> x =
            max ? in_order(input->before, options.layout)
                : std::vector<double>(static_cast<size_t>(made.before.elements()));
        return compare_images(
            made.after(),
            reference::pool2d_backward(actual, in_order(gradient.before, options.layout), x),
            options.layout);
    });
}

}  // namespace hk::fuzz
