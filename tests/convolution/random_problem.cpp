#include "tests/convolution/random_problem.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "convolution/met_taps.h"
#include "tests/support/conditions.h"

namespace hk::test {
namespace {

using Sizes = std::vector<int64_t>;
using Relation = Constraint::Relation;

int64_t round_up(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

// One draw of a problem. Sizes are drawn field by field, each moved to where the constraints on it
// alone allow; fields that are products or sums of others are repaired afterwards.
class Draw {
public:
    Draw(Random &random, const Conv2dRequest &request) : random_(random), request_(request) {}

    std::optional<Conv2dProblem> problem() {
        draw_channels();
        for (int axis = 0; axis < 2; axis++) {
            draw_axis(axis);
        }
        batch_ = steered("batch", {1, 1, 2, 3});
        direct_ = allowed("direct", uniform(random_, 0, 1)) != 0;
        tf32_ = allowed("tf32", 0) != 0;
        repair();
        shrink();
        fit_images();
        Conv2dProblem p = assemble();
        if (p.height < 1 || p.width < 1) return {};
        const bool narrow = allowed("avx512", 1) < 1 || allowed("copied_nhwc", 1) < 1;  // CPUs only
        const DeviceType device = narrow ? DeviceType::cpu : DeviceType::cuda;
        const DeviceLimits limits{.avx512 = !narrow};
        for (const Conv2dProblem &seen : {p, detail::normalised(p, detail::cut_taps)})
            if (!meets(request_.where, detail::conv2d_fields(seen, {device, limits}))) return {};
        return p;
    }

private:
    int64_t steered(std::string_view name, const Sizes &sizes) {
        return allowed(name, pick(random_, sizes));
    }

    // The value moved to where the conditions on this field allow it.
    int64_t allowed(std::string_view name, int64_t value) const {
        return range_of(request_.where, name).moved(value);
    }

    bool fixed(std::string_view name) const { return range_of(request_.where, name).one(); }

    void draw_channels() {
        const Sizes wide{1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 23, 29, 32, 37, 48};
        const Sizes narrow{1, 2, 3, 4, 5, 7, 8};
        const int64_t kind = uniform(random_, 0, 5);
        const bool grouped = kind >= 3;
        groups_ = steered("groups", grouped ? wide : Sizes{1});
        const Sizes depthwise{1};
        const Sizes multiplier{1, 1, 2, 3};
        group_channels_ = steered("channels_per_group", kind >= 4 ? depthwise
                                                        : grouped ? narrow
                                                                  : wide);
        group_filters_ = steered("filters_per_group", kind >= 4 ? multiplier
                                                      : grouped ? narrow
                                                                : wide);
    }

    void draw_axis(int axis) {
        Axis &a = axes_[axis];
        const char suffix = axis == 0 ? 'h' : 'w', letter = axis == 0 ? 'y' : 'x';
        a.kernel = steered(std::string("kernel_") + suffix, {1, 1, 2, 3, 3, 3, 4, 5, 7});
        a.stride = steered(std::string("stride_") + letter, {1, 1, 1, 2, 2, 3, 5});
        a.dilation = steered(std::string("dilation_") + letter, {1, 1, 1, 2, 3});
        a.out = steered(std::string("out_") + suffix, {1, 2, 3, 5, 7, 8, 11, 13, 16, 17, 19, 31});
        const int64_t reach = a.reach();
        if (one_in(random_, 2) && !fixed("padding")) {
            a.before = uniform(random_, 0, reach + 1);
            a.after = uniform(random_, 0, reach + 1);
        } else if (one_in(random_, 2) && !fixed("padding")) {
            a.before = a.after = reach / 2;
        }
        // Columns that no output reads, at the end.
        a.unread = uniform(random_, 0, a.stride - 1);
        // A kernel that is larger than the image: padding makes up for it.
        if (one_in(random_, 5) && reach > 0 && !fixed("padding")) {
            const int64_t image = uniform(random_, 1, reach);
            a.before = uniform(random_, 0, reach + 1 - image);
            a.after = reach + 1 - image - a.before;
            a.out = steered(std::string("out_") + suffix, {1});
            a.unread = 0;
        }
    }

    // Of which blocks of 8, 24 or 48, as a field says, have less past the last one.
    int64_t sparing(std::string_view field) {
        if (field.ends_with("_8")) return uniform(random_, 1, 8) + 16 * uniform(random_, 0, 2);
        return field.ends_with("_24") ? uniform(random_, 17, 24) : uniform(random_, 33, 48);
    }

    // Filters, and channels, that fill blocks of 24, 32 or 48, and some that do not.
    void repair_blocks(const Constraint &constraint) {
        const std::string_view name = constraint.field;
        if (name == "filled_32" && constraint.relation == Relation::at_most)
            group_filters_ = allowed("filters_per_group", 1);
        else if (name == "filled_32")
            group_filters_ =
                allowed("filters_per_group", round_up(group_filters_, 32) - one_in(random_, 2));
        else if (name.starts_with("filters_spared") && constraint.relation == Relation::at_least)
            group_filters_ = allowed("filters_per_group", sparing(name));
        else if (name.starts_with("channels_spared") && constraint.relation == Relation::at_least)
            group_channels_ = allowed("channels_per_group", sparing(name));
        else if (name == "channels_above_filters" && constraint.relation == Relation::at_least)
            group_channels_ = allowed("channels_per_group",
                                      std::max(group_channels_, group_filters_ + constraint.value));
    }

    void repair() {
        for (const Constraint &constraint : request_.where) {
            const std::string_view name = constraint.field;
            repair_blocks(constraint);
            if (name == "channels" && !holds(constraint, groups_ * group_channels_)) {
                scale(constraint, "channels_per_group", group_channels_);
            } else if (name == "filters" && !holds(constraint, groups_ * group_filters_)) {
                scale(constraint, "filters_per_group", group_filters_);
            } else if (name == "depth") {
                const int64_t taps = axes_[0].kernel * axes_[1].kernel;
                const int64_t step = constraint.relation == Relation::multiple_of
                                         ? constraint.value / std::gcd(constraint.value, taps)
                                         : 1;
                if (constraint.relation == Relation::at_least) {
                    group_channels_ =
                        std::max(group_channels_, round_up(constraint.value, taps) / taps);
                }
                group_channels_ = allowed("channels_per_group", round_up(group_channels_, step));
            } else if (name == "output_depth" && constraint.relation == Relation::at_least) {
                const int64_t taps = axes_[0].kernel * axes_[1].kernel;
                group_filters_ =
                    allowed("filters_per_group",
                            std::max(group_filters_, round_up(constraint.value, taps) / taps));
            } else if (name == "depth_per_pixel" && constraint.relation == Relation::at_least) {
                // Of tiles there are to be many, for which rows ask before.
                if (range_of(request_.where, "winograd_tiles").first <= 0) {
                    axes_[0].out = allowed("out_h", std::min<int64_t>(axes_[0].out, 2));
                    axes_[1].out = allowed("out_w", std::min<int64_t>(axes_[1].out, 3));
                }
                const int64_t taps = axes_[0].kernel * axes_[1].kernel;
                const int64_t depth = constraint.value * batch_ * axes_[0].out * axes_[1].out;
                group_channels_ = allowed("channels_per_group",
                                          std::max(group_channels_, round_up(depth, taps) / taps));
            } else if (name == "parts" || name == "input_parts") {
                // Long sums, in two slices at least.
                int64_t &terms = name == "parts" ? group_channels_ : group_filters_;
                const int64_t taps = axes_[0].kernel * axes_[1].kernel;
                terms = allowed(name == "parts" ? "channels_per_group" : "filters_per_group",
                                std::max<int64_t>({terms, round_up(1024, taps) / taps, 128}));
            } else if (name == "out_pixels" && constraint.relation == Relation::at_least) {
                const int64_t rows = axes_[0].out;
                axes_[1].out = std::max(axes_[1].out, round_up(constraint.value, rows) / rows);
            } else if (name == "out_pixels" && constraint.relation == Relation::multiple_of) {
                // Rows have a part of the factor, columns the rest.
                int64_t &rows = axes_[0].out, &columns = axes_[1].out;
                rows = allowed("out_h", round_up(rows, one_in(random_, 2) ? 2 : 1));
                columns = allowed("out_w", round_up(columns, constraint.value /
                                                                 std::gcd(constraint.value, rows)));
            } else if (name == "winograd_tiles" && constraint.relation == Relation::at_least) {
                // In rows of four, as a filter that is not prepared needs them too.
                const int64_t across = (axes_[1].out + 3) / 4, down = constraint.value + 12;
                axes_[0].out = std::max(axes_[0].out, 4 * round_up(down, across) / across - 1);
            } else if (name == "weight_size" && constraint.relation == Relation::at_least) {
                const int64_t taps = axes_[0].kernel * axes_[1].kernel;
                const int64_t depth = round_up(constraint.value, group_filters_) / group_filters_;
                group_channels_ = allowed("channels_per_group",
                                          std::max(group_channels_, round_up(depth, taps) / taps));
            } else if ((name == "inputs" || name == "outputs") &&
                       constraint.relation == Relation::at_least) {
                enlarge(constraint.value, name == "inputs");
            } else if (name == "padding" && constraint.relation == Relation::equal &&
                       constraint.value > 0) {
                axes_[0].before = constraint.value;
            } else if (name == "height" && constraint.relation == Relation::multiple_of) {
                const int64_t rows = axes_[0].image();
                axes_[0].out += round_up(rows, constraint.value) - rows;
            } else if (name.starts_with("phase_filled")) {
                fill_vectors(name.ends_with("16") ? 16 : 8);
            } else if (name.ends_with("halo_spared")) {
                widen_rows();
            }
        }
    }

    // So that a tile is of few rows, and of few images.
    void widen_rows() {
        axes_[0].out = allowed("out_h", uniform(random_, 6, 12));
        axes_[1].out = allowed("out_w", uniform(random_, 7, 40));
    }

    // One or two vectors of columns but for a few.
    void fill_vectors(int64_t lanes) {
        axes_[1].out = allowed("out_w", lanes * uniform(random_, 1, 2) - lanes / 8);
    }

    // More images, or more rows, for so many elements of the input or the output. Nothing shrinks
    // what is large.
    void enlarge(int64_t elements, bool of_input) {
        const Conv2dProblem p = assemble();
        const int64_t columns = std::max<int64_t>(of_input ? p.width : p.output_width(), 1);
        const int64_t row = columns * (of_input ? p.channels : p.filters);
        const int64_t rows = std::max<int64_t>(of_input ? p.height : p.output_height(), 1);
        const auto may_grow = [&](const char *side, int64_t size) {
            return allowed(side, size + 1) > size;
        };
        const bool more_rows = may_grow("height", p.height) && may_grow("out_h", axes_[0].out);
        if (!more_rows || one_in(random_, 2)) {
            batch_ = std::max(batch_, round_up(elements, row * rows) / (row * rows));
        } else {
            const int64_t stride = of_input ? axes_[0].stride : 1;
            axes_[0].out += round_up(elements, row * stride) / (row * stride);
        }
    }

    // Padding and unread columns that make up an image of a fixed size.
    void fit_images() {
        for (int axis = 0; axis < 2; axis++) {
            Axis &a = axes_[axis];
            a.before = allowed(axis == 0 ? "padding_top" : "padding_left", a.before);
            const int64_t image = allowed(axis == 0 ? "height" : "width", a.image());
            if (image == a.image()) continue;
            const int64_t missing = image - (a.image() + a.after - a.unread);
            if (missing >= a.stride) continue;
            a.unread = uniform(random_, std::max<int64_t>(missing, 0), a.stride - 1);
            a.after = a.unread - missing;
        }
    }

    // Changes the size of a group, or where that is fixed their number, so that the product holds.
    void scale(const Constraint &constraint, std::string_view of_group, int64_t &size) {
        int64_t &factor = fixed(of_group) ? groups_ : size;
        const int64_t other = fixed(of_group) ? size : groups_;
        if (constraint.relation == Relation::multiple_of) {
            factor = round_up(factor, constraint.value / std::gcd(constraint.value, other));
        } else if (constraint.relation == Relation::at_least) {
            factor = round_up(constraint.value, other) / other;
        } else {
            factor = std::max<int64_t>(constraint.value / other, 1);
        }
    }

    // Halves the largest size again and again, as far as the conditions let it.
    void shrink() {
        const bool large = of_large_problems(request_.where);
        const bool filled = range_of(request_.where, "phase_filled_16").first > 0 ||
                            range_of(request_.where, "phase_filled_8").first > 0;
        const bool halos = std::ranges::any_of(request_.where, [](const Constraint &constraint) {
            return std::string_view(constraint.field).ends_with("halo_spared");
        });
        const bool whole = range_of(request_.where, "out_pixels").step > 1;
        using Size = std::pair<const char *, int64_t *>;
        std::vector<Size> sizes = {{"batch", &batch_}, {"groups", &groups_}};
        if (!halos && !whole && range_of(request_.where, "height").step == 1)
            sizes.push_back({"out_h", &axes_[0].out});
        if (!halos && !filled && !whole) sizes.push_back({"out_w", &axes_[1].out});
        while (!large && operations() > request_.operations && !sizes.empty()) {
            const auto largest = std::ranges::max_element(
                sizes, [](const Size &a, const Size &b) { return *a.second < *b.second; });
            const auto [name, size] = *largest;
            const int64_t smaller = allowed(name, (*size + 1) / 2);
            if (smaller >= *size) sizes.erase(largest);
            *size = std::min(*size, smaller);
        }
    }

    // Of blocks, which compute whole tiles of what a row does not fix.
    double operations() const {
        double result = assemble().operations();
        for (const auto &[name, size] : {std::pair{"channels_per_group", group_channels_},
                                         {"filters_per_group", group_filters_}}) {
            if (fixed(name) || size < 1) continue;
            result *= static_cast<double>(round_up(size, request_.tile)) / double(size);
        }
        return result;
    }

    Conv2dProblem assemble() const {
        const auto &[y, x] = axes_;
        Conv2dProblem p;
        p.type = request_.type;
        p.batch = batch_;
        p.channels = groups_ * group_channels_;
        p.filters = groups_ * group_filters_;
        p.height = y.image();
        p.width = x.image();
        p.kernel_height = y.kernel;
        p.kernel_width = x.kernel;
        p.options.layout = request_.layout;
        p.options.stride = {y.stride, x.stride};
        p.options.dilation = {y.dilation, x.dilation};
        p.options.padding = {y.before, y.after, x.before, x.after};
        p.options.groups = groups_;
        p.options.direct = direct_;
        p.options.allow_tf32 = tf32_;
        return p;
    }

    struct Axis {
        int64_t kernel = 1, stride = 1, dilation = 1, out = 1, before = 0, after = 0, unread = 0;

        int64_t reach() const { return dilation * (kernel - 1); }
        int64_t image() const { return (out - 1) * stride + reach() + 1 - before - after + unread; }
    };

    Random &random_;
    const Conv2dRequest &request_;
    int64_t groups_ = 1, group_channels_ = 1, group_filters_ = 1, batch_ = 1;
    bool direct_ = false, tf32_ = false;
    std::array<Axis, 2> axes_;
};

}  // namespace

std::optional<Conv2dProblem> random_problem(Random &random, const Conv2dRequest &request) {
    return Draw(random, request).problem();
}

Shape image_shape(Layout layout, int64_t n, int64_t y, int64_t x, int64_t c) {
    return layout == Layout::nhwc ? Shape{n, y, x, c} : Shape{n, c, y, x};
}

Shape input_shape(const Conv2dProblem &p) {
    return image_shape(p.options.layout, p.batch, p.height, p.width, p.channels);
}

Shape weight_shape(const Conv2dProblem &p) {
    return image_shape(p.options.layout, p.filters, p.kernel_height, p.kernel_width,
                       p.channels / p.options.groups);
}

PartProblem problem_of(const Conv2dProblem &p, const Part &part) {
    PartProblem result{p, 0, 0};
    Conv2dProblem &cut = result.problem;
    Padding &padding = cut.options.padding;
    const auto axis = [&](int d, int64_t start, int64_t count, int64_t kernel, int64_t &size,
                          int64_t &before, int64_t &after) {
        const int64_t first = start * p.options.stride[d] - before;
        const int64_t last =
            first + (count - 1) * p.options.stride[d] + (kernel - 1) * p.options.dilation[d];
        const int64_t begin = std::max<int64_t>(first, 0), end = std::min(last, size - 1);
        before = begin - first;
        after = last - end;
        size = end - begin + 1;
        return begin;
    };
    result.input_y =
        axis(0, part.y, part.height, p.kernel_height, cut.height, padding.top, padding.bottom);
    result.input_x =
        axis(1, part.x, part.width, p.kernel_width, cut.width, padding.left, padding.right);
    return result;
}

Tensor slice_of(const Tensor &image, Layout layout, const Part &part) {
    const int y = layout == Layout::nhwc ? 1 : 2;
    return image.slice(y, part.y, part.height).slice(y + 1, part.x, part.width);
}

std::string to_string(const Conv2dProblem &p) {
    const Conv2dOptions &o = p.options;
    std::ostringstream text;
    text << hk::name_of(p.type) << ' ' << hk::name_of(o.layout) << " batch " << p.batch
         << " channels " << p.channels << " image " << p.height << 'x' << p.width << " filters "
         << p.filters << " kernel " << p.kernel_height << 'x' << p.kernel_width << " groups "
         << o.groups << " stride " << o.stride[0] << ',' << o.stride[1] << " dilation "
         << o.dilation[0] << ',' << o.dilation[1] << " padding top " << o.padding.top << " bottom "
         << o.padding.bottom << " left " << o.padding.left << " right " << o.padding.right
         << " output " << p.output_height() << 'x' << p.output_width()
         << (o.direct ? " direct" : "") << (o.allow_tf32 ? " TF32 " : " ")
         << hk::name_of(o.activation) << '(' << o.alpha << ", " << o.beta << ')';
    return text.str();
}

std::string name_of_place(int64_t height, int64_t width, int64_t channels, size_t place,
                          char channel) {
    const auto i = static_cast<int64_t>(place);
    std::ostringstream text;
    text << "n " << i / (channels * width * height) << " y " << i / (channels * width) % height
         << " x " << i / channels % width << " " << channel << " " << i % channels;
    return text.str();
}

std::string name_of_place(const Conv2dProblem &p, size_t place) {
    return name_of_place(p.output_height(), p.output_width(), p.filters, place, 'k');
}

}  // namespace hk::test
