// hk::softmax_cross_entropy: loss and gradient, apart and in place.

#include "hk/softmax_cross_entropy.h"

#include <algorithm>

#include "tests/fuzz/compare.h"
#include "tests/fuzz/family.h"
#include "tests/reference/elements.h"
#include "tests/softmax_cross_entropy/case.h"

namespace hk::fuzz {
Result softmax_cross_entropy(Case &c) {
    test::SoftmaxRequest request{draw_type(c.random),
                                 draw_conditions(c, softmax_cross_entropy_kernels()),
                                 one_in(c.random, 10) ? 2e4 : 2e3};
    auto drawn = test::random_case<test::SoftmaxCase>(c.random(), request);
    while (!drawn || drawn->rows * drawn->classes > 200000) {
        request.where = {};
        drawn = test::random_case<test::SoftmaxCase>(c.random(), request);
    }
    test::SoftmaxCase d = *drawn;
    if (one_in(c.random, 50)) test::make_empty(d);
    const Shape shape{d.rows, d.classes};
    const Use use = d.in_place ? Use::update : Use::read;
    std::vector<double> which = reference::read(test::labels_of(d));
    if (!which.empty() && c.hits(8)) {
        which.back() = pick(c.random, std::vector<double>{-1, static_cast<double>(d.classes),
                                                          2147483647, -2147483648.});
        c.act("a label is " + std::to_string(which.back()));
    }
    float scale = d.scale;
    c.spoil(scale);
    const Operand &logits =
        c.place({"logits", use, shape, d.type, listed(reference::read(test::logits_of(d))), true});
    const Operand &labels =
        c.place({"labels", Use::read, {d.rows}, d.labels, listed(which), false, false, false});
    const Operand &loss =
        d.loss ? c.place({"loss", Use::write, {d.rows}, DataType::f32}) : Case::none();
    const Operand &gradient =
        !d.gradient ? Case::none()
        : d.in_place && !c.misplaces()
            ? logits
            : c.place({"gradient", Use::write, shape, d.type, whole(0, 0), true});
    c.tell(test::to_string(d));
    const auto call = [&] {
        const Output output = d.in_place ? inplace(gradient.tensor) : Output(gradient.tensor);
        hk::softmax_cross_entropy(logits.tensor, labels.tensor, loss.tensor, output, scale);
    };
    return c.run(call, [&]() -> std::string {
        const Tensor &x = logits.before;
        const int64_t classes = x.shape()[1];
        std::vector<int64_t> label_values;
        for (const double label : reference::read(labels.before)) {
            const bool outside = label < 0 || label >= static_cast<double>(classes);
            if (outside && c.device.is_cpu()) return "a label out of range was accepted";
            label_values.push_back(
                std::clamp<int64_t>(static_cast<int64_t>(label), 0, classes - 1));
        }
        const auto wanted = reference::softmax_cross_entropy(
            reference::read(x), static_cast<size_t>(classes), label_values, scale);
        std::string wrong;
        if (loss.before.defined()) wrong += test::compare_loss(classes, wanted, loss.after());
        if (gradient.before.defined()) {
            wrong += test::compare_gradient(scale, wanted, gradient.after());
        }
        return wrong;
    });
}

}  // namespace hk::fuzz
