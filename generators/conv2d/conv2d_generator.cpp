// conv2d: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers as generators/image_layout.h says: images input, residual and output, filter weight; and
// bias [k, g]. algorithm=packed, slices…: the weight is as generators/conv2d/conv2d_filter.h packs
// it, algorithm=winograd: as generators/conv2d/winograd.h does; algorithm=grouped is as packed, but
// packs in the kernel.

#include "generators/conv2d/winograd.h"
#include "generators/convolution_parameters.h"
#include "generators/optional.h"
#include "schedules/conv2d/conv2d.h"

using namespace Halide;

namespace {

using namespace hk::generators;
using hk::schedules::Conv2dContext;
using hk::schedules::Conv2dTable;

class Conv2dGenerator : public Conv2dParameters<Conv2dGenerator> {
public:
    Input<Buffer<void, 5>> input{"input"};
    Input<Buffer<>> weight{"weight"};
    Input<Buffer<void, 2>> bias{"bias"};
    Input<Buffer<void, 5>> residual{"residual"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"}, dilation_x{"dilation_x"},
        dilation_y{"dilation_y"};
    Input<int> padding_left{"padding_left"}, padding_top{"padding_top"};
    Input<bool> has_bias{"has_bias"}, has_residual{"has_residual"};
    Input<float> slope{"slope"}, low{"low"}, high{"high"};
    Input<int> smooth{"smooth"};
    Output<Buffer<void, 5>> output{"output"};

    std::vector<std::string> inputs_in_place() const override { return {"residual"}; }

    void configure() {
        set_types(input);
        weight.set_type(packed() && !pairs() ? Float(32) : type.value());
        weight.set_dimensions(packed() ? 6 : 5);
        set_types(bias, residual, output);
        add_line();
        if (planes() || panels()) add_planes();
    }

    void generate() {
        constrain_image(input, fix_channels_per_group, fix_width);
        if (packed())
            constrain_packed();
        else
            constrain_filter(weight);
        // A prepared one has its groups there.
        if (algorithm.value() == "depthwise_transposed" || planes())
            weight.dim(0).set_stride(Expr());
        constrain_vector(bias);
        constrain_image(residual, fix_filters_per_group, 0);
        constrain_image(output, fix_filters_per_group, fix_out_w);
        if (products() && (layout.value() == "nchw" || products_apart())) {
            multiply_rows();
            return;
        }
        if (products()) {
            constrain_vectors(residual);
            constrain_vectors(output);
            if (!products_of_windows()) {
                constrain_vectors(input);
                constrain_vectors(weight);
            }
        }
        const Conv2dOperands op = operands();
        Conv2dContext context{sizes()};
        context.pointwise_f32 = op.pointwise && op.type == Float(32);
        context.plain = smooth == 0 && slope == 1.f && !has_residual;
        context.linear = smooth == 0;
        context.silu = smooth == 1;
        context.channels = op.channels;
        context.image = memory_of(input);
        context.panels = panels();
        context.filter_packed = packed();
        if (in_slices()) context.slices = slice_source();
        context.dense_pixels = dense_pixels();
        if (algorithm.value().starts_with("depthwise"))
            context.groups_adjacent = weight.dim(4).stride() == 1;
        build_algorithm(op, context);
    }

private:
    void build_algorithm(const Conv2dOperands &op, const Conv2dContext &context) {
        namespace sc = hk::schedules;
        if (winograd())
            build_winograd(op, context);
        else if (in_slices()) {
            if (context.slices == SliceSource::line) constrain_channels(input, kSliceChannels);
            build(conv2d_slices(op, sc::slice_form(context)), sc::slice_schedules, context);
        } else if (columns())
            build_columns(op, context);
        else if (packed() || algorithm.value() == "grouped") {
            const PackedSum sum = sc::packed_sum(context);
            if (sum.pairs == Pairs::whole) constrain_to_pairs(input);
            if (sum.windows) weight.dim(2).set_stride(weight.dim(1).extent() * kFilterBlock);
            build(conv2d_packed(op, sum), sc::packed_schedules, context);
        } else if (algorithm.value() == "sliced")
            build(conv2d_sliced(op, sc::sliced_tile(context)), sc::sliced_schedules, context);
        else if (products())
            build(conv2d_products(op, {.parts = parts(),
                                       .slices = slices(),
                                       .halo = halo_tile(context),
                                       .windows = products_of_windows(),
                                       .finishes_in_loops = sc::finishes_in_loops(context)}),
                  sc::product_schedules, context);
        else if (algorithm.value() == "sliced_blocks")
            build(conv2d_sliced_blocks(op), sc::sliced_schedules, context);
        else if (algorithm.value() == "dot")
            build(conv2d_dot(op, sc::dot_lanes(context)), sc::dot_schedules, context);
        else if (algorithm.value() == "depthwise")
            build(conv2d_depthwise(op, sc::rows_inside(context)), sc::depthwise_schedules, context);
        else if (algorithm.value() == "depthwise_tiles")
            build(conv2d_depthwise_tiles(op), sc::depthwise_schedules, context);
        else if (algorithm.value() == "depthwise_rows")
            build(conv2d_depthwise_rows(op), sc::depthwise_schedules, context);
        else if (algorithm.value() == "depthwise_transposed")
            build(conv2d_depthwise_transposed(op, sc::transposed_columns(context)),
                  sc::depthwise_schedules, context);
        else if (planes())
            build_planes(op, context);
        else
            refuse_algorithm({"packed",
                              "packed_columns",
                              "packed_panels",
                              "slices",
                              "slices_of_line",
                              "slices_of_taps",
                              "slices_of_windows",
                              "grouped",
                              "sliced",
                              "products",
                              "products_apart",
                              "products_in_parts",
                              "products_of_halos",
                              "products_of_rows",
                              "products_of_windows",
                              "sliced_blocks",
                              "dot",
                              "depthwise",
                              "depthwise_rows",
                              "depthwise_tiles",
                              "depthwise_transposed",
                              "depthwise_planes",
                              "winograd"});
    }

    HaloTile halo_tile(const Conv2dContext &context) const {
        if (!products_of_halos()) return {};
        check_halos();
        return hk::schedules::product_halo(context);
    }

    SliceSource slice_source() const {
        if (slices_of_windows()) return SliceSource::windows;
        if (algorithm.value() == "slices_of_taps") return SliceSource::taps;
        if (algorithm.value() == "slices_of_line") return SliceSource::line;
        check_algorithm({"slices", "slices_of_line", "slices_of_taps", "slices_of_windows"});
        return SliceSource::image;
    }

    bool winograd() const { return algorithm.value() == "winograd"; }
    bool packed() const {
        return algorithm.value() == "packed" || columns() || in_slices() || winograd();
    }

    // Dense, but that vectors of other filters and groups may lie anywhere.
    void constrain_packed() {
        begin_at_zero(weight, 6);
        constrain_filter_block(weight, kFilterBlock);
        // c (or pairs of it), s, r: strides are known as far as sizes are.
        const int points = kWinogradPoints, of_pair = pairs() ? 2 : 1;
        const int whole = in_slices() ? kSliceChannels : of_pair;
        const int fixed[] = {
            slices_of_windows() ? 0
                                : (fix_channels_per_group + whole - 1) / whole * (whole / of_pair),
            winograd() ? points : fix_kernel_w, winograd() ? points : fix_kernel_h};
        int stride = of_pair * kFilterBlock;
        for (int d = 0; d < 3; d++) {
            auto dimension = weight.dim(1 + d);
            if (stride > 0) dimension.set_stride(stride);
            if (fixed[d] > 0) dimension.set_extent(fixed[d]);
            stride *= fixed[d];
        }
    }

    Expr dense_pixels() {
        const auto [c, g, x, y, n] = Conv2dLayout(layout).image_dims();
        return input.dim(x).stride() == fixed_or(fix_channels_per_group, input.dim(c).extent());
    }

    // This schedule computes whole tiles, also over the image's edge.
    bool reads_whole_tiles() const { return schedule_name.value() == "sliding_in_place"; }

    template<typename Stages>
    void build(Stages stages, const Conv2dTable<Stages> &table, const Conv2dContext &context) {
        output(Conv2dLayout(layout).image_arguments(k)) = stages.output(k, g, x, y, n);
        stages.output = output;
        this->finish(table, stages, context);
    }

    void build_winograd(const Conv2dOperands &of_conv2d, const Conv2dContext &context) {
        check_winograd();
        const Conv2dLayout order(layout);
        const auto dims = order.image_dims();
        Conv2dWinogradOperands op{of_conv2d, {}};
        op.batch = input.dim(dims[4]).extent();
        Conv2dWinograd stages = conv2d_winograd(op, order, hk::schedules::winograd_tiles(context));
        output = stages.output;
        constrain_image(output, fix_filters_per_group, fix_out_w);
        this->finish(hk::schedules::winograd_schedules, stages, context);
    }

    void build_columns(const Conv2dOperands &op, const Conv2dContext &context) {
        check_columns();
        Conv2dColumns stages = conv2d_columns(
            op, Conv2dLayout(layout), hk::schedules::column_tiles_of(context), context.plain);
        output = stages.output;
        constrain_image(output, fix_filters_per_group, fix_out_w);
        this->finish(hk::schedules::column_schedules, stages, context);
    }

    // Planes of output and residual are lines.
    void build_planes(const Conv2dOperands &op, Conv2dContext context) {
        const Conv2dLayout order(layout);
        context.dense_taps = dense_taps(weight);
        Conv2dPlanes stages = conv2d_depthwise_planes(
            op, order, residual.dim(order.image_dims()[2]).extent(), context.plain,
            context.dense_taps, hk::schedules::plane_tile(context));
        output = stages.output;
        constrain_image(output, fix_filters_per_group, 0);
        this->finish(hk::schedules::plane_schedules, stages, context);
    }

    // Products of images in rows.
    void multiply_rows() {
        if ((layout.value() == "nchw") != (products_apart() || products_in_parts()))
            throw CompileError("algorithm " + algorithm.value() + " is not for layout " +
                               layout.value());
        const Conv2dOperands op = operands();
        Conv2dContext context{sizes()};
        const bool windows = products_of_windows();
        const int rows = products_of_rows() ? hk::schedules::product_row_vector(context) : 0;
        if (rows > 0) constrain_rows(input, rows);
        const ProductForm form = {.apart = products_apart(),
                                  .parts = parts(),
                                  .slices = slices(),
                                  .order = Conv2dLayout(layout),
                                  .lanes = windows ? 0 : hk::schedules::product_lanes(context),
                                  .rows = rows,
                                  .stored_pixels = hk::schedules::stored_pixels(rows, context),
                                  .halo = halo_tile(context),
                                  .windows = windows,
                                  .finishes_in_loops = hk::schedules::finishes_in_loops(context)};
        if (rows > 0) constrain_rows(residual, form.stored_pixels);
        Conv2dSliced stages = conv2d_products(op, form);
        if (!products_apart()) {
            build(stages, hk::schedules::product_schedules, context);
            return;
        }
        output = stages.output;
        constrain_image(output, fix_filters_per_group, fix_out_w);
        if (rows > 0) constrain_rows(output, form.stored_pixels);
        this->finish(hk::schedules::product_schedules, stages, context);
    }

    // The output is the algorithm's own Func, because it has an update.
    bool own_output() const { return winograd() || products_apart() || planes() || columns(); }

    Conv2dOperands operands() {
        const Conv2dLayout order(layout);
        const auto [ic, ig, ix, iy, in] = order.image_dims();
        Conv2dOperands op;
        op.input = order.image("input_cgxyn", input);
        // The places of c, s and r of the weight.
        const auto filter = order.filter_dims();
        std::array<int, 3> w = {filter[0], filter[1], filter[2]};
        if (packed()) {
            op.packed = weight;
            w = {1, 2, 3};
        } else {
            op.weight = order.filter("weight_csrkg", weight);
        }
        op.residual = order.image("residual_kgxyn", residual);
        // An output that is another Func has no size here.
        op.filters = fixed_or(fix_filters_per_group,
                              own_output() ? residual.dim(ic).extent() : output.dim(ic).extent());
        // Whole vectors of filters are activated, also over the last one's end.
        if (packed() && order.nhwc()) {
            const Func all = op.residual;
            op.residual = Func("residual_inside");
            op.residual(k, g, x, y, n) =
                loaded_if(likely(k < op.filters),
                          all(unsafe_promise_clamped(k, 0, op.filters - 1), g, x, y, n));
        } else if (packed()) {
            const Range all = {Expr(), Expr()};
            op.residual =
                BoundaryConditions::repeat_edge(op.residual, {{0, op.filters}, all, all, all, all});
        }
        if (reads_whole_tiles()) {
            const Range all = {Expr(), Expr()}, columns = {0, residual.dim(ix).extent()},
                        rows = {0, residual.dim(iy).extent()};
            op.residual =
                BoundaryConditions::repeat_edge(op.residual, {all, all, columns, rows, all});
        }
        op.bias = bias;
        op.groups = input.dim(ig).extent();
        op.out_w = planes() ? plane_columns() : fixed_or(fix_out_w, residual.dim(ix).extent());
        op.out_h = planes() ? plane_rows() : residual.dim(iy).extent();
        op.channels =
            fixed_or(fix_channels_per_group,
                     packed() && pairs() ? input.dim(ic).extent() : weight.dim(w[0]).extent());
        op.kernel_w = fixed_or(fix_kernel_w, weight.dim(w[1]).extent());
        op.kernel_h = fixed_or(fix_kernel_h, weight.dim(w[2]).extent());
        set_window(op);
        op.pointwise = pointwise();
        set_line(op, input.dim(in).extent(), op.out_w, op.out_h);
        if (panels()) op.columns.value = plane_columns();
        if (order.nhwc()) op.dense_pixels = dense_pixels();
        op.has_bias = has_bias;
        op.has_residual = has_residual;
        op.slope = slope;
        op.low = low;
        op.high = high;
        op.smooth = smooth;
        op.type = type;
        op.target = get_target();
        return op;
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Conv2dGenerator, conv2d)
