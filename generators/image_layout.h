#pragma once
// What all families that convolve share: index letters, the layouts of buffers, zeros around
// images.
//
// Index letters: n batch, c input channel of a group, g group, k output channel of a group, x y
// pixel of the output, s r column and row of the filter. Funcs take their arguments in the order
// c g x y n (or k g x y n) of images and c s r k g of filters, whatever the layout of the buffers.

#include <array>

#include "generators/ceil_div.h"
#include "generators/letters.h"

namespace hk::generators {

// Buffers, innermost first; groups are a dimension of their own, a view through strides:
//   nhwc: images [c, g, x, y, n], filters [c, s, r, k, g]
//   nchw: images [x, y, c, g, n], filters [s, r, c, k, g]
class Conv2dLayout {
public:
    explicit Conv2dLayout(const std::string &name);  // throws Halide::CompileError

    bool nhwc() const { return nhwc_; }

    // The places of c (or k), g, x, y and n of an image, and of c, s, r, k and g of a filter.
    std::array<int, 5> image_dims() const;
    std::array<int, 5> filter_dims() const;

    // A buffer with arguments in the order of Funcs, and a buffer's arguments from those.
    Halide::Func image(const char *name, const Halide::Func &buffer) const;
    Halide::Func filter(const char *name, const Halide::Func &buffer) const;
    std::vector<Halide::Var> image_arguments(const Halide::Var &channel) const;
    std::vector<Halide::Var> filter_arguments() const;
    std::vector<Halide::Expr> in_order(const std::array<Halide::Expr, 5> &image) const;

private:
    bool nhwc_;
};

// What an input's sizes are sizes of, for schedules that prefetch it: Halide keeps that to itself.
template<typename Image>
Halide::Parameter memory_of(const Image &buffer) {
    const Halide::Expr extent = buffer.dim(0).extent();
    return extent.as<Halide::Internal::Variable>()->param;
}

Halide::Func in_f32(const Halide::Func &image);

// An image, zero past the last channel of a group and past the last group.
Halide::Func with_zeros_past_ends(const Halide::Func &image, const Halide::Expr &channels,
                                  const Halide::Expr &groups);

// An image in f32, or as another type, with zeros around it. Where they are never read into a
// result (`unread`), the edge is repeated, which costs no comparison a value. Columns and rows are
// two conditions, because Halide splits loops at a condition on one of their variables, but not at
// a disjunction.
Halide::Func with_zeros_around(const Halide::Func &image, const Halide::Expr &width,
                               const Halide::Expr &height, bool unread,
                               const Halide::Type &type = Halide::Float(32));

// The same, zeros that the image's rows are copied into, whole: no vector of columns compares,
// which on small images most others do. `columns` becomes what is copied.
Halide::Func rows_with_zeros_around(const Halide::Func &image, const Halide::Expr &width,
                                    const Halide::Expr &height, Halide::RDom &columns,
                                    const Halide::Type &type = Halide::Float(32));

// The same, where vectors are of columns: what they have outside is not read, by masks.
Halide::Func masked_with_zeros_around(const Halide::Func &image, const Halide::Expr &width,
                                      const Halide::Expr &height);

// The same of few channels, as one loop: (column * channels + channel, g, y, n). Where `dense`, the
// image's rows are such already.
Halide::Func joined_rows_with_zeros_around(const Halide::Func &image, const Halide::Expr &channels,
                                           const Halide::Expr &width, const Halide::Expr &height,
                                           Halide::RDom &elements,
                                           const Halide::Type &type = Halide::Float(32),
                                           const Halide::Expr &dense = {});

}  // namespace hk::generators
