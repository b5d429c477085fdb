// The generator of quantised convolution: takes the algorithm's operands out of their buffers, and
// the schedule by its name.
//
// Buffers, innermost first; groups are a dimension of their own, a view through strides:
//   nhwc: input [c, g, x, y, n]  weight [c, s, r, k, g]  output [k, g, x, y, n]
//   nchw: input [x, y, c, g, n]  weight [s, r, c, k, g]  output [x, y, k, g, n]
//   scale, bias_scale [k, g] of each filter, bias [byte, k, g]: the bytes of its elements
// fix_… parameters other than 0 fix a size when the kernel is compiled; its argument is then
// unused.

#include "compiler/lowering.h"
#include "generators/optional.h"
#include "generators/quantized_conv2d/quantized_conv2d.h"
#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;

namespace {

using namespace hk::generators;
using hk::schedules::QuantizedConv2dContext;
using hk::schedules::QuantizedConv2dTable;

// What the bytes of a bias are.
enum BiasKind { none, real_f32, quantized_s8, quantized_s32, sum_s32 };

class QuantizedConv2dGenerator : public Generator<QuantizedConv2dGenerator> {
public:
    GeneratorParam<Type> type{"type", UInt(8)};  // of the input: u8 (and s8, flipped) or f32
    GeneratorParam<std::string> layout{"layout", "nhwc"};
    GeneratorParam<std::string> algorithm{"algorithm", "packed"};
    GeneratorParam<std::string> schedule_name{"schedule", "root"};
    GeneratorParam<std::string> knobs{"knobs", ""};
    GeneratorParam<int> fix_output_bytes{"fix_output_bytes", 4};  // 1: u8, s8; 4: f32, s32
    GeneratorParam<int> fix_kernel_w{"fix_kernel_w", 0}, fix_kernel_h{"fix_kernel_h", 0};
    GeneratorParam<int> fix_stride_x{"fix_stride_x", 0}, fix_stride_y{"fix_stride_y", 0};
    GeneratorParam<int> fix_dilation_x{"fix_dilation_x", 0}, fix_dilation_y{"fix_dilation_y", 0};
    GeneratorParam<int> fix_channels_per_group{"fix_channels_per_group", 0};
    GeneratorParam<int> fix_filters_per_group{"fix_filters_per_group", 0};
    GeneratorParam<int> fix_padding{"fix_padding", -1};  // 0: none, else any
    GeneratorParam<int> fix_padding_left{"fix_padding_left", 0};
    GeneratorParam<int> fix_width{"fix_width", 0}, fix_out_w{"fix_out_w", 0};

    Input<Buffer<void, 5>> input{"input"};
    Input<Buffer<int8_t, 5>> weight{"weight"};
    Input<Buffer<float, 2>> scale{"scale"};
    Input<Buffer<int8_t, 3>> bias{"bias"};
    Input<Buffer<float, 2>> bias_scale{"bias_scale"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"}, dilation_x{"dilation_x"},
        dilation_y{"dilation_y"};
    Input<int> padding_left{"padding_left"}, padding_top{"padding_top"};
    Input<int> input_flip{"input_flip"};
    Input<float> input_scale{"input_scale"};
    Input<int> input_zero_point{"input_zero_point"};
    // scale_for_all and bias_scale_for_all: the scale where it is above 0, else `scale`,
    // `bias_scale`
    Input<float> scale_for_all{"scale_for_all"};
    Input<int> weight_zero_point{"weight_zero_point"};
    Input<int> bias_kind{"bias_kind"};
    Input<float> bias_scale_for_all{"bias_scale_for_all"};
    Input<int> bias_zero_point{"bias_zero_point"};
    Input<float> output_scale{"output_scale"};
    Input<int> output_flip{"output_flip"};
    Input<int> output_zero_point{"output_zero_point"};
    Input<bool> integer_output{"integer_output"};
    Input<float> slope{"slope"}, low{"low"}, high{"high"};
    Output<Buffer<void, 5>> output{"output"};

    void configure() {
        input.set_type(type);
        output.set_type(output_type());
    }

    void generate() {
        if (layout.value() != "nhwc" && layout.value() != "nchw")
            throw CompileError("layout is " + layout.value() + ", not nhwc or nchw");
        if (type.value() != UInt(8) && type.value() != Float(32))
            throw CompileError("type must be uint8 or float32");
        constrain_buffers();
        const QuantizedConv2dOperands op = operands();
        const QuantizedConv2dContext context = {get_target(),
                                                nhwc(),
                                                op.integer(),
                                                schedule_name,
                                                knobs,
                                                fix_kernel_w,
                                                fix_kernel_h,
                                                fix_stride_x,
                                                fix_stride_y,
                                                fix_dilation_x,
                                                fix_dilation_y,
                                                fix_channels_per_group,
                                                fix_filters_per_group,
                                                fix_width,
                                                plain(op),
                                                bias_kind == none,
                                                words_lie_together(),
                                                filters_lie_together(),
                                                input_flip == 0 && output_flip == 0};
        namespace sc = hk::schedules;
        if (algorithm.value() == "packed")
            build(quantized_conv2d_packed(op, sc::quantized_packed_lanes(context)),
                  sc::quantized_packed_schedules, context);
        else if (algorithm.value() == "packed_blocks")
            build(quantized_conv2d_packed(op, sc::quantized_packed_lanes(context), true),
                  sc::quantized_packed_schedules, context);
        else if (algorithm.value() == "sliced_blocks")
            build(quantized_conv2d_sliced(op, 1, true), sc::quantized_sliced_schedules, context);
        else if (algorithm.value() == "sliced")
            build(quantized_conv2d_sliced(op, sc::quantized_sliced_tile(context)),
                  sc::quantized_sliced_schedules, context);
        else if (algorithm.value() == "dot")
            build(quantized_conv2d_dot(op, sc::quantized_dot_lanes(context)),
                  sc::quantized_dot_schedules, context);
        else if (algorithm.value() == "depthwise")
            build(quantized_conv2d_depthwise(op, sc::quantized_depthwise_words(context)),
                  sc::quantized_depthwise_schedules, context);
        else
            throw CompileError("algorithm is " + algorithm.value() +
                               ", not packed, sliced, one of these with _blocks, dot or depthwise");
    }

private:
    bool nhwc() const { return layout.value() == "nhwc"; }
    Type output_type() const {
        return fix_output_bytes.value() == 1 ? Type(UInt(8)) : Type(Float(32));
    }

    template<typename Stages>
    void build(Stages stages, const QuantizedConv2dTable<Stages> &table,
               const QuantizedConv2dContext &context) {
        const Expr value = stages.output(k, g, x, y, n);
        if (nhwc())
            output(k, g, x, y, n) = value;
        else
            output(x, y, k, g, n) = value;
        stages.output = output;
        hk::schedules::apply(table, schedule_name.value(), stages, context);
        hk::compiler::add_lowering_passes(get_pipeline(), get_target());
    }

    static Expr fixed_or(const GeneratorParam<int> &fixed, const Expr &argument) {
        return fixed.value() > 0 ? Expr(fixed.value()) : argument;
    }

    // Places of c, g, x, y of the input (k, g, x, y of the output) and c, s, r, k, g of the weight.
    std::array<int, 4> image_dims() const {
        return nhwc() ? std::array{0, 1, 2, 3} : std::array{2, 3, 0, 1};
    }
    std::array<int, 5> weight_dims() const {
        return nhwc() ? std::array{0, 1, 2, 3, 4} : std::array{2, 0, 1, 3, 4};
    }

    void constrain_buffers() {
        const auto fix = [](auto dim, const GeneratorParam<int> &size) {
            if (size.value() > 0) dim.set_extent(size.value());
        };
        for (int d = 0; d < 5; d++) {
            input.dim(d).set_min(0);
            weight.dim(d).set_min(0);
            output.dim(d).set_min(0);
        }
        for (int d = 0; d < 2; d++) {
            scale.dim(d).set_min(0);
            bias_scale.dim(d).set_min(0);
        }
        for (int d = 0; d < 3; d++) bias.dim(d).set_min(0);
        if (fix_filters_per_group.value() > 0) {
            scale.dim(1).set_stride(fix_filters_per_group.value());
            bias_scale.dim(1).set_stride(fix_filters_per_group.value());
        }
        fix(input.dim(image_dims()[0]), fix_channels_per_group);
        fix(output.dim(image_dims()[0]), fix_filters_per_group);
        fix(input.dim(image_dims()[2]), fix_width);
        fix(output.dim(image_dims()[2]), fix_out_w);
        fix(weight.dim(weight_dims()[0]), fix_channels_per_group);
        fix(weight.dim(weight_dims()[1]), fix_kernel_w);
        fix(weight.dim(weight_dims()[2]), fix_kernel_h);
        fix(weight.dim(weight_dims()[3]), fix_filters_per_group);
        // Channels of neighbouring groups lie next to each other in a pixel.
        if (nhwc() && fix_channels_per_group.value() > 0)
            input.dim(1).set_stride(fix_channels_per_group.value());
        if (nhwc() && fix_filters_per_group.value() > 0)
            output.dim(1).set_stride(fix_filters_per_group.value());
    }

    // A packed bias of 32 bits, of groups of the size that is known.
    Expr words_lie_together() {
        const Expr words = bias.dim(0).extent() == 4 && bias.dim(1).stride() == 4;
        return words && bias.dim(2).stride() == 4 * std::max<int>(fix_filters_per_group.value(), 1);
    }

    // What follows the sum is shortest, and most often so.
    Expr plain(const QuantizedConv2dOperands &op) {
        const Expr linear = slope == 1.f && !integer_output && weight_zero_point == 0;
        return fix_output_bytes.value() == 1 ? linear && quantized_conv2d_bounded_by_type(op)
                                             : linear;
    }

    // A packed weight of one channel and one filter a group, of the size that is known.
    Expr filters_lie_together() {
        const int w = fix_kernel_w, h = fix_kernel_h;
        if (fix_channels_per_group.value() != 1 || fix_filters_per_group.value() != 1 || w * h == 0)
            return cast<bool>(false);
        return weight.dim(weight_dims()[1]).stride() == 1 &&
               weight.dim(weight_dims()[2]).stride() == w &&
               weight.dim(weight_dims()[4]).stride() == w * h;
    }

    // The bias as a real number, and as what the sum starts from.
    void take_bias(QuantizedConv2dOperands &op) {
        Expr word = 0;
        for (int b = 0; b < 4; b++)
            word =
                word |
                (cast<int32_t>(reinterpret<uint8_t>(bias(min(b, bias.dim(0).extent() - 1), k, g)))
                 << (8 * b));
        const Expr quantized = bias_kind == quantized_s8 || bias_kind == quantized_s32;
        const Expr bits = if_present(quantized || bias_kind == real_f32, word, 0);
        const Expr stored =
            select(bias_kind == quantized_s8, cast<int32_t>(cast<int8_t>(bits)), bits);
        // The difference may need 33 bits: its half, and what is left.
        const Expr difference = 2.f * cast<float>(halving_sub(stored, bias_zero_point)) +
                                cast<float>((stored ^ bias_zero_point) & 1);
        const Expr scaled = difference * if_present(quantized && bias_scale_for_all <= 0.f,
                                                    bias_scale(k, g), bias_scale_for_all);
        op.real_bias = Func("real_bias");
        op.real_bias(k, g) = select(quantized, scaled, reinterpret<float>(bits));
        op.sum_bias = Func("sum_bias");
        op.sum_bias(k, g) = if_present(bias_kind == sum_s32, word, 0);
    }

    QuantizedConv2dOperands operands() {
        const auto [ic, ig, ix, iy] = image_dims();
        QuantizedConv2dOperands op;
        op.input = Func("input_cgxyn");
        op.weight = Func("weight_csrkg");
        op.scale = Func("scale_kg");
        if (nhwc()) {
            op.input(c, g, x, y, n) = input(c, g, x, y, n);
            op.weight(c, s, r, k, g) = weight(c, s, r, k, g);
        } else {
            op.input(c, g, x, y, n) = input(x, y, c, g, n);
            op.weight(c, s, r, k, g) = weight(s, r, c, k, g);
        }
        op.scale(k, g) = if_present(scale_for_all <= 0.f, scale(k, g), scale_for_all);
        take_bias(op);
        const auto dims = weight_dims();
        op.channels = fixed_or(fix_channels_per_group, weight.dim(dims[0]).extent());
        op.filters = fixed_or(fix_filters_per_group, weight.dim(dims[3]).extent());
        op.width = fixed_or(fix_width, input.dim(ix).extent());
        op.height = input.dim(iy).extent();
        op.kernel_w = fixed_or(fix_kernel_w, weight.dim(dims[1]).extent());
        op.kernel_h = fixed_or(fix_kernel_h, weight.dim(dims[2]).extent());
        op.stride_x = fixed_or(fix_stride_x, stride_x);
        op.stride_y = fixed_or(fix_stride_y, stride_y);
        op.dilation_x = fixed_or(fix_dilation_x, dilation_x);
        op.dilation_y = fixed_or(fix_dilation_y, dilation_y);
        const bool unpadded = fix_padding.value() == 0;
        op.padding_left = unpadded ? Expr(0) : fixed_or(fix_padding_left, padding_left);
        op.padding_top = unpadded ? Expr(0) : padding_top;
        op.pointwise = unpadded && fix_kernel_w.value() == 1 && fix_kernel_h.value() == 1;
        op.input_flip = input_flip;
        op.input_scale = input_scale;
        op.input_zero_point = input_zero_point;
        op.weight_zero_point = weight_zero_point;
        op.output_scale = output_scale;
        op.output_flip = output_flip;
        op.output_zero_point = output_zero_point;
        op.integer_output = integer_output;
        op.slope = slope;
        op.low = low;
        op.high = high;
        op.output_type = output_type();
        return op;
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(QuantizedConv2dGenerator, quantized_conv2d)
