#include "tests/softmax_cross_entropy/case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/reference/elements.h"
#include "tests/support/conditions.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

constexpr const char *kLogits[] = {"ordinary",        "far",   "equal", "with NaNs",
                                   "with infinities", "masked"};

// What is not finite, in every second row; of a mask in every second class.
void spoil(Random &random, const SoftmaxCase &c, std::vector<double> &values) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto classes = static_cast<size_t>(c.classes);
    for (size_t n = 0; n < static_cast<size_t>(c.rows); n += 2) {
        double *const row = &values[n * classes];
        const auto one = static_cast<size_t>(uniform(random, 0, c.classes - 1));
        if (c.logits == Logits::one_nan) row[one] = std::numeric_limits<double>::quiet_NaN();
        if (c.logits == Logits::one_infinity) row[one] = kInfinity;
        for (size_t i = 0; i < classes && c.logits == Logits::masked; i++) {
            if (i != one && one_in(random, 2)) row[i] = -kInfinity;
        }
    }
}

using Result = reference::SoftmaxCrossEntropyResult;

}  // namespace

template<>
std::optional<SoftmaxCase> random_case(uint64_t seed, const SoftmaxRequest &request) {
    Random random(seed);
    SoftmaxCase c;
    c.seed = seed;
    c.type = request.type;
    c.classes = pick(random, std::vector<int64_t>{1, 2, 3, 7, 10, 15, 16, 17, 31, 33, 64, 100, 255,
                                                  256, 257, 512, 513, 1000, 1025});
    c.classes = range_of(request.where, "classes").moved(c.classes);
    const auto most = static_cast<int64_t>(request.elements) / c.classes;
    c.rows = uniform(random, 1, std::clamp<int64_t>(most, 1, 40));
    c.rows = range_of(request.where, "rows").moved(c.rows);
    c.logits = static_cast<Logits>(uniform(random, 0, 5));
    c.gradient = !one_in(random, 4);
    c.loss = !c.gradient || !one_in(random, 4);
    c.in_place = c.gradient && one_in(random, 2);
    c.scale = pick(random, std::vector<float>{1, 0, -1, 0.25f, 1.f / 3, 2});
    const std::vector<Placement> places{Placement::packed, Placement::margins, Placement::steps};
    c.logits_at = pick(random, places);
    c.gradient_at = pick(random, places);
    c.vectors_at = pick(random, std::vector<Placement>{Placement::packed, Placement::margins,
                                                       Placement::reversed, Placement::permuted});
    c.labels = one_in(random, 2) ? DataType::s32 : DataType::s64;
    return c;
}

void make_empty(SoftmaxCase &c) { c.rows = 0; }

std::string to_string(const SoftmaxCase &c) {
    std::ostringstream text;
    text << "softmax cross-entropy " << hk::name_of(c.type) << ", " << c.rows << " rows of "
         << c.classes << " logits " << kLogits[static_cast<int>(c.logits)] << ", scale " << c.scale
         << (c.loss ? ", loss" : "") << (c.gradient ? ", gradient" : "")
         << (c.in_place ? " in place" : "") << "; logits " << name_of(c.logits_at) << ", gradient "
         << name_of(c.gradient_at) << ", labels " << hk::name_of(c.labels) << " and loss "
         << name_of(c.vectors_at);
    return text.str();
}

Tensor logits_of(const SoftmaxCase &c) {
    Random random(c.seed + 1);
    const Shape shape{c.rows, c.classes};
    std::vector<double> values = reals(random, shape);
    const double width = c.logits == Logits::far ? 400 : 8;
    for (size_t i = 0; i < values.size(); i++) {
        values[i] = c.logits == Logits::equal
                        ? static_cast<double>(i / static_cast<size_t>(c.classes))
                        : width * values[i];
    }
    spoil(random, c, values);
    return host_tensor(shape, c.type, values);
}

Tensor labels_of(const SoftmaxCase &c) {
    Random random(c.seed + 2);
    return host_tensor({c.rows}, c.labels, whole_numbers(random, {c.rows}, 0, c.classes - 1));
}

std::string compare_loss(int64_t classes, const Result &wanted, const Tensor &loss) {
    const std::vector<double> got = reference::read(loss);
    const auto fault_of = [&](size_t n) {
        return fault(DataType::f32, got[n], wanted.loss[n],
                     reference::loss_tolerance(classes, wanted.loss[n]));
    };
    const auto place = [](size_t n) { return "n " + std::to_string(n); };
    return differences(place, got, fault_of) + unwritten(loss);
}

std::string compare_gradient(double scale, const Result &wanted, const Tensor &gradient) {
    const std::vector<double> got = reference::read(gradient);
    const int64_t classes = gradient.shape()[1];
    const auto fault_of = [&](size_t i) {
        const double value = wanted.gradient[i];
        return fault(gradient.type(), got[i], value,
                     reference::gradient_tolerance(gradient.type(), classes, value,
                                                   wanted.probability[i], scale));
    };
    const auto place = [&](size_t i) {
        const auto at = static_cast<int64_t>(i);
        return "n " + std::to_string(at / classes) + " c " + std::to_string(at % classes);
    };
    return differences(place, got, fault_of) + unwritten(gradient);
}

Outcome check(const SoftmaxCase &c, Device device, const KernelInfo *row) {
    const Tensor values = logits_of(c), which = labels_of(c);
    std::vector<int64_t> label_values;
    for (const double label : reference::read(which)) {
        label_values.push_back(static_cast<int64_t>(label));
    }
    const Result wanted =
        reference::softmax_cross_entropy(reference::read(values), static_cast<size_t>(c.classes),
                                         label_values, static_cast<double>(c.scale));
    Random random(c.seed + 3);
    const Placed logits(values, device, c.logits_at, random);
    const Placed labels(which, device, c.vectors_at, random);
    std::optional<Placed> loss, gradient;
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"labels", &labels}};
    if (c.loss) {
        loss.emplace(Shape{c.rows}, DataType::f32, device, c.vectors_at, random);
        checked.outputs.push_back({"loss", &*loss, [&](const Tensor &result) {
                                       return compare_loss(c.classes, wanted, result);
                                   }});
    }
    if (c.gradient && !c.in_place) {
        gradient.emplace(Shape{c.rows, c.classes}, c.type, device, c.gradient_at, random);
    }
    if (c.gradient) {
        checked.outputs.push_back(
            {"gradient", c.in_place ? &logits : &*gradient,
             [&](const Tensor &result) { return compare_gradient(c.scale, wanted, result); }});
    }
    if (!c.in_place) checked.inputs.push_back({"logits", &logits});
    checked.call = [&] {
        const Tensor apart = tensor_of(gradient), losses = tensor_of(loss);
        const Output output = c.in_place ? inplace(logits.tensor()) : Output(apart);
        row ? softmax_cross_entropy_with(*row, logits.tensor(), labels.tensor(), losses, output,
                                         c.scale)
            : softmax_cross_entropy(logits.tensor(), labels.tensor(), losses, output, c.scale);
    };
    return checked.run();
}

}  // namespace hk::test
