// hk::quantized_conv2d: bytes and numbers, all kinds of bias and output.

#include "hk/quantized_conv2d.h"

#include "tests/fuzz/compare.h"
#include "tests/fuzz/family.h"
#include "tests/quantized_conv2d/check.h"

namespace hk::fuzz {
namespace {

test::QuantizedConv2dCase draw_case(Case &c) {
    const auto kernels = quantized_conv2d_kernels();
    test::Conv2dRequest request{one_in(c.random, 3) ? DataType::f32 : DataType::u8,
                                draw_layout(c.random), test::Data::integers,
                                draw_conditions(c, kernels), 1e5};
    if (one_in(c.random, 3)) request.data = test::Data::reals;
    for (;;) {
        auto drawn = test::random_case<test::QuantizedConv2dCase>(c.random(), request);
        if (!drawn || drawn->problem.operations() > 4e6) {
            request.where = {};
            continue;
        }
        if (one_in(c.random, 50)) drawn->problem.batch = 0;
        return *drawn;
    }
}

Quantization spoilt(Case &c, const Quantization &q) {
    if (!c.hits()) return q;
    const auto number = static_cast<int32_t>(
        pick(c.random, std::vector<int64_t>{-129, -128, 127, 128, 255, 256, INT32_MIN, INT32_MAX}));
    c.act("another quantisation, zero point " + std::to_string(number));
    switch (uniform(c.random, 0, 3)) {
        case 0:
            return {};
        case 1:
            return Quantization(0.5f, number);
        case 2:
            return q.per_channel() ? Quantization(q.scales(), number)
                                   : Quantization(q.scale(), number);
        default:
            return Quantization(
                std::vector<float>(static_cast<size_t>(uniform(c.random, 1, 5)), 0.5f), 0,
                c.device);
    }
}

}  // namespace

Result quantized_conv2d(Case &c) {
    test::QuantizedConv2dCase drawn = draw_case(c);
    const test::QuantizedConv2dOperands o = test::quantized_conv2d_operands(drawn);
    test::QuantizedHostTensors host(drawn, o);
    const test::Quantizations q(drawn, o, c.device);
    if (c.hits(6)) widen(c, drawn.problem);
    const Conv2dProblem &p = drawn.problem;
    Conv2dOptions options = p.options;
    draw_activation(c,
                    drawn.output_type == DataType::s32 ? Activation::none : Activation::leaky_relu,
                    options.activation, options.alpha, options.beta);
    spoil(c, p, options);
    const Quantization of_input = spoilt(c, q.input), of_weight = spoilt(c, q.weight),
                       of_bias = spoilt(c, q.bias), of_output = spoilt(c, q.output);
    const Operand &input =
        c.place({"input", Use::read, test::input_shape(p), p.type, listed(o.input), true});
    const Operand &weight =
        c.place({"weight", Use::read, test::weight_shape(p), DataType::s8, listed(o.weight), true});
    const auto bias_type = test::bias_type(drawn.bias);
    const Operand &bias =
        bias_type ? c.place({"bias", Use::read, {p.filters}, *bias_type, listed(o.bias)})
                  : Case::none();
    const Operand &output =
        c.place({"output", Use::write, p.output_shape(), drawn.output_type, whole(0, 0), true});
    c.tell(test::to_string(drawn));
    c.prepare();
    // Copied before the call, in which allocations fail.
    const QuantizedTensor x{input.tensor, of_input}, w{weight.tensor, of_weight},
        b{bias.tensor, of_bias}, y{output.tensor, of_output};
    const auto call = [&] { hk::quantized_conv2d(x, w, b, y, options); };
    return c.run(call, [&]() -> std::string {
        if (const std::string wrong = accepted(options); !wrong.empty()) return wrong;
        const auto actual = Conv2dProblem::from_shapes(input.before.shape(), weight.before.shape(),
                                                       DataType::f32, options);
        if (!small(actual)) return "";
        test::QuantizedConv2dCase made = drawn;
        made.problem = actual;
        made.problem.type = input.before.type();
        made.output_type = output.before.type();
        made.output_zero_point = of_output.zero_point();
        // Values of other types are not the small numbers whose sums are exact.
        if (!c.untouched()) made.data = test::Data::reals;
        host.input = {input.before, of_input};
        host.weight = {weight.before, of_weight};
        host.bias = {bias.before, of_bias};
        host.output = of_output;
        return test::compare(made, host, output.after());
    });
}

}  // namespace hk::fuzz
