// conv2d_backward_weight: inputs, outputs, the layout of their buffers, and the schedule by its
// name.
//
// Buffers as generators/image_layout.h says: images output_gradient (of k) and input (of c),
// filters previous and weight_gradient, which may be one buffer.

#include "generators/conv2d/channels_last.h"
#include "generators/conv2d_backward/conv2d_backward_weight.h"
#include "generators/conv2d_backward/conv2d_backward_weight_products.h"
#include "generators/convolution_parameters.h"
#include "schedules/conv2d_backward/conv2d_backward_weight.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class Conv2dBackwardWeightGenerator : public Conv2dParameters<Conv2dBackwardWeightGenerator> {
public:
    Input<Buffer<void, 5>> output_gradient{"output_gradient"}, input{"input"}, previous{"previous"};
    Input<int> stride_x{"stride_x"}, stride_y{"stride_y"}, dilation_x{"dilation_x"},
        dilation_y{"dilation_y"};
    Input<int> padding_left{"padding_left"}, padding_top{"padding_top"};
    Input<bool> accumulate{"accumulate"};
    Output<Buffer<void, 5>> weight_gradient{"weight_gradient"};

    std::vector<std::string> inputs_in_place() const override { return {"previous"}; }

    void configure() {
        set_types(output_gradient, input, previous, weight_gradient);
        add_line();
        if (gradient_in_planes()) {
            columns_ = add_input<int>("columns");
            rows_ = add_input<int>("rows");
        }
        if (!products_in_parts() || (pointwise() && !products_of_windows())) return;
        for (GeneratorInput<int> *(&divisor)[2] : taps_) {
            const std::string name = &divisor == &taps_[0] ? "vectors" : "taps";
            if (products_of_windows() && name == "taps") continue;
            divisor[0] = add_input<int>(name + "_multiplier");
            divisor[1] = add_input<int>(name + "_shift");
        }
    }

    void generate() {
        constrain_image(output_gradient, fix_filters_per_group, fix_out_w);
        constrain_image(input, fix_channels_per_group, fix_width);
        constrain_filter(previous);
        constrain_filter(weight_gradient);
        const Conv2dBackwardWeightOperands op = operands();
        sc::Conv2dBackwardWeightContext context{sizes()};
        context.channels = op.channels;
        context.filters = op.filters;
        context.groups = op.groups;
        context.plain = !accumulate;
        context.packed = packed();
        context.in_f32 = op.type == Float(32);
        if (algorithm.value() == "tiles") {
            const WeightTiles tiles = sc::backward_weight_tiles(context);
            if (tiles.exact && fix_width.value() == 0) constrain_columns(tiles.step);
            build(conv2d_backward_weight(op, tiles), sc::conv2d_backward_weight_schedules, context);
        } else if (algorithm.value() == "sliced") {
            const sc::WeightSlices slices = sc::backward_weight_slices(context);
            build(conv2d_backward_weight_sliced(op, slices.columns, slices.parts),
                  sc::conv2d_backward_weight_sliced_schedules, context);
        } else if (algorithm.value() == "peeled") {
            build(conv2d_backward_weight_peeled(op, sc::cpu::tiles_of_peeled(context)),
                  sc::conv2d_backward_weight_peeled_schedules, context);
        } else if (algorithm.value() == "columns") {
            build_columns(op, context);
        } else if (algorithm.value() == "planes") {
            const PlaneTiles tiles = sc::cpu::tiles_of_panels(context);
            constrain_planes(tiles);
            build(conv2d_backward_weight_planes(op, tiles),
                  sc::conv2d_backward_weight_planes_schedules, context);
        } else if (algorithm.value() == "panels") {
            build(conv2d_backward_weight_panels(op, sc::cpu::tiles_of_packed(context)),
                  sc::conv2d_backward_weight_panels_schedules, context);
        } else if (algorithm.value() == "depthwise_row_sums") {
            const DepthwiseRows rows = sc::backward_weight_rows(context);
            if (rows.vectors) {
                constrain_group_vectors(output_gradient, rows.vector);
                constrain_group_vectors(input, rows.vector);
            }
            build(conv2d_backward_weight_rows(op, rows), sc::conv2d_backward_weight_rows_schedules,
                  context);
        } else if (products_of_windows()) {
            build_products_of_windows(op, context);
        } else if (products_in_parts()) {
            build_products(op, context);
        } else {
            refuse_algorithm({"tiles", "columns", "peeled", "planes", "panels", "sliced",
                              "depthwise_row_sums", "products_in_parts",
                              "products_of_rows_in_parts", "products_of_windows_in_parts"});
        }
    }

private:
    GeneratorInput<int> *taps_[2][2] = {};  // of vectors, taps: multiplier, shift
    GeneratorInput<int> *columns_ = nullptr, *rows_ = nullptr;  // of planes that are lines

    // Whole steps.
    void constrain_columns(int step) {
        auto columns = output_gradient.dim(Conv2dLayout(layout).image_dims()[2]);
        columns.set_extent(columns.extent() / step * step);
    }

    // Groups are next to each other, pixels and rows whole vectors of so many.
    template<typename Buffer>
    void constrain_group_vectors(Buffer &image, int vector) const {
        image.set_host_alignment(vector * type.value().bytes());
        image.dim(1).set_stride(1).set_extent(image.dim(1).extent() / vector * vector);
        for (int d = 2; d < 5; d++)
            image.dim(d).set_stride(image.dim(d).stride() / vector * vector);
    }

    // Whole blocks, of planes that are lines.
    void constrain_planes(const PlaneTiles &tiles) {
        if (Conv2dLayout(layout).nhwc() || !pointwise() || fix_stride_x.value() != 1 ||
            fix_stride_y.value() != 1)
            throw CompileError(
                "algorithm planes is for layout nchw, and unpadded 1x1 filters with strides of 1");
        const auto [dim_c, dim_s, dim_r, dim_k, dim_g] = Conv2dLayout(layout).filter_dims();
        const auto whole = [&](int d, int size) {
            weight_gradient.dim(d).set_extent(weight_gradient.dim(d).extent() / size * size);
        };
        previous.dim(dim_c).set_stride(1);
        weight_gradient.dim(dim_c).set_stride(1);
        whole(dim_c, tiles.of_filters ? kPlaneBack : tiles.vectors);
        whole(dim_k, tiles.of_filters ? tiles.vectors : kPlaneBack);
    }

    // Of CPUs without masks another algorithm, which the schedule's name says.
    void build_columns(const Conv2dBackwardWeightOperands &op,
                       const sc::Conv2dBackwardWeightContext &context) {
        if (const auto tiles = sc::cpu::tiles_of_masked_columns(context))
            build(conv2d_backward_weight_columns(op, *tiles, context.stride_x, context.kernel_w),
                  sc::conv2d_backward_weight_columns_schedules, context);
        else if (context.schedule == "columns_or_planes")
            build(conv2d_backward_weight_peeled(op, sc::cpu::tiles_of_peeled(context)),
                  sc::conv2d_backward_weight_peeled_schedules, context);
        else
            build(conv2d_backward_weight(op, sc::backward_weight_tiles(context)),
                  sc::conv2d_backward_weight_schedules, context);
    }

    void build_products(Conv2dBackwardWeightOperands op, sc::Conv2dBackwardWeightContext context) {
        if (!Conv2dLayout(layout).nhwc()) {
            build_products_of_rows(op, context);
            return;
        }
        for (auto *operand : {&output_gradient, &input, &previous}) constrain_vectors(*operand);
        constrain_vectors(weight_gradient);
        auto filters = weight_gradient.dim(3);
        const int vector = pixel_vector(op.type);
        filters.set_extent(filters.extent() / vector * vector);
        // Sizes are those that the loops have.
        context.channels = op.channels = weight_gradient.dim(0).extent();
        context.filters = op.filters = weight_gradient.dim(3).extent();
        context.groups = op.groups = weight_gradient.dim(4).extent();
        PixelLine line;
        set_line(line, input.dim(4).extent());
        set_parts(line, context);
        set_taps(line, op.channels, op);
        build(conv2d_backward_weight_products(op, line),
              sc::conv2d_backward_weight_products_schedules, context);
    }

    // Of nchw vectors of planes of the output's gradient are read, of which each is a line.
    bool gradient_in_planes() const {
        if (!products_in_parts() || products_of_rows() || Conv2dLayout(layout).nhwc()) return false;
        sc::Conv2dBackwardWeightContext context{sizes()};
        context.in_f32 = type.value() == Float(32);
        return sc::backward_weight_row_vector(context, false) > 0;
    }

    Expr columns(const Conv2dBackwardWeightOperands &op) const {
        return columns_ ? Expr(*columns_) : op.out_w;
    }
    Expr rows(const Conv2dBackwardWeightOperands &op) const {
        return rows_ ? Expr(*rows_) : op.out_h;
    }

    // Of images in rows, of the output's gradient or both, vectors are read; one by one pixels are
    // of any stride.
    int constrain_images_in_rows(const sc::Conv2dBackwardWeightContext &context) {
        if (products_of_rows() && (!pointwise() || Conv2dLayout(layout).nhwc()))
            throw CompileError("algorithm " + algorithm.value() +
                               " is for unpadded 1x1 filters, in layout nchw");
        const int vector = sc::backward_weight_row_vector(context, products_of_rows());
        if (vector <= 1) return vector;
        if (products_of_rows()) constrain_rows(input, vector);
        constrain_vectors(output_gradient, vector * type.value().bytes());
        return vector;
    }

    void build_products_of_rows(Conv2dBackwardWeightOperands op,
                                const sc::Conv2dBackwardWeightContext &context) {
        const int vector = constrain_images_in_rows(context);
        op.groups = weight_gradient.dim(4).extent();
        PixelLine line;
        set_line(line, op.batch, columns(op), rows(op));
        set_parts(line, context);
        set_taps(line, in_vectors(op.channels, pixel_vector(op.type)), op);
        const bool joined = pointwise() && fix_stride_x.value() == 1 && fix_stride_y.value() == 1;
        build(products_of_rows()
                  ? conv2d_backward_weight_products_of_rows(op, line, vector)
                  : conv2d_backward_weight_products_of_copies(op, line, joined, vector),
              sc::conv2d_backward_weight_products_schedules, context);
    }

    void build_products_of_windows(Conv2dBackwardWeightOperands op,
                                   const sc::Conv2dBackwardWeightContext &context) {
        const bool nhwc = Conv2dLayout(layout).nhwc();
        if (nhwc) constrain_vectors(output_gradient);
        const int vector = nhwc ? 0 : constrain_images_in_rows(context);
        op.groups = weight_gradient.dim(4).extent();
        PixelLine line;
        set_line(line, input.dim(Conv2dLayout(layout).image_dims()[4]).extent(), columns(op),
                 rows(op));
        set_parts(line, context);
        line.vectors = {{}, *taps_[0][0], *taps_[0][1]};
        build(conv2d_backward_weight_products_of_windows(op, line, nhwc, vector),
              sc::conv2d_backward_weight_products_schedules, context);
    }

    void set_parts(PixelLine &line, const sc::Conv2dBackwardWeightContext &context) const {
        line.parts = parts();
        line.steps = slices();
        line.slices = sc::backward_weight_slices_of_step(context, products_of_rows());
    }

    void set_taps(PixelLine &line, const Expr &channels,
                  const Conv2dBackwardWeightOperands &op) const {
        if (!taps_[0][0]) return;
        line.vectors = {channels / pixel_vector(op.type), *taps_[0][0], *taps_[0][1]};
        line.taps = {op.kernel_w, *taps_[1][0], *taps_[1][1]};
    }

    template<typename Stages, typename Table>
    void build(Stages stages, const Table &table, const sc::Conv2dBackwardWeightContext &context) {
        Expr result = stages.output(c, s, r, k, g);
        // Selected here, where specialisations see it.
        if constexpr (requires { stages.has_few; })
            result = select(stages.has_few, stages.result_of_few(c, s, r, k, g), result);
        weight_gradient(Conv2dLayout(layout).filter_arguments()) = result;
        stages.output = weight_gradient;
        this->finish(table, stages, context);
    }

    // Whether the result's elements lie next to each other. Where nothing is fixed, nobody asks.
    Expr packed() {
        Expr result = cast<bool>(1), stride = 1;
        const auto [dim_c, dim_s, dim_r, dim_k, dim_g] = Conv2dLayout(layout).filter_dims();
        const Expr extents[] = {fix_channels_per_group.value(), fix_kernel_w.value(),
                                fix_kernel_h.value(), fix_filters_per_group.value()};
        const int dims[] = {dim_s, dim_r, dim_k, dim_g};
        for (int d = 0; d < 4; d++) {
            stride *= extents[d];
            if (d != 2) result = result && weight_gradient.dim(dims[d]).stride() == stride;
        }
        return result;
    }

    Conv2dBackwardWeightOperands operands() {
        const Conv2dLayout order(layout);
        const auto [dim_c, dim_g, dim_x, dim_y, dim_n] = order.image_dims();
        Conv2dBackwardWeightOperands op;
        op.output_gradient = order.image("output_gradient_kgxyn", output_gradient);
        op.input = order.image("input_cgxyn", input);
        op.previous = order.filter("previous_csrkg", previous);
        op.channels = fixed_or(fix_channels_per_group, input.dim(dim_c).extent());
        op.filters = fixed_or(fix_filters_per_group, output_gradient.dim(dim_c).extent());
        op.groups = input.dim(dim_g).extent();
        const auto filter = order.filter_dims();
        op.kernel_w = fixed_or(fix_kernel_w, weight_gradient.dim(filter[1]).extent());
        op.kernel_h = fixed_or(fix_kernel_h, weight_gradient.dim(filter[2]).extent());
        op.batch = output_gradient.dim(dim_n).extent();
        op.out_w = fixed_or(fix_out_w, output_gradient.dim(dim_x).extent());
        op.out_h = output_gradient.dim(dim_y).extent();
        set_window(op);
        op.accumulate = accumulate;
        op.type = type;
        return op;
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Conv2dBackwardWeightGenerator, conv2d_backward_weight)
