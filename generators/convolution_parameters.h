#pragma once
// The parameters of generators of families that convolve: what a row of kernels.cmake gives them.

#include "generators/image_layout.h"
#include "generators/kernel_generator.h"
#include "generators/quotient.h"
#include "runtime/src/convolution/halo_sizes.h"
#include "schedules/convolution_sizes.h"

namespace hk::generators {

// fix_… parameters other than 0 fix a size when the kernel is compiled; its argument is then
// unused.
template<typename T>
class Conv2dParameters : public KernelGenerator<T> {
public:
    Halide::GeneratorParam<std::string> layout{"layout", "nhwc"};
    Halide::GeneratorParam<int> fix_kernel_w{"fix_kernel_w", 0}, fix_kernel_h{"fix_kernel_h", 0};
    Halide::GeneratorParam<int> fix_stride_x{"fix_stride_x", 0}, fix_stride_y{"fix_stride_y", 0};
    Halide::GeneratorParam<int> fix_dilation_x{"fix_dilation_x", 0},
        fix_dilation_y{"fix_dilation_y", 0};
    Halide::GeneratorParam<int> fix_channels_per_group{"fix_channels_per_group", 0};
    Halide::GeneratorParam<int> fix_filters_per_group{"fix_filters_per_group", 0};
    Halide::GeneratorParam<int> fix_padding{"fix_padding", -1};  // 0: none, else any
    Halide::GeneratorParam<int> fix_padding_left{"fix_padding_left", 0},
        fix_padding_top{"fix_padding_top", 0};
    Halide::GeneratorParam<int> fix_width{"fix_width", 0}, fix_out_w{"fix_out_w", 0};

protected:
    // Of products of matrices the output's pixels are a line: what Conv2dOperands::columns and rows
    // are. Where they are only counted as one, the sizes are the output's. 1x1 filters need no
    // places in an image, unless the output has them: so do images in rows, always. Called by
    // configure().
    bool products_of_windows() const {
        return this->algorithm.value().starts_with("products_of_windows");
    }
    bool products_of_halos() const { return this->algorithm.value() == "products_of_halos"; }
    bool products_apart() const {
        return this->algorithm.value() == "products_apart" ||
               (products_of_halos() && layout.value() == "nchw") ||
               this->algorithm.value() == "products_of_rows" ||
               (products_of_windows() && layout.value() == "nchw");
    }
    bool products_of_rows() const {
        return this->algorithm.value().starts_with("products_of_rows");
    }
    bool products_in_parts() const {
        return this->algorithm.value() == "products_in_parts" ||
               this->algorithm.value() == "products_of_rows_in_parts" ||
               this->algorithm.value() == "products_of_windows_in_parts";
    }
    bool products() const {
        return this->algorithm.value() == "products" || products_apart() || products_in_parts() ||
               products_of_windows() || products_of_halos();
    }
    bool output_in_images() const { return products_apart() || layout.value() == "nchw"; }
    void add_line() {
        if (!products()) return;
        if (products_in_parts()) {
            parts_ = this->template add_input<int>("parts");
            slices_ = this->template add_input<int>("slices");
        }
        if (pointwise() && !output_in_images()) return;
        for (Halide::GeneratorInput<int> *(&side)[3] : line_) {
            const std::string name = &side == &line_[0] ? "columns" : "rows";
            if (!output_in_images()) side[0] = this->template add_input<int>(name);
            side[1] = this->template add_input<int>(name + "_multiplier");
            side[2] = this->template add_input<int>(name + "_shift");
        }
        if (!products_of_halos()) return;
        for (Halide::GeneratorInput<int> *(&side)[3] : halo_) {
            const std::string name = &side == &halo_[0] ? "halo_row" : "halo_image";
            side[0] = this->template add_input<int>(name);
            side[1] = this->template add_input<int>(name + "_multiplier");
            side[2] = this->template add_input<int>(name + "_shift");
        }
    }
    template<typename Operands>
    void set_line(Operands &op, const Halide::Expr &batch, const Halide::Expr &width = {},
                  const Halide::Expr &height = {}) const {
        if (!line_[0][1]) return;
        const auto divisor = [](Halide::GeneratorInput<int> *const(&side)[3],
                                const Halide::Expr &size) -> Divisor {
            return {side[0] ? Halide::Expr(*side[0]) : size, *side[1], *side[2]};
        };
        op.columns = divisor(line_[0], width);
        op.rows = divisor(line_[1], height);
        op.batch = batch;
        if constexpr (requires { op.halo_row; }) {
            if (!products_of_halos()) return;
            op.halo_row = divisor(halo_[0], {});
            op.halo_image = divisor(halo_[1], {});
        }
    }

    // Of nchw: planes of the image that is written are lines, which have so many columns and rows.
    // Called by configure().
    bool planes() const { return this->algorithm.value() == "depthwise_planes"; }
    void add_planes() {
        plane_columns_ = this->template add_input<int>("columns");
        plane_rows_ = this->template add_input<int>("rows");
    }
    Halide::Expr plane_columns() const { return *plane_columns_; }
    Halide::Expr plane_rows() const { return *plane_rows_; }

    bool panels() const { return this->algorithm.value() == "packed_panels"; }
    bool columns() const { return this->algorithm.value() == "packed_columns" || panels(); }
    void check_columns() const {
        if (layout.value() != "nchw" || this->type.value() != Halide::Float(32))
            throw Halide::CompileError("algorithm " + this->algorithm.value() +
                                       " is for layout nchw, in f32");
        if (!panels() && (!pointwise() || fix_stride_x.value() != 1 || fix_stride_y.value() != 1))
            throw Halide::CompileError(
                "algorithm packed_columns is for 1x1 filters without padding, and strides of 1");
    }

    // The taps of a group's filter lie next to each other.
    template<typename Buffer>
    Halide::Expr dense_taps(const Buffer &weight) const {
        return weight.dim(0).stride() == 1 &&
               weight.dim(1).stride() == fixed_or(fix_kernel_w, weight.dim(0).extent());
    }

    // Whole vectors of channels, innermost, each at a multiple of its size.
    template<typename Buffer>
    void constrain_vectors(Buffer &buffer, int bytes = 16) const {
        const Halide::Type element = buffer.type();
        const int elements = bytes / element.bytes();
        buffer.set_host_alignment(bytes);
        buffer.dim(0).set_extent(buffer.dim(0).extent() / elements * elements);
        for (int d = 1; d < 5; d++)
            buffer.dim(d).set_stride(buffer.dim(d).stride() / elements * elements);
    }

    // Images in rows are read, or stored, in whole vectors of so many pixels.
    template<typename Buffer>
    void constrain_rows(Buffer &image, int vector) const {
        if (!pointwise() || fix_stride_x.value() != 1 || fix_stride_y.value() != 1 ||
            Conv2dLayout(layout).nhwc())
            throw Halide::CompileError(
                "algorithm products_of_rows is for layout nchw, and unpadded 1x1 filters with "
                "strides of 1");
        constrain_vectors(image, vector * image.type().bytes());
    }

    // Of rows that read a packed filter (generators/conv2d/conv2d_filter.h): in pairs of channels,
    // of which there are whole slices.
    bool slices_of_windows() const { return this->algorithm.value() == "slices_of_windows"; }
    bool in_slices() const { return this->algorithm.value().starts_with("slices"); }
    bool pairs() const {
        return in_slices() || schedules::multiplies_pairs(this->get_target(), this->type.value());
    }
    // Elements of a block of that.
    template<typename Buffer>
    void constrain_filter_block(Buffer &packed, int filters) const {
        packed.dim(0).set_extent(pairs() ? 2 * filters : filters);
        if (pairs()) packed.dim(0).set_estimate(0, 2 * filters);
    }

    // A multiple of so many channels.
    template<typename Buffer>
    void constrain_channels(Buffer &image, int whole) const {
        auto channels = image.dim(Conv2dLayout(layout).image_dims()[0]);
        channels.set_extent(channels.extent() / whole * whole);
    }
    template<typename Buffer>
    void constrain_to_pairs(Buffer &image) const {
        constrain_channels(image, 2);
    }

    bool unpadded() const { return fix_padding.value() == 0; }
    bool pointwise() const {
        return unpadded() && fix_kernel_w.value() == 1 && fix_kernel_h.value() == 1;
    }

    // Windows are in a row of the line (generators/conv2d/halo.h).
    void check_halos() const {
        const int kernel = fix_kernel_w.value(), dilation = fix_dilation_x.value();
        if (kernel == 0 || dilation == 0 || (kernel - 1) * dilation > detail::kHaloMargin ||
            fix_stride_x.value() != 1 || fix_stride_y.value() != 1)
            throw Halide::CompileError(
                "algorithm products_of_halos needs filters of known width, at most " +
                std::to_string(detail::kHaloMargin + 1) + " with dilations, and strides of 1");
    }

    void check_winograd() const {
        const bool has = fix_kernel_w.value() == 3 && fix_kernel_h.value() == 3 &&
                         fix_stride_x.value() == 1 && fix_stride_y.value() == 1 &&
                         fix_dilation_x.value() == 1 && fix_dilation_y.value() == 1;
        if (!has)
            throw Halide::CompileError(
                "algorithm winograd needs 3x3 filters, strides and dilations of 1");
    }

    schedules::Conv2dSizes sizes() const {
        schedules::Conv2dSizes sizes{this->schedule_context()};
        sizes.nhwc = layout.value() == "nhwc";
        sizes.kernel_w = fix_kernel_w;
        sizes.kernel_h = fix_kernel_h;
        sizes.stride_x = fix_stride_x;
        sizes.stride_y = fix_stride_y;
        sizes.dilation_x = fix_dilation_x;
        sizes.dilation_y = fix_dilation_y;
        sizes.channels_per_group = fix_channels_per_group;
        sizes.filters_per_group = fix_filters_per_group;
        sizes.width = fix_width;
        sizes.pairs = pairs();
        return sizes;
    }

    // Of operands of a convolution what the arguments stride_x, … padding_top say, and the input's
    // size.
    template<typename Operands>
    void set_window(Operands &op) {
        const T &of = static_cast<const T &>(*this);
        op.stride_x = fixed_or(fix_stride_x, of.stride_x);
        op.stride_y = fixed_or(fix_stride_y, of.stride_y);
        op.dilation_x = fixed_or(fix_dilation_x, of.dilation_x);
        op.dilation_y = fixed_or(fix_dilation_y, of.dilation_y);
        const Halide::Expr none = 0;
        op.padding_left = unpadded() ? none : fixed_or(fix_padding_left, of.padding_left);
        op.padding_top = unpadded() ? none : Halide::Expr(of.padding_top);
        const auto dims = Conv2dLayout(layout).image_dims();
        op.width = fixed_or(fix_width, of.input.dim(dims[2]).extent());
        op.height = of.input.dim(dims[3]).extent();
    }

    static Halide::Expr fixed_or(const Halide::GeneratorParam<int> &fixed,
                                 const Halide::Expr &argument) {
        return fixed.value() > 0 ? Halide::Expr(fixed.value()) : argument;
    }

    // Buffers start at 0 and have the sizes that are fixed. Channels of neighbouring groups lie
    // next to each other in a pixel.
    template<typename Buffer>
    void constrain_image(Buffer &image, int channels, int width) const {
        const Conv2dLayout order(layout);
        this->begin_at_zero(image, 5);
        fix(image.dim(order.image_dims()[0]), channels);
        fix(image.dim(order.image_dims()[2]), width);
        if (order.nhwc() && channels > 0) image.dim(1).set_stride(channels);
    }

    template<typename Buffer>
    void constrain_filter(Buffer &filter) const {
        const auto [dim_c, dim_s, dim_r, dim_k, dim_g] = Conv2dLayout(layout).filter_dims();
        this->begin_at_zero(filter, 5);
        fix(filter.dim(dim_c), fix_channels_per_group);
        fix(filter.dim(dim_s), fix_kernel_w);
        fix(filter.dim(dim_r), fix_kernel_h);
        fix(filter.dim(dim_k), fix_filters_per_group);
    }

    // The bias, or a vector like it: [k, g].
    template<typename Buffer>
    void constrain_vector(Buffer &vector) const {
        this->begin_at_zero(vector, 2);
        if (fix_filters_per_group.value() > 0) vector.dim(1).set_stride(fix_filters_per_group);
    }

    // Of sums in parts: how many, and the slices of each.
    Halide::Expr parts() const { return parts_ ? Halide::Expr(*parts_) : Halide::Expr(); }
    Halide::Expr slices() const { return slices_ ? Halide::Expr(*slices_) : Halide::Expr(); }

private:
    Halide::GeneratorInput<int> *parts_ = nullptr, *slices_ = nullptr;
    Halide::GeneratorInput<int> *plane_columns_ = nullptr, *plane_rows_ = nullptr;
    // Of columns and rows, of halos' rows and images: size, multiplier, shift.
    Halide::GeneratorInput<int> *line_[2][3] = {}, *halo_[2][3] = {};

    template<typename Dimension>
    static void fix(Dimension dim, int size) {
        if (size > 0) dim.set_extent(size);
    }
};

}  // namespace hk::generators
