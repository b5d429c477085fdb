// conv2d_backward_data: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers as generators/image_layout.h says: images output_gradient (of k), previous and
// input_gradient (of c), filter weight. previous and input_gradient may be one buffer. Their
// columns and the filter's may be apart, for they may be those of a phase of a strided problem.
// What the taps of a phase are follows from the strides and dilations: common = gcd(stride,
// dilation), inverse is that of dilation / common modulo stride / common (0 where that is 1).

#include <numeric>

#include "generators/conv2d_backward/conv2d_backward_data.h"
#include "generators/convolution_parameters.h"
#include "schedules/conv2d/conv2d.h"
#include "schedules/conv2d_backward/conv2d_backward_data.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class Conv2dBackwardDataGenerator : public Conv2dParameters<Conv2dBackwardDataGenerator> {
public:
    Input<Buffer<void, 5>> output_gradient{"output_gradient"}, weight{"weight"},
        previous{"previous"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"}, dilation_x{"dilation_x"},
        dilation_y{"dilation_y"};
    Input<int> padding_left{"padding_left"}, padding_top{"padding_top"};
    Input<int> common_x{"common_x"}, common_y{"common_y"}, inverse_x{"inverse_x"},
        inverse_y{"inverse_y"};
    Input<bool> accumulate{"accumulate"};
    Output<Buffer<void, 5>> input_gradient{"input_gradient"};

    std::vector<std::string> inputs_in_place() const override { return {"previous"}; }

    void configure() {
        set_types(output_gradient, weight, previous, input_gradient);
        add_line();
        if (planes()) add_planes();
    }

    void generate() {
        constrain_image(output_gradient, fix_filters_per_group, fix_out_w);
        constrain_filter(weight);
        constrain_image(previous, fix_channels_per_group, fix_width);
        if (algorithm.value().ends_with("_sliced")) {
            slice();
            return;
        }
        if (algorithm.value() == "winograd") {
            convolve_by_winograd();
            return;
        }
        if (planes()) return convolve_planes();
        if (columns()) return convolve_columns();
        if (products_apart()) return multiply_apart();
        constrain_image(input_gradient, fix_channels_per_group, fix_width);
        free_columns();
        const Conv2dBackwardDataOperands op = operands();
        sc::Conv2dBackwardDataContext context{sizes()};
        context.phases_x = op.x.stride;
        context.phases_y = op.y.stride;
        context.dense_columns = dense_columns();
        context.plain = !accumulate;
        context.f32 = op.type == Float(32);
        const auto &table = sc::conv2d_backward_data_schedules;
        if (algorithm.value() == "flip_expand")
            build(conv2d_backward_data_flip_expand(op), table, context);
        else if (algorithm.value() == "flip_expand_tiles")
            build(conv2d_backward_data_flip_expand_tiles(op), table, context);
        else if (algorithm.value() == "flip_expand_blocks")
            build(conv2d_backward_data_flip_expand_blocks(op), table, context);
        else if (algorithm.value() == "expand_flip")
            build(conv2d_backward_data_expand_flip(op), table, context);
        else if (algorithm.value() == "rows")
            build_rows(op, context);
        else
            convolve(op);
    }

private:
    void build_rows(const Conv2dBackwardDataOperands &op, sc::Conv2dBackwardDataContext context) {
        bool masked = sc::masks_columns(context);
        if (context.schedule == "phase_columns") {
            masked = !sc::cpu::copies_phase_columns(context);
            context.dense_filter =
                dense_taps(weight) && weight.dim(2).stride() == op.x.kernel * op.y.kernel;
            const int channels = sc::cpu::channels_of_phase_columns(context);
            auto dim = input_gradient.dim(Conv2dLayout(layout).image_dims()[0]);
            dim.set_extent(dim.extent() / channels * channels);
        }
        build(conv2d_backward_data_rows(op, masked), sc::conv2d_backward_data_schedules, context);
    }

    void check_stride_1() const {
        if (fix_stride_x.value() != 1 || fix_stride_y.value() != 1)
            throw CompileError("algorithm " + algorithm.value() + " needs strides of 1");
    }

    // The output's, of nhwc.
    Expr dense_pixels() {
        const auto [c, g, x, y, n] = Conv2dLayout(layout).image_dims();
        return output_gradient.dim(x).stride() ==
               fixed_or(fix_filters_per_group, output_gradient.dim(c).extent());
    }

    // Columns of a phase are apart.
    void free_columns() {
        if (Conv2dLayout(layout).nhwc()) return;
        weight.dim(0).set_stride(Expr());
        previous.dim(0).set_stride(Expr());
        input_gradient.dim(0).set_stride(Expr());
    }

    // With strides of one, by an algorithm and schedule of conv2d.
    void convolve(const Conv2dBackwardDataOperands &op) {
        check_stride_1();
        Conv2dOperands forward = conv2d_of_backward_data(op);
        sc::Conv2dContext context = forward_context(forward.pointwise && forward.type == Float(32));
        context.channels = forward.channels;
        if (algorithm.value() == "packed") {
            context.image = memory_of(output_gradient);
            context.dense_pixels = forward.dense_pixels = dense_pixels();
            const PackedSum sum = sc::packed_sum(context);
            if (sum.pairs == Pairs::whole) constrain_to_pairs(output_gradient);
            build(conv2d_packed(forward, sum), sc::packed_schedules, context);
        } else if (algorithm.value() == "dot")
            build(conv2d_dot_of_copy(forward, sc::dot_lanes(context)), sc::dot_schedules, context);
        else if (products())
            build_products(forward, context);
        else if (algorithm.value() == "depthwise")
            build(conv2d_depthwise(forward, sc::rows_inside(context)), sc::depthwise_schedules,
                  context);
        else if (algorithm.value() == "depthwise_tiles")
            build(conv2d_depthwise_tiles(forward), sc::depthwise_schedules, context);
        else if (algorithm.value() == "depthwise_rows")
            build(conv2d_depthwise_rows(forward), sc::depthwise_schedules, context);
        else if (algorithm.value() == "depthwise_transposed")
            build(conv2d_depthwise_transposed(forward, sc::transposed_columns(context)),
                  sc::depthwise_schedules, context);
        else
            refuse_algorithm({"flip_expand", "flip_expand_blocks", "flip_expand_tiles",
                              "expand_flip", "flip_expand_sliced", "expand_flip_sliced", "packed",
                              "packed_columns", "dot", "products", "products_apart",
                              "products_in_parts", "products_of_halos", "products_of_rows",
                              "depthwise", "rows", "depthwise_rows", "depthwise_tiles",
                              "depthwise_transposed", "depthwise_planes"});
    }

    void build_products(Conv2dOperands &forward, const sc::Conv2dContext &context) {
        build(products_of(forward, context), sc::product_schedules, context);
    }

    // Of nhwc alone: rows of images are copied first.
    void constrain_products() {
        constrain_vectors(output_gradient);
        constrain_vectors(previous);
        constrain_vectors(weight);
        Halide::Internal::Dimension filters = weight.dim(Conv2dLayout(layout).filter_dims()[3]);
        const int vector = ProductSlice(type).vector;
        filters.set_extent(filters.extent() / vector * vector);
    }

    // The filter's taps as memory has them, so that places of vectors are known to be multiples of
    // their size, and over the image from the last one to the first.
    static void count_taps_back(Conv2dOperands &forward) {
        const Func flipped = forward.weight;
        const Expr last_x = forward.kernel_w - 1, last_y = forward.kernel_h - 1;
        forward.weight = Func("weight_as_it_is");
        forward.weight(c, s, r, k, g) = flipped(c, last_x - s, last_y - r, k, g);
        forward.padding_left -= last_x * forward.dilation_x;
        forward.padding_top -= last_y * forward.dilation_y;
        forward.dilation_x = -forward.dilation_x;
        forward.dilation_y = -forward.dilation_y;
    }

    HaloTile halo_tile(const sc::Conv2dContext &context) const {
        if (!products_of_halos()) return {};
        check_halos();
        return sc::product_halo(context);
    }

    Conv2dSliced products_of(Conv2dOperands &forward, const sc::Conv2dContext &context) {
        const Conv2dLayout order(layout);
        const int rows = products_of_rows() ? sc::product_row_vector(context) : 0;
        if (rows > 0)
            constrain_rows(output_gradient, rows);
        else if (order.nhwc())
            constrain_products();
        else if (algorithm.value() == "products")
            throw CompileError("algorithm products is not for layout nchw");
        set_line(forward, output_gradient.dim(4).extent(), forward.out_w, forward.out_h);
        // The filter's neighbouring terms, its output channels, are not next to each other.
        const ProductForm form = {.filters_inner = order.nhwc(),
                                  .apart = products_apart(),
                                  .parts = parts(),
                                  .slices = slices(),
                                  .order = order,
                                  .lanes = sc::product_lanes(context),
                                  .rows = rows,
                                  .stored_pixels = rows > 0 && forward.type == Float(32) ? rows : 1,
                                  .halo = halo_tile(context),
                                  .finishes_in_loops = sc::finishes_in_loops(context)};
        if (form.stages_across(forward.type)) count_taps_back(forward);
        Conv2dSliced stages = conv2d_products(forward, form);
        if (!products_apart() && order.nhwc()) constrain_vectors(input_gradient);
        return stages;
    }

    // Products whose pixels are no line, of the phases of a strided problem above all.
    void multiply_apart() {
        check_stride_1();
        const Conv2dBackwardDataOperands op = operands_of_own_output();
        Conv2dOperands forward = conv2d_of_backward_data(op);
        // Of rows no place is past the edge, whose bounds would hide that pixels are neighbours.
        if (products_of_rows()) forward.residual = op.previous;
        sc::Conv2dContext context = forward_context(false);
        context.channels = forward.channels;
        Conv2dSliced stages = products_of(forward, context);
        input_gradient = stages.output;
        constrain_image(input_gradient, fix_channels_per_group, fix_width);
        if (Conv2dLayout(layout).nhwc()) constrain_vectors(input_gradient);
        free_columns();
        if (stages.stored_pixels > 1) {
            constrain_rows(previous, stages.stored_pixels);
            constrain_rows(input_gradient, stages.stored_pixels);
            previous.dim(0).set_stride(1);
            input_gradient.dim(0).set_stride(1);
        }
        finish(sc::product_schedules, stages, context);
    }

    // The output is the algorithm's own Func, because it may have an update.
    Conv2dBackwardDataOperands operands_of_own_output() {
        Conv2dBackwardDataOperands op = operands();
        const auto dims = Conv2dLayout(layout).image_dims();
        op.width = fixed_or(fix_width, previous.dim(dims[2]).extent());
        op.height = previous.dim(dims[3]).extent();
        return op;
    }

    // Whole vectors of channels are finished, also over the last one's end.
    static void finish_past_channels(Conv2dOperands &forward) {
        const Range all = {Expr(), Expr()};
        forward.residual = BoundaryConditions::repeat_edge(
            forward.residual, {{0, forward.filters}, all, all, all, all});
    }

    void convolve_by_winograd() {
        check_winograd();
        const Conv2dLayout order(layout);
        const Conv2dBackwardDataOperands op = operands_of_own_output();
        Conv2dWinogradOperands forward{conv2d_of_backward_data(op),
                                       output_gradient.dim(4).extent()};
        finish_past_channels(forward);
        sc::Conv2dContext context = forward_context(false);
        context.channels = forward.channels;
        Conv2dWinograd stages = conv2d_winograd(forward, order, sc::winograd_tiles(context));
        input_gradient = stages.output;
        constrain_image(input_gradient, fix_channels_per_group, fix_width);
        free_columns();
        finish(sc::winograd_schedules, stages, context);
    }

    // Planes of the gradient are lines.
    void convolve_planes() {
        check_stride_1();
        weight.dim(0).set_stride(Expr());
        const Conv2dLayout order(layout);
        Conv2dBackwardDataOperands op = operands();
        op.width = plane_columns();
        op.height = plane_rows();
        Conv2dOperands forward = conv2d_of_backward_data(op);
        forward.residual = op.previous;
        // Vectors of taps as memory has them.
        forward.weight = Func("weight_as_it_is");
        forward.weight(c, s, r, k, g) = op.weight(k, s, r, c, g);
        sc::Conv2dContext context = forward_context(false);
        context.dense_taps = dense_taps(weight);
        PlaneTile tile = sc::plane_tile(context);
        tile.flipped = true;
        Conv2dPlanes stages =
            conv2d_depthwise_planes(forward, order, previous.dim(order.image_dims()[2]).extent(),
                                    context.plain, context.dense_taps, tile);
        input_gradient = stages.output;
        constrain_image(input_gradient, fix_channels_per_group, 0);
        finish(sc::plane_schedules, stages, context);
    }

    void convolve_columns() {
        check_columns();
        Conv2dOperands forward = conv2d_of_backward_data(operands_of_own_output());
        finish_past_channels(forward);
        sc::Conv2dContext context = forward_context(true);
        context.image = memory_of(output_gradient);
        context.filters_adjacent = weight.dim(Conv2dLayout(layout).filter_dims()[0]).stride() == 1;
        Conv2dColumns stages = conv2d_columns(forward, Conv2dLayout(layout),
                                              sc::column_tiles_of(context), context.plain);
        input_gradient = stages.output;
        constrain_image(input_gradient, fix_channels_per_group, fix_width);
        free_columns();
        context.dense_columns = dense_columns();  // of the output as it is now
        finish(sc::column_schedules, stages, context);
    }

    void slice() {
        const Conv2dLayout order(layout);
        const Conv2dBackwardDataOperands op = operands_of_own_output();
        const sc::Conv2dContext context = forward_context(false);
        const int tile = sc::sliced_tile(context);
        Conv2dSliced stages;
        if (algorithm.value() == "flip_expand_sliced")
            stages = conv2d_backward_data_flip_expand_sliced(op, order, tile);
        else if (algorithm.value() == "expand_flip_sliced")
            stages = conv2d_backward_data_expand_flip_sliced(op, order, tile);
        else
            refuse_algorithm({"flip_expand_sliced", "expand_flip_sliced"});
        input_gradient = stages.output;
        constrain_image(input_gradient, fix_channels_per_group, fix_width);
        finish(sc::conv2d_backward_data_sliced_schedules, stages, context);
    }

    Expr dense_columns() const {
        const int dim_x = Conv2dLayout(layout).image_dims()[2];
        return previous.dim(dim_x).stride() == 1 && input_gradient.dim(dim_x).stride() == 1;
    }

    // Of the convolution that the gradient is.
    sc::Conv2dContext forward_context(bool pointwise_f32) const {
        sc::Conv2dSizes known = sizes();
        std::swap(known.channels_per_group, known.filters_per_group);
        known.width = fix_out_w;
        sc::Conv2dContext context{known};
        context.pointwise_f32 = pointwise_f32;
        context.plain = !accumulate;
        context.dense_columns = dense_columns();
        context.in_place = context.filters_inner = true;
        context.filter = memory_of(weight);
        return context;
    }

    template<typename Stages, typename Context>
    void build(Stages stages, const sc::Table<Stages, Context> &table, const Context &context) {
        const Var channel = stages.output.args()[0];
        input_gradient(Conv2dLayout(layout).image_arguments(channel)) =
            stages.output(channel, g, x, y, n);
        stages.output = input_gradient;
        this->finish(table, stages, context);
    }

    static StridePhases phases(const Expr &kernel, int fix_stride, const Expr &stride,
                               int fix_dilation, const Expr &dilation, const Expr &padding,
                               const Expr &common, const Expr &inverse) {
        const Expr known_stride = fix_stride > 0 ? Expr(fix_stride) : stride;
        const Expr known_dilation = fix_dilation > 0 ? Expr(fix_dilation) : dilation;
        if (fix_stride == 1) return {kernel, 1, known_dilation, padding, 1, 0};
        if (fix_stride == 0 || fix_dilation == 0)
            return {kernel, known_stride, known_dilation, padding, common, inverse};
        const int gcd = std::gcd(fix_stride, fix_dilation), step = fix_stride / gcd;
        int known_inverse = 0;
        while (known_inverse * (fix_dilation / gcd) % step != 1 % step) known_inverse++;
        return {kernel, known_stride, known_dilation, padding, gcd, known_inverse};
    }

    Conv2dBackwardDataOperands operands() {
        const Conv2dLayout order(layout);
        const auto [dim_k, dim_g, dim_x, dim_y, dim_n] = order.image_dims();
        const auto [filter_c, filter_s, filter_r, filter_k, filter_g] = order.filter_dims();
        Conv2dBackwardDataOperands op;
        op.output_gradient = order.image("output_gradient_kgxyn", output_gradient);
        op.weight = order.filter("weight_csrkg", weight);
        op.previous = order.image("previous_cgxyn", previous);
        op.channels = fixed_or(fix_channels_per_group, weight.dim(filter_c).extent());
        op.filters = fixed_or(fix_filters_per_group, weight.dim(filter_k).extent());
        op.out_w = fixed_or(fix_out_w, output_gradient.dim(dim_x).extent());
        op.out_h = output_gradient.dim(dim_y).extent();
        op.width = fixed_or(fix_width, input_gradient.dim(dim_x).extent());
        op.height = input_gradient.dim(dim_y).extent();
        op.groups = previous.dim(dim_g).extent();
        op.x = phases(fixed_or(fix_kernel_w, weight.dim(filter_s).extent()), fix_stride_x, stride_x,
                      fix_dilation_x, dilation_x,
                      unpadded() ? Expr(0) : fixed_or(fix_padding_left, padding_left), common_x,
                      inverse_x);
        op.y = phases(fixed_or(fix_kernel_h, weight.dim(filter_r).extent()), fix_stride_y, stride_y,
                      fix_dilation_y, dilation_y,
                      unpadded() ? Expr(0) : fixed_or(fix_padding_top, padding_top), common_y,
                      inverse_y);
        op.accumulate = accumulate;
        op.type = type;
        op.pointwise = pointwise() && fix_stride_x.value() == 1 && fix_stride_y.value() == 1;
        return op;
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Conv2dBackwardDataGenerator, conv2d_backward_data)
