#include "generators/image_layout.h"

#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

Conv2dLayout::Conv2dLayout(const std::string &name) : nhwc_(name == "nhwc") {
    if (!nhwc_ && name != "nchw") throw CompileError("layout is " + name + ", not nhwc or nchw");
}

std::array<int, 5> Conv2dLayout::image_dims() const {
    return nhwc_ ? std::array{0, 1, 2, 3, 4} : std::array{2, 3, 0, 1, 4};
}

std::array<int, 5> Conv2dLayout::filter_dims() const {
    return nhwc_ ? std::array{0, 1, 2, 3, 4} : std::array{2, 0, 1, 3, 4};
}

std::vector<Var> Conv2dLayout::image_arguments(const Var &channel) const {
    return nhwc_ ? std::vector<Var>{channel, g, x, y, n} : std::vector<Var>{x, y, channel, g, n};
}

std::vector<Var> Conv2dLayout::filter_arguments() const {
    return nhwc_ ? std::vector<Var>{c, s, r, k, g} : std::vector<Var>{s, r, c, k, g};
}

std::vector<Expr> Conv2dLayout::in_order(const std::array<Expr, 5> &image) const {
    std::vector<Expr> arguments(5);
    for (size_t i = 0; i < 5; i++) arguments[static_cast<size_t>(image_dims()[i])] = image[i];
    return arguments;
}

Func Conv2dLayout::image(const char *name, const Func &buffer) const {
    Func view(name);
    view(c, g, x, y, n) = buffer(image_arguments(c));
    return view;
}

Func Conv2dLayout::filter(const char *name, const Func &buffer) const {
    Func view(name);
    view(c, s, r, k, g) = buffer(filter_arguments());
    return view;
}

Func in_f32(const Func &image) {
    Func value("value");
    value(c, g, x, y, n) = cast<float>(image(c, g, x, y, n));
    return value;
}

Func with_zeros_past_ends(const Func &image, const Expr &channels, const Expr &groups) {
    const Range all = {Expr(), Expr()};
    return BoundaryConditions::constant_exterior(image, 0.f,
                                                 Region{{0, channels}, {0, groups}, all, all, all});
}

Func with_zeros_around(const Func &image, const Expr &width, const Expr &height, bool unread,
                       const Type &type) {
    const Expr zero = Internal::make_zero(type);
    Func value("value");
    value(c, g, x, y, n) = cast(type, image(c, g, x, y, n));
    const Range all = {Expr(), Expr()}, columns = {0, width}, rows = {0, height};
    Func inside;
    if (unread) {
        inside = BoundaryConditions::repeat_edge(value, Region{all, all, columns, rows, all});
    } else {
        inside =
            BoundaryConditions::constant_exterior(value, zero, Region{all, all, columns, all, all});
        inside =
            BoundaryConditions::constant_exterior(inside, zero, Region{all, all, all, rows, all});
    }
    Func padded("padded");
    padded(c, g, x, y, n) = inside(c, g, x, y, n);
    return padded;
}

Func rows_with_zeros_around(const Func &image, const Expr &width, const Expr &height,
                            RDom &columns, const Type &type) {
    columns = RDom(0, width, "columns");
    columns.where(y >= 0 && y < height);
    const RVar column = columns.x;
    Func padded("padded");
    padded(c, g, x, y, n) = Internal::make_zero(type);
    padded(c, g, column, y, n) = cast(type, image(c, g, column, clamp(y, 0, height - 1), n));
    return padded;
}

Func masked_with_zeros_around(const Func &image, const Expr &width, const Expr &height) {
    const Expr inside = x >= 0 && x < width && y >= 0 && y < height;
    const Expr element = image(c, g, promised_within(x, width), promised_within(y, height), n);
    Func padded("padded");
    padded(c, g, x, y, n) = select(inside, cast<float>(loaded_if(inside, element)), 0.f);
    return padded;
}

Func joined_rows_with_zeros_around(const Func &image, const Expr &channels, const Expr &width,
                                   const Expr &height, RDom &elements, const Type &type,
                                   const Expr &dense) {
    elements = RDom(0, width * channels, "elements");
    elements.where(y >= 0 && y < height);
    const RVar i = elements.x;
    const Var element("element");
    Func padded("padded");
    padded(element, g, y, n) = Internal::make_zero(type);
    const Expr row = clamp(y, 0, height - 1);
    Expr value = image(i % channels, g, i / channels, row, n);
    if (dense.defined())
        value = if_present(dense, image(promised_within(i, channels), g, 0, row, n), value);
    padded(i, g, y, n) = cast(type, value);
    return padded;
}

}  // namespace hk::generators
