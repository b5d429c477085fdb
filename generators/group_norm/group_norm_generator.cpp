// group_norm: inputs, outputs, the layout of their buffers, and the schedule by its name.
//
// Buffers: images as generators/image_layout.h says, where g is a slice of whole groups of
// channels; weight and bias [c, g], their gradients with any strides; mean and rstd [group, g, n],
// with any strides; bias_sums and weight_sums [c, g, part]. A result without elements is not
// wanted.

#include <map>

#include "compiler/in_place.h"
#include "compiler/lowering.h"
#include "generators/group_norm/group_norm.h"
#include "generators/optional.h"
#include "generators/quotient.h"
#include "schedules/group_norm/group_norm.h"

using namespace Halide;

namespace {

using namespace hk::generators;
namespace sc = hk::schedules;

class GroupNormGenerator : public Generator<GroupNormGenerator>, public hk::compiler::InPlace {
public:
    GeneratorParam<Type> type{"type", Float(32)};
    GeneratorParam<std::string> layout{"layout", "nhwc"};
    GeneratorParam<std::string> algorithm{"algorithm", "channels"};
    GeneratorParam<std::string> schedule_name{"schedule", "root"};
    GeneratorParam<std::string> knobs{"knobs", ""};
    GeneratorParam<int> fix_backward{"fix_backward", 0};

    Input<int32_t> groups{"groups"};
    Input<bool> has_weight{"has_weight"};
    Input<Buffer<void, 5>> input{"input"};
    Input<Buffer<void, 2>> weight{"weight"};

    std::vector<std::string> inputs_in_place() const override {
        if (backward()) return {"input", "output_gradient"};
        return {"input"};
    }

    void configure() {
        input.set_type(type);
        weight.set_type(type);
        backward() ? configure_backward() : configure_forward();
    }

    void generate() {
        const Conv2dLayout order(layout);
        for (int d = 0; d < 5; d++) input.dim(d).set_min(0);
        for (int d = 0; d < 2; d++) weight.dim(d).set_min(0);
        const auto [dim_c, dim_g, dim_x, dim_y, dim_n] = order.image_dims();
        GroupNormOperands operands;
        operands.input = order.image("input_cgxyn", input);
        operands.channels = input.dim(dim_c).extent();
        operands.groups = order.nhwc() && !of_one_group() ? Expr(groups) : Expr(1);
        operands.width = input.dim(dim_x).extent();
        operands.height = input.dim(dim_y).extent();
        operands.batch = input.dim(dim_n).extent();
        operands.type = type;
        operands.nhwc = order.nhwc();
        operands.weight = vector("weight_of", weight, has_weight, 1.f);
        sc::GroupNormContext context = {get_target(),
                                        order.nhwc(),
                                        schedule_name,
                                        knobs,
                                        operands.channels,
                                        operands.pixels(),
                                        input.dim(dim_g).extent()};
        context.groups = operands.groups;
        context.width = operands.width;
        context.height = operands.height;
        context.batch = operands.batch;
        context.read = {memory_of(input)};
        if (backward()) context.read.push_back(memory_of(*output_gradient_));
        backward() ? generate_backward(order, operands, context)
                   : generate_forward(order, operands, context);
        hk::compiler::add_lowering_passes(get_pipeline(), get_target());
    }

private:
    using InputBuffer = GeneratorInput<Buffer<>>;
    using OutputBuffer = GeneratorOutput<Buffer<>>;

    InputBuffer *bias_ = nullptr, *output_gradient_ = nullptr, *saved_mean_ = nullptr,
                *saved_rstd_ = nullptr;
    GeneratorInput<bool> *has_bias_ = nullptr;
    GeneratorInput<float> *epsilon_ = nullptr;
    GeneratorInput<int32_t> *images_ = nullptr;
    OutputBuffer *output_ = nullptr, *mean_ = nullptr, *rstd_ = nullptr;
    OutputBuffer *bias_sums_ = nullptr, *weight_sums_ = nullptr, *bias_gradient_ = nullptr,
                 *weight_gradient_ = nullptr;

    bool backward() const { return fix_backward.value() != 0; }
    bool by_runs() const { return algorithm.value() == "runs" || by_planes(); }
    bool by_planes() const { return algorithm.value() == "planes" || by_vectors(); }
    bool by_vectors() const { return algorithm.value() == "vectors"; }
    bool by_groups() const { return algorithm.value() == "groups"; }
    bool by_images() const { return algorithm.value() == "images"; }
    // A slice is.
    bool of_one_group() const {
        return by_runs() || by_groups() || by_images() || algorithm.value() == "rows";
    }

    void configure_forward() {
        has_bias_ = add_input<bool>("has_bias");
        epsilon_ = add_input<float>("epsilon");
        bias_ = add_input<Buffer<>>("bias", type, 2);
        output_ = add_output<Buffer<>>("output", type, 5);
        mean_ = add_output<Buffer<>>("mean", Float(32), 3);
        rstd_ = add_output<Buffer<>>("rstd", Float(32), 3);
    }

    void configure_backward() {
        images_ = add_input<int32_t>("images");
        output_gradient_ = add_input<Buffer<>>("output_gradient", type, 5);
        saved_mean_ = add_input<Buffer<>>("mean", Float(32), 3);
        saved_rstd_ = add_input<Buffer<>>("rstd", Float(32), 3);
        output_ = add_output<Buffer<>>("input_gradient", type, 5);
        bias_sums_ = add_output<Buffer<>>("bias_sums", Float(32), 3);
        weight_sums_ = add_output<Buffer<>>("weight_sums", Float(32), 3);
        bias_gradient_ = add_output<Buffer<>>("bias_gradient", type, 2);
        weight_gradient_ = add_output<Buffer<>>("weight_gradient", type, 2);
    }

    // All images have the slices and the batch of the input, so that the loops of results are the
    // same loops.
    template<typename Image>
    void constrain_image(const Conv2dLayout &order, Image &image) const {
        for (int d = 0; d < 5; d++) image.dim(d).set_min(0);
        const auto [dim_c, dim_g, dim_x, dim_y, dim_n] = order.image_dims();
        for (const int d : {dim_g, dim_n}) image.dim(d).set_extent(input.dim(d).extent());
    }

    template<typename Statistics>
    void constrain_statistics(const Conv2dLayout &order, Statistics &buffer) const {
        constrain_vector(buffer);
        buffer.dim(1).set_extent(input.dim(order.image_dims()[1]).extent());
        buffer.dim(2).set_extent(input.dim(order.image_dims()[4]).extent());
    }

    template<typename Vector>
    void constrain_vector(Vector &vector) const {
        for (int d = 0; d < vector.dimensions(); d++) vector.dim(d).set_min(0);
        vector.dim(0).set_stride(Expr());
    }

    // Rows of whole vectors, each at a multiple of its size.
    template<typename Image>
    void constrain_vectors(const Conv2dLayout &order, Image &image, const Expr &extent) const {
        constexpr int size = kVectorOfRow;
        const auto whole = [](const Expr &number) { return number / size * size; };
        image.set_host_alignment(size * type.value().bytes());
        image.dim(0).set_extent(whole(extent));
        const int dim_y = order.image_dims()[3];
        image.dim(dim_y).set_extent(1);
        for (int d = 1; d < 5; d++)
            if (d != dim_y) image.dim(d).set_stride(whole(image.dim(d).stride()));
    }

    // Of each slice whole vectors, each at a multiple of its size.
    template<typename Vector>
    void constrain_row(Vector &vector) const {
        constexpr int size = kVectorOfRow;
        vector.set_host_alignment(size * type.value().bytes());
        vector.dim(1).set_stride(vector.dim(1).stride() / size * size);
    }

    // In f32, `otherwise` where there is none.
    template<typename Vector>
    Func vector(const char *name, Vector &from, const Expr &present, float otherwise) const {
        Func result(name);
        result(c, g) = if_present(present, cast<float>(from(c, g)), otherwise);
        return result;
    }

    // Bounds of tasks of several slices or images reach over the last.
    static void stay_inside(GroupNormOperands &operands, const sc::GroupNormContext &context) {
        const Expr slice = min(g, context.slices - 1), image = min(n, operands.batch - 1);
        Func inside("inside");
        inside(c, g, x, y, n) = operands.input(c, slice, x, y, image);
        operands.input = inside;
        for (Func *vector : {&operands.weight, &operands.bias}) {
            Func of_slice("of_slice");
            of_slice(c, g) = (*vector)(c, slice);
            *vector = of_slice;
        }
    }

    void generate_forward(const Conv2dLayout &order, GroupNormOperands &operands,
                          const sc::GroupNormContext &context) {
        constrain_image(order, *output_);
        for (auto *buffer : {mean_, rstd_}) constrain_statistics(order, *buffer);
        if (by_vectors() || (algorithm.value() == "parts" && !order.nhwc())) {
            constrain_vectors(order, input, input.dim(0).extent());
            constrain_vectors(order, *output_, input.dim(0).extent());
        }
        for (int d = 0; d < 2; d++) bias_->dim(d).set_min(0);
        if (by_vectors() && order.nhwc()) {
            constrain_row(weight);
            constrain_row(*bias_);
        }
        operands.epsilon = *epsilon_;
        operands.bias = vector("bias_of", *bias_, *has_bias_, 0.f);
        if (by_planes() && !order.nhwc())
            operands.planes = whole_quotient(weight.dim(0).extent(), operands.channels);
        stay_inside(operands, context);
        const std::map<std::string, decltype(&group_norm_by_runs)> algorithms = {
            {"channels", group_norm_by_channels},
            {"parts", group_norm_by_parts},
            {"planes", group_norm_by_planes},
            {"runs", group_norm_by_runs},
            {"vectors", group_norm_by_vectors}};
        if (!algorithms.contains(algorithm))
            throw CompileError("algorithm is " + algorithm.value() +
                               ", not channels, parts, planes, runs or vectors");
        const GroupNormSizes sizes = sc::group_norm_sizes(context);
        GroupNorm stages = algorithms.at(algorithm)(operands, sizes);
        (*output_)(order.image_arguments(c)) = stages.output(c, g, x, y, n);
        (*mean_)(group, g, n) = stages.mean(group, g, n);
        (*rstd_)(group, g, n) = stages.rstd(group, g, n);
        stages.output = *output_;
        stages.mean = *mean_;
        stages.rstd = *rstd_;
        sc::apply(sc::group_norm_schedules, schedule_name.value(), stages, context);
    }

    void generate_backward(const Conv2dLayout &order, GroupNormOperands &operands,
                           const sc::GroupNormContext &context) {
        for (auto *buffer : {saved_mean_, saved_rstd_}) constrain_statistics(order, *buffer);
        constrain_image(order, *output_gradient_);
        constrain_image(order, *output_);
        for (auto *buffer : {bias_gradient_, weight_gradient_}) constrain_vector(*buffer);
        for (auto *buffer : {bias_sums_, weight_sums_}) {
            constrain_vector(*buffer);
            buffer->dim(1).set_extent(input.dim(order.image_dims()[1]).extent());
        }
        const std::map<std::string, GroupNormParts> algorithms = {
            {"parts", GroupNormParts::of_any_pixels},
            {"parts_of_few_pixels", GroupNormParts::of_few_pixels},
            {"rows", GroupNormParts::of_rows},
            {"images", GroupNormParts::images}};
        const bool by_parts = algorithm.value() == "parts_of_pixels";
        if (!by_groups() && !by_parts && !algorithms.contains(algorithm))
            throw CompileError("algorithm is " + algorithm.value() +
                               ", not parts, parts_of_few_pixels, parts_of_pixels, rows, images or "
                               "groups");
        operands.output_gradient = order.image("output_gradient_cgxyn", *output_gradient_);
        operands.mean = *saved_mean_;
        operands.rstd = *saved_rstd_;
        const GroupNormSizes sizes = sc::group_norm_sizes(context);
        operands.images = by_groups() && !sizes.few_pixels ? Expr(1) : Expr(*images_);
        sc::GroupNormContext with_images = context;
        with_images.images = operands.images;
        if (by_groups() && sizes.together > 1) {
            constrain_vectors(order, input, input.dim(0).extent());
            constrain_vectors(order, *output_gradient_, input.dim(0).extent());
            constrain_vectors(order, *output_, output_->dim(0).extent());
        }
        GroupNormBackward stages =
            by_groups() ? group_norm_backward_by_groups(operands, sizes)
            : by_parts  ? group_norm_backward_by_parts(operands, sizes)
                        : group_norm_backward(operands, sizes, algorithms.at(algorithm));
        const Expr parts = by_parts ? stages.parts : ceil_div(operands.batch, operands.images);
        for (auto *buffer : {bias_sums_, weight_sums_}) buffer->dim(2).set_extent(parts);
        (*output_)(order.image_arguments(c)) = stages.input_gradient(c, g, x, y, n);
        *bias_sums_ = stages.bias_sums;
        *weight_sums_ = stages.weight_sums;
        (*bias_gradient_)(c, g) = stages.bias_gradient(c, g);
        (*weight_gradient_)(c, g) = stages.weight_gradient(c, g);
        stages.input_gradient = *output_;
        stages.bias_gradient = *bias_gradient_;
        stages.weight_gradient = *weight_gradient_;
        sc::apply(sc::group_norm_backward_schedules, schedule_name.value(), stages, with_images);
    }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(GroupNormGenerator, group_norm)
