#include "tests/fuzz/compare.h"

#include "tests/convolution/random_problem.h"
#include "tests/support/checked_call.h"

namespace hk::fuzz {
namespace {

constexpr double kMostOperations = 4e6;
constexpr double kMostSpoilt = 1e10;  // that are not checked

}  // namespace

std::string compare(DataType type, const std::vector<double> &got, const std::vector<double> &value,
                    const std::vector<double> &magnitude, int64_t terms,
                    const ActivationOptions &activation) {
    if (got.size() != value.size()) {
        return std::to_string(got.size()) + " elements, not " + std::to_string(value.size());
    }
    return test::differences([](size_t i) { return "element " + std::to_string(i); }, got,
                             [&](size_t i) {
                                 return test::fault_of_sum(type, got[i], value[i], magnitude[i],
                                                           terms, false, activation);
                             });
}

DataType draw_type(Random &random) {
    return pick(random,
                std::vector<DataType>{DataType::f32, DataType::f32, DataType::f16, DataType::bf16});
}

Layout draw_layout(Random &random) { return one_in(random, 2) ? Layout::nhwc : Layout::nchw; }

void draw_activation(Case &c, Activation last, Activation &activation, float &alpha, float &beta) {
    activation = static_cast<Activation>(uniform(c.random, 0, static_cast<int64_t>(last)));
    alpha = beta = 0;
    if (activation == Activation::clamp) {
        alpha = -0.75f;
        beta = 6;
    } else if (activation == Activation::leaky_relu) {
        alpha = one_in(c.random, 4) ? -0.5f : 0.25f;
    }
    c.spoil_enum(activation);
    if (activation > last) c.leave_unchecked();
    c.spoil(alpha);
    c.spoil(beta);
}

void widen(Case &c, Conv2dProblem &p) {
    const bool rows = one_in(c.random, 2);
    Conv2dOptions &o = p.options;
    const size_t axis = rows ? 0 : 1;
    int64_t &extent = rows ? p.height : p.width, &kernel = rows ? p.kernel_height : p.kernel_width;
    int64_t &before = rows ? o.padding.top : o.padding.left;
    int64_t &after = rows ? o.padding.bottom : o.padding.right;
    const int64_t kind = uniform(c.random, 0, 3);
    // All images of a batch are computed: rarely so many that it takes seconds.
    const int most = kind == 3 && !one_in(c.random, 64) ? 20 : 32;
    const int64_t edge = (int64_t{1} << uniform(c.random, 16, most)) + uniform(c.random, -2, 2);
    before = after = 0;
    kernel = 1;
    o.dilation[axis] = 1;
    const int64_t out = uniform(c.random, 1, 3);
    if (kind == 0) {  // a long step
        o.stride[axis] = edge;
        extent = (out - 1) * edge + 1 + uniform(c.random, 0, 2);
    } else if (kind == 1) {  // a wide filter
        o.dilation[axis] = edge;
        kernel = 2;
        extent = edge + out;
        o.stride[axis] = 1;
    } else if (kind == 2) {  // wide padding
        o.stride[axis] = edge;
        before = edge * uniform(c.random, 0, 1) + uniform(c.random, 0, 3);
        extent = uniform(c.random, 1, 5);
        after = std::max<int64_t>((out - 1) * edge + 1 - before - extent, 0);
    } else {  // a batch
        p.batch = edge;
        p.channels = p.filters = o.groups = 1;
        p.height = p.width = extent = kernel = 1;
        p.kernel_height = p.kernel_width = 1;
        o.padding = {};
    }
    c.act("sizes around " + std::to_string(edge));
}

std::span<const Constraint> draw_conditions(Case &c, std::span<const KernelInfo> kernels) {
    if (!one_in(c.random, 4) || kernels.empty()) return {};
    return kernels[static_cast<size_t>(uniform(c.random, 0, std::ssize(kernels) - 1))].where;
}

Conv2dProblem draw_convolution(Case &c, DataType type, Layout layout,
                               std::span<const KernelInfo> kernels) {
    test::Conv2dRequest request{type, layout, test::Data::integers, {}, 2e5};
    std::vector<Constraint> where;
    for (const Constraint &condition : draw_conditions(c, kernels)) {
        const std::string_view field = condition.field;
        const bool of_call = field == "prepared" || field == "groups_in_place" ||
                             field == "output_bytes" || field == "window";
        if (!of_call) where.push_back(condition);
    }
    request.where = where;
    for (;;) {
        const auto problem = test::random_problem(c.random, request);
        if (!problem || problem->operations() > kMostOperations) {
            request.where = {};
            continue;
        }
        Conv2dProblem p = *problem;
        if (c.hits(6)) widen(c, p);
        if (one_in(c.random, 50)) p.batch = 0;
        return p;
    }
}

namespace {

// Of a padded axis; 0 where it is beyond what a call accepts.
double outputs(double extent, double padding, double kernel, double dilation, double stride) {
    const double padded = extent + padding;
    if (padded >= 0x1p31) return 0;
    return std::max(0., (padded - dilation * (kernel - 1) - 1) / std::max(stride, 1.) + 1);
}

// As p.operations(), of options that may be invalid.
double operations(const Conv2dProblem &p, const Conv2dOptions &o) {
    const auto real = [](int64_t number) { return static_cast<double>(number); };
    const double rows = outputs(real(p.height), real(o.padding.top) + real(o.padding.bottom),
                                real(p.kernel_height), real(o.dilation[0]), real(o.stride[0]));
    const double columns = outputs(real(p.width), real(o.padding.left) + real(o.padding.right),
                                   real(p.kernel_width), real(o.dilation[1]), real(o.stride[1]));
    const double terms = real(p.kernel_height) * real(p.kernel_width) * real(p.channels) /
                         std::max(real(o.groups), 1.);
    return 2 * real(p.batch) * rows * columns * real(p.filters) * terms;
}

}  // namespace

void spoil(Case &c, const Conv2dProblem &problem, Conv2dOptions &o) {
    const Conv2dOptions before = o;
    c.spoil_enum(o.layout);
    Padding &p = o.padding;
    for (int64_t *number : {&o.stride[0], &o.stride[1], &o.dilation[0], &o.dilation[1], &p.top,
                            &p.bottom, &p.left, &p.right, &o.groups}) {
        c.spoil(*number);
    }
    if (operations(problem, o) > std::max(kMostSpoilt, operations(problem, before))) {
        o = before;
        c.act("which would take minutes, and is undone");
    }
}

std::string accepted(const Conv2dOptions &options) {
    if (options.layout > Layout::nchw) return "a layout that is none was accepted";
    if (options.activation > Activation::gelu) return "an activation that is none was accepted";
    return "";
}

bool small(const Conv2dProblem &problem) { return problem.operations() <= 2 * kMostOperations; }

}  // namespace hk::fuzz
