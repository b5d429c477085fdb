#include "convolution/halo.h"

#include <algorithm>
#include <limits>

#include "convolution/halo_sizes.h"

namespace hk::detail {

namespace {

__int128 round_up(__int128 value, int64_t by) { return (value + by - 1) / by * by; }

}  // namespace

Halo::Halo(int64_t columns, int64_t rows, Source source, const Conv2dProblem &problem)
    : columns_(std::max<int64_t>(columns, 1)),
      rows_(std::max<int64_t>(rows, 1)),
      batch_(problem.batch),
      reach_x_((problem.kernel_width - 1) * problem.options.dilation[1]),
      reach_y_((problem.kernel_height - 1) * problem.options.dilation[0]),
      row_(columns_ + kHaloMargin) {
    const __int128 outputs = static_cast<__int128>(columns_) * rows_;
    const int64_t below = rows_ + reach_y_ - source.above - source.rows;
    const int64_t shared = std::max<int64_t>(std::min(source.above, below), 0);
    image_ = outputs + round_up((rows_ + reach_y_ - shared) * row_ - outputs, kHaloMargin);
}

Halo Halo::of_output(const Conv2dProblem &p) {
    return {p.output_width(), p.output_height(), {p.height, p.options.padding.top}, p};
}

Halo Halo::of_input(const Conv2dProblem &p) {
    const int64_t reach = (p.kernel_height - 1) * p.options.dilation[0];
    return {p.width, p.height, {p.output_height(), reach - p.options.padding.top}, p};
}

__int128 Halo::pixels(int64_t outputs) const {
    // A tile may reach past the last image.
    if ((batch_ + outputs) * image_ > std::numeric_limits<int32_t>::max())
        return std::numeric_limits<int64_t>::max();
    const __int128 image = static_cast<__int128>(columns_) * rows_;
    const __int128 lines = (outputs + columns_ - 2) / columns_,
                   images = (outputs + image - 2) / image;
    return outputs + lines * kHaloMargin + images * (image_ - rows_ * row_) + reach_y_ * row_ +
           reach_x_;
}

std::array<NamedArgument, 6> Halo::named() const {
    const Divisor row(static_cast<int64_t>(row_)), image(static_cast<int64_t>(image_));
    return {{{"halo_row", row.value},
             {"halo_row_multiplier", row.multiplier},
             {"halo_row_shift", row.shift},
             {"halo_image", image.value},
             {"halo_image_multiplier", image.multiplier},
             {"halo_image_shift", image.shift}}};
}

}  // namespace hk::detail
