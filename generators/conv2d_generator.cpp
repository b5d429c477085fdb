// conv2d: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers, innermost first; groups are a dimension of their own, a view through strides:
//   nhwc: input [c, g, x, y, n]  weight [c, s, r, k, g]  bias [k, g]  residual, output [k, g, x, y, n]
//   nchw: input [x, y, c, g, n]  weight [s, r, c, k, g]  bias [k, g]  residual, output [x, y, k, g, n]
// fix_… parameters other than 0 fix a size when the kernel is compiled; its argument is then unused.

#include "compiler/lowering.h"
#include "generators/conv2d.h"
#include "schedules/conv2d.h"

using namespace Halide;

namespace {

using namespace hk::generators;
using hk::schedules::Conv2dContext;
using hk::schedules::Conv2dTable;

class Conv2dGenerator : public Generator<Conv2dGenerator> {
public:
    GeneratorParam<Type> type{"type", Float(32)};
    GeneratorParam<std::string> layout{"layout", "nhwc"};
    GeneratorParam<std::string> algorithm{"algorithm", "packed"};
    GeneratorParam<std::string> schedule_name{"schedule", "root"};
    GeneratorParam<std::string> knobs{"knobs", ""};
    GeneratorParam<int> fix_kernel_w{"fix_kernel_w", 0}, fix_kernel_h{"fix_kernel_h", 0};
    GeneratorParam<int> fix_stride_x{"fix_stride_x", 0}, fix_stride_y{"fix_stride_y", 0};
    GeneratorParam<int> fix_dilation_x{"fix_dilation_x", 0}, fix_dilation_y{"fix_dilation_y", 0};
    GeneratorParam<int> fix_channels_per_group{"fix_channels_per_group", 0};
    GeneratorParam<int> fix_filters_per_group{"fix_filters_per_group", 0};
    GeneratorParam<int> fix_padding{"fix_padding", -1};  // 0: none, else any
    GeneratorParam<int> fix_padding_left{"fix_padding_left", 0};
    GeneratorParam<int> fix_width{"fix_width", 0}, fix_out_w{"fix_out_w", 0};

    Input<Buffer<void, 5>> input{"input"}, weight{"weight"};
    Input<Buffer<void, 2>> bias{"bias"};
    Input<Buffer<void, 5>> residual{"residual"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"}, dilation_x{"dilation_x"}, dilation_y{"dilation_y"};
    Input<int> padding_left{"padding_left"}, padding_top{"padding_top"};
    Input<bool> has_bias{"has_bias"}, has_residual{"has_residual"};
    Input<float> slope{"slope"}, low{"low"}, high{"high"};
    Input<int> smooth{"smooth"};
    Output<Buffer<void, 5>> output{"output"};

    void configure() {
        input.set_type(type);
        weight.set_type(type);
        bias.set_type(type);
        residual.set_type(type);
        output.set_type(type);
    }

    void generate() {
        if (layout.value() != "nhwc" && layout.value() != "nchw")
            throw CompileError("layout is " + layout.value() + ", not nhwc or nchw");
        constrain_buffers();
        const Conv2dOperands op = operands();
        const Conv2dContext context = {get_target(), nhwc(), schedule_name, knobs, fix_kernel_w, fix_kernel_h,
                                       fix_stride_x, fix_stride_y, fix_dilation_x, fix_dilation_y,
                                       fix_channels_per_group, fix_filters_per_group, fix_width,
                                       op.pointwise && op.type == Float(32),
                                       smooth == 0 && slope == 1.f && !has_residual};
        namespace sc = hk::schedules;
        if (algorithm.value() == "packed")
            build(conv2d_packed(op, sc::packed_block(context)), sc::packed_schedules(), context);
        else if (algorithm.value() == "sliced")
            build(conv2d_sliced(op, sc::sliced_tile(context)), sc::sliced_schedules(), context);
        else if (algorithm.value() == "dot")
            build(conv2d_dot(op, sc::dot_lanes(context)), sc::dot_schedules(), context);
        else if (algorithm.value() == "depthwise")
            build(conv2d_depthwise(op), sc::depthwise_schedules(), context);
        else
            throw CompileError("algorithm is " + algorithm.value() + ", not packed, sliced, dot or depthwise");
    }

private:
    bool nhwc() const { return layout.value() == "nhwc"; }

    template<typename Stages>
    void build(Stages stages, const Conv2dTable<Stages> &table, const Conv2dContext &context) {
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
            residual.dim(d).set_min(0);
            output.dim(d).set_min(0);
        }
        for (int d = 0; d < 2; d++) bias.dim(d).set_min(0);
        fix(input.dim(image_dims()[0]), fix_channels_per_group);
        fix(output.dim(image_dims()[0]), fix_filters_per_group);
        fix(input.dim(image_dims()[2]), fix_width);
        fix(output.dim(image_dims()[2]), fix_out_w);
        fix(weight.dim(weight_dims()[0]), fix_channels_per_group);
        fix(weight.dim(weight_dims()[1]), fix_kernel_w);
        fix(weight.dim(weight_dims()[2]), fix_kernel_h);
        fix(weight.dim(weight_dims()[3]), fix_filters_per_group);
        // Channels of neighbouring groups lie next to each other in a pixel.
        if (nhwc() && fix_channels_per_group.value() > 0) input.dim(1).set_stride(fix_channels_per_group.value());
        if (fix_filters_per_group.value() > 0) {
            bias.dim(1).set_stride(fix_filters_per_group.value());
            if (nhwc()) {
                residual.dim(1).set_stride(fix_filters_per_group.value());
                output.dim(1).set_stride(fix_filters_per_group.value());
            }
        }
    }

    Conv2dOperands operands() {
        const auto [ic, ig, ix, iy] = image_dims();
        Conv2dOperands op;
        op.input = Func("input_cgxyn");
        op.weight = Func("weight_csrkg");
        op.residual = Func("residual_kgxyn");
        op.bias = bias;
        if (nhwc()) {
            op.input(c, g, x, y, n) = input(c, g, x, y, n);
            op.weight(c, s, r, k, g) = weight(c, s, r, k, g);
            op.residual(k, g, x, y, n) = residual(k, g, x, y, n);
        } else {
            op.input(c, g, x, y, n) = input(x, y, c, g, n);
            op.weight(c, s, r, k, g) = weight(s, r, c, k, g);
            op.residual(k, g, x, y, n) = residual(x, y, k, g, n);
        }
        const auto w = weight_dims();
        op.channels = fixed_or(fix_channels_per_group, weight.dim(w[0]).extent());
        op.filters = fixed_or(fix_filters_per_group, weight.dim(w[3]).extent());
        op.width = fixed_or(fix_width, input.dim(ix).extent());
        op.height = input.dim(iy).extent();
        op.kernel_w = fixed_or(fix_kernel_w, weight.dim(w[1]).extent());
        op.kernel_h = fixed_or(fix_kernel_h, weight.dim(w[2]).extent());
        op.stride_x = fixed_or(fix_stride_x, stride_x);
        op.stride_y = fixed_or(fix_stride_y, stride_y);
        op.dilation_x = fixed_or(fix_dilation_x, dilation_x);
        op.dilation_y = fixed_or(fix_dilation_y, dilation_y);
        const bool unpadded = fix_padding.value() == 0;
        op.padding_left = unpadded ? Expr(0) : fixed_or(fix_padding_left, padding_left);
        op.padding_top = unpadded ? Expr(0) : padding_top;
        op.pointwise = unpadded && fix_kernel_w.value() == 1 && fix_kernel_h.value() == 1;
        op.has_bias = has_bias;
        op.has_residual = has_residual;
        op.slope = slope;
        op.low = low;
        op.high = high;
        op.smooth = smooth;
        op.type = type;
        return op;
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Conv2dGenerator, conv2d)
