#pragma once
// What the generators of pooling and of its gradient share.

#include "generators/convolution_parameters.h"
#include "generators/pool2d/pool2d.h"

namespace hk::generators {

template<typename T>
class Pool2dParameters : public Conv2dParameters<T> {
protected:
    // An image of one group.
    template<typename Buffer>
    void constrain(Buffer &image) const {
        this->constrain_image(image, 0, 0);
        image.dim(Conv2dLayout(this->layout).image_dims()[1]).set_extent(1);
    }

    // Of a generator with the arguments kernel_x, … padding_top.
    static PoolWindows windows(const T &of, const Halide::Expr &width, const Halide::Expr &height) {
        const bool unpadded = of.unpadded();
        return {of.fixed_or(of.fix_kernel_w, of.kernel_x),
                of.fixed_or(of.fix_kernel_h, of.kernel_y),
                of.fixed_or(of.fix_stride_x, of.stride_x),
                of.fixed_or(of.fix_stride_y, of.stride_y),
                unpadded ? Halide::Expr(0) : of.fixed_or(of.fix_padding_left, of.padding_left),
                unpadded ? Halide::Expr(0) : of.fixed_or(of.fix_padding_top, of.padding_top),
                width,
                height};
    }
};

}  // namespace hk::generators
