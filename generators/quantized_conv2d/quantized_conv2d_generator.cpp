// The generator of quantised convolution: takes the algorithm's operands out of their buffers, and
// the schedule by its name.
//
// Buffers as generators/image_layout.h says: images input and output, filter weight; and scale,
// bias_scale [k, g] of each filter, bias [byte, k, g]: the bytes of its elements. algorithm=packed:
// or slices: the weight is as generators/quantized_conv2d/quantized_conv2d_filter.h packs it;
// algorithm=grouped is as packed, but packs in the kernel.

#include "generators/convolution_parameters.h"
#include "generators/optional.h"
#include "generators/quantized_conv2d/quantized_conv2d.h"
#include "schedules/conv2d/conv2d.h"
#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;

namespace {

using namespace hk::generators;
using hk::schedules::QuantizedConv2dContext;
using hk::schedules::QuantizedConv2dTable;

// What the bytes of a bias are.
enum BiasKind { none, real_f32, quantized_s8, quantized_s32, sum_s32 };

class QuantizedConv2dGenerator : public Conv2dParameters<QuantizedConv2dGenerator> {
public:
    GeneratorParam<int> fix_output_bytes{"fix_output_bytes", 4};  // 1: u8, s8; 4: f32, s32

    Input<Buffer<void, 5>> input{"input"};
    Input<Buffer<int8_t>> weight{"weight"};
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
        set_types(input);  // u8 (and s8, flipped) or f32
        weight.set_dimensions(packed() ? 6 : 5);
        output.set_type(output_type());
        add_line();
    }

    void generate() {
        if (type.value() != UInt(8) && type.value() != Float(32))
            throw CompileError("type must be uint8 or float32");
        constrain_image(input, fix_channels_per_group, fix_width);
        if (packed())
            constrain_packed();
        else
            constrain_filter(weight);
        constrain_vector(scale);
        constrain_vector(bias_scale);
        begin_at_zero(bias, 3);
        constrain_image(output, fix_filters_per_group, fix_out_w);
        if (products()) constrain_products();
        const QuantizedConv2dOperands op = operands();
        QuantizedConv2dContext context{sizes()};
        context.integer = op.integer();
        context.plain = plain(op);
        context.no_bias = bias_kind == none;
        context.word_bias = words_lie_together();
        context.dense_filters = filters_lie_together();
        context.dense_pixels = dense_pixels();
        context.channels = op.channels;
        context.unsigned_bytes = input_flip == 0 && output_flip == 0;
        context.signed_input = input_flip > 0;  // which the simplifier knows to hold, or not
        context.weight_moves = weight_zero_point != 0;
        namespace sc = hk::schedules;
        if (in_slices())
            build_slices(op, context);
        else if (packed() || algorithm.value() == "grouped")
            build_packed(op, context);
        else if (algorithm.value() == "sliced_blocks")
            build(quantized_conv2d_sliced(op, 1, true), sc::quantized_sliced_schedules, context);
        else if (algorithm.value() == "sliced")
            build(quantized_conv2d_sliced(op, sc::quantized_sliced_tile(context)),
                  sc::quantized_sliced_schedules, context);
        else if (algorithm.value() == "words")
            build(quantized_conv2d_words(op, out_h(), images(), sc::quantized_words_tile(context)),
                  sc::quantized_word_schedules, context);
        else if (products())
            build_products(op, context);
        else if (algorithm.value() == "dot")
            build(quantized_conv2d_dot(op, sc::quantized_dot_lanes(context),
                                       sc::sums_halves(context)),
                  sc::quantized_dot_schedules, context);
        else if (algorithm.value() == "depthwise")
            build(quantized_conv2d_depthwise(op, sc::quantized_depthwise_words(context)),
                  sc::quantized_depthwise_schedules, context);
        else
            refuse_algorithm({"packed", "slices", "slices_of_line", "grouped", "sliced",
                              "sliced_blocks", "words", "products", "products_apart",
                              "products_in_parts", "products_of_rows", "products_of_windows", "dot",
                              "depthwise"});
    }

private:
    Type output_type() const {
        return fix_output_bytes.value() == 1 ? Type(UInt(8)) : Type(Float(32));
    }

    bool packed() const { return algorithm.value() == "packed" || in_slices(); }

    // Dense, but that vectors of other filters and groups may lie anywhere.
    void constrain_packed() {
        begin_at_zero(weight, 6);
        weight.dim(0).set_extent(kBlockBytes);
        const int channels = fix_channels_per_group;
        const int whole = in_slices() ? kSliceBytes : kWord;
        const int fixed[] = {(channels + whole - 1) / whole * (whole / kWord), fix_kernel_w,
                             fix_kernel_h};
        int stride = kBlockBytes;
        for (int d = 0; d < 3; d++) {
            auto dimension = weight.dim(1 + d);
            if (stride > 0) dimension.set_stride(stride);
            if (fixed[d] > 0) dimension.set_extent(fixed[d]);
            stride *= fixed[d];
        }
    }

    template<typename Stages>
    void build(Stages stages, const QuantizedConv2dTable<Stages> &table,
               const QuantizedConv2dContext &context) {
        output(Conv2dLayout(layout).image_arguments(k)) = stages.output(k, g, x, y, n);
        stages.output = output;
        this->finish(table, stages, context);
    }

    Expr out_h() { return output.dim(Conv2dLayout(layout).image_dims()[3]).extent(); }
    Expr images() { return input.dim(Conv2dLayout(layout).image_dims()[4]).extent(); }

    Expr dense_pixels() {
        const auto [c, g, x, y, n] = Conv2dLayout(layout).image_dims();
        return input.dim(x).stride() == fixed_or(fix_channels_per_group, input.dim(c).extent());
    }

    // Of nhwc operands are read as they are, but windows, and a filter of which numbers are made.
    void constrain_products() {
        const bool in_rows = layout.value() == "nchw";
        if (in_rows ? !products_apart() && !products_in_parts() : products_apart())
            throw CompileError("algorithm " + algorithm.value() + " is not for layout " +
                               layout.value());
        if (in_rows) return;
        const bool bytes = type.value() == UInt(8);
        if (bytes && hk::schedules::quantized_stores_vectors({sizes()})) constrain_vectors(output);
        if (products_of_windows()) return;
        constrain_vectors(input);
        if (bytes) constrain_vectors(weight);
    }

    void build_products(QuantizedConv2dOperands op, const QuantizedConv2dContext &context) {
        if (products_apart()) op.output = output;
        const bool windows = products_of_windows();
        const int stored = products_apart() ? hk::schedules::quantized_stored_pixels(context) : 1;
        if (stored > 1) {
            constrain_vectors(output, stored * output.type().bytes());
            constrain_channels(output, hk::schedules::quantized_filters_of_block(context));
        }
        if (products_of_rows())
            pointwise() ? constrain_rows(input, kWord) : constrain_vectors(input, kWord);
        QuantizedConv2dProducts stages = quantized_conv2d_products(
            op, {.apart = products_apart(),
                 .parts = parts(),
                 .slices = slices(),
                 .order = Conv2dLayout(layout),
                 .lanes = windows ? 0 : hk::schedules::product_lanes({sizes()}),
                 .rows = products_of_rows() ? kWord : 0,
                 .stored_pixels = stored,
                 .windows = windows});
        if (products_apart())
            this->finish(hk::schedules::quantized_product_schedules, stages, context);
        else
            build(stages, hk::schedules::quantized_product_schedules, context);
    }

    void build_slices(const QuantizedConv2dOperands &op, const QuantizedConv2dContext &context) {
        namespace sc = hk::schedules;
        const bool line = algorithm.value() == "slices_of_line";
        const int columns = line ? sc::quantized_tiles_columns(context) : 0;
        if (line) constrain_channels(input, kSliceBytes);
        build(quantized_conv2d_slices(op, out_h(), columns), sc::quantized_slice_schedules,
              context);
    }

    void build_packed(const QuantizedConv2dOperands &op, const QuantizedConv2dContext &context) {
        namespace sc = hk::schedules;
        const PackedWords form = sc::quantized_packed_words(context);
        if (form.whole) {
            auto channels = input.dim(Conv2dLayout(layout).image_dims()[0]);
            channels.set_extent(channels.extent() / kWord * kWord);
        }
        build(quantized_conv2d_packed(op, form), sc::quantized_packed_schedules, context);
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
        const auto [dim_c, dim_s, dim_r, dim_k, dim_g] = Conv2dLayout(layout).filter_dims();
        return weight.dim(dim_s).stride() == 1 && weight.dim(dim_r).stride() == w &&
               weight.dim(dim_g).stride() == w * h;
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
        // Under one condition: Halide would load what two share before it looks at either.
        const Expr bits =
            if_present(quantized || bias_kind == real_f32 || bias_kind == sum_s32, word, 0);
        const Expr stored =
            select(bias_kind == quantized_s8, cast<int32_t>(cast<int8_t>(bits)), bits);
        // The difference may need 33 bits: its half, and what is left.
        const Expr difference = 2.f * cast<float>(halving_sub(stored, bias_zero_point)) +
                                cast<float>((stored ^ bias_zero_point) & 1);
        const Expr scaled = difference * if_present(quantized && bias_scale_for_all <= 0.f,
                                                    bias_scale(k, g), bias_scale_for_all);
        op.real_bias = Func("real_bias");
        op.real_bias(k, g) =
            select(quantized, scaled, bias_kind == real_f32, reinterpret<float>(bits), 0.f);
        op.sum_bias = Func("sum_bias");
        op.sum_bias(k, g) = select(bias_kind == sum_s32, bits, 0);
    }

    QuantizedConv2dOperands operands() {
        const Conv2dLayout order(layout);
        QuantizedConv2dOperands op;
        op.input = order.image("input_cgxyn", input);
        const auto [ic, ig, ix, iy, in] = order.image_dims();
        // The places of c, s, r and g of the weight.
        const auto filter = order.filter_dims();
        std::array<int, 4> at = {filter[0], filter[1], filter[2], filter[4]};
        if (packed()) {
            op.packed = weight;
            at = {1, 2, 3, 5};
        } else {
            op.weight = order.filter("weight_csrkg", weight);
        }
        op.scale = Func("scale_kg");
        op.scale(k, g) = if_present(scale_for_all <= 0.f, scale(k, g), scale_for_all);
        take_bias(op);
        op.channels = fixed_or(fix_channels_per_group,
                               packed() ? input.dim(ic).extent() : weight.dim(filter[0]).extent());
        op.filters = fixed_or(fix_filters_per_group,
                              packed() ? output.dim(ic).extent() : weight.dim(filter[3]).extent());
        op.kernel_w = fixed_or(fix_kernel_w, weight.dim(at[1]).extent());
        op.kernel_h = fixed_or(fix_kernel_h, weight.dim(at[2]).extent());
        op.terms = op.channels * op.kernel_w * op.kernel_h;
        op.groups = weight.dim(at[3]).extent();
        op.out_w = fixed_or(fix_out_w, output.dim(ix).extent());
        set_window(op);
        op.pointwise = pointwise();
        set_line(op, input.dim(in).extent(), op.out_w, output.dim(iy).extent());
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
