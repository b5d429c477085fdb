// hk::tensor_product and its gradients, with maps of all forms.

#include "hk/tensor_product.h"

#include "hk/tensor_product_backward.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/family.h"
#include "tests/reference/elements.h"
#include "tests/tensor_product/case.h"

namespace hk::fuzz {
namespace {

using test::Product;

struct Call {
    Product product;
    TensorProductOptions options;
    int64_t input_rows, output_rows;
    bool check_maps = true;
    // input, weight and output of the forward product, whichever of them is computed.
    const Operand *input, *weight, *output, *imap, *omap, *starts;

    void operator()() const {
        const TensorProductMaps maps(imap->tensor, omap->tensor, input_rows, output_rows,
                                     starts->tensor, check_maps);
        const Tensor &x = input->tensor, &w = weight->tensor, &y = output->tensor;
        switch (product) {
            case Product::output:
                return hk::tensor_product(x, w, maps, y, options);
            case Product::input_gradient:
                return tensor_product_backward_data(y, w, maps, x, options);
            case Product::weight_gradient:
                return tensor_product_backward_weight(x, y, maps, w, options);
        }
    }

    const Operand &result() const {
        return product == Product::output           ? *output
               : product == Product::input_gradient ? *input
                                                    : *weight;
    }

    // What is wrong of maps that were accepted.
    std::string maps_fault() const {
        const auto outside = [](const Tensor &map, int64_t rows) {
            for (const double index : reference::read(map)) {
                if (index < -1 || index >= static_cast<double>(rows)) return true;
            }
            return false;
        };
        if (outside(imap->before, input_rows) || outside(omap->before, output_rows)) {
            return "an index out of range was accepted";
        }
        if (!starts->before.defined()) return "";
        const std::vector<double> ends = reference::read(starts->before);
        if (ends.empty() || ends.front() != 0 ||
            ends.back() != static_cast<double>(imap->before.elements())) {
            return "starts that leave pairs out were accepted";
        }
        return "";
    }

    std::string check() const {
        if (const std::string wrong = maps_fault(); !wrong.empty()) return wrong;
        if (options.summation > Summation::atomic) return "a summation that is none was accepted";
        const Tensor &x = input->before, &w = weight->before, &y = output->before;
        const double pairs = static_cast<double>(imap->before.elements());
        if (pairs * static_cast<double>(w.shape()[1] * w.shape()[2]) > 4e6) return "";
        const reference::TensorProductPairs maps{imap->before, omap->before, starts->before};
        const auto wanted = product == Product::output
                                ? reference::tensor_product(x, w, maps, y, options)
                            : product == Product::input_gradient
                                ? reference::tensor_product_backward_data(y, w, maps, x, options)
                                : reference::tensor_product_backward_weight(x, y, maps, w, options);
        return test::compare(false, wanted, result().after());
    }
};

test::TensorProductCase draw_case(Case &c) {
    const std::vector<DataType> types{DataType::f32, DataType::f32, DataType::f16, DataType::bf16,
                                      DataType::f64};
    const auto product = static_cast<Product>(uniform(c.random, 0, 2));
    test::TensorProductRequest request{pick(c.random, types), {}, 5e4, product};
    for (;;) {
        auto drawn = test::random_case<test::TensorProductCase>(c.random(), request);
        if (!drawn) continue;
        test::TensorProductCase d = *drawn;
        // Small ones, mostly.
        if (!one_in(c.random, 8)) {
            d.input_rows = uniform(c.random, 1, 40);
            d.output_rows = uniform(c.random, 1, 40);
            d.length = std::min<int64_t>(d.length, 30);
            d.input_channels = std::min<int64_t>(d.input_channels, uniform(c.random, 1, 33));
            d.output_channels = std::min<int64_t>(d.output_channels, uniform(c.random, 1, 33));
        }
        if (one_in(c.random, 50)) test::make_empty(d);
        return d;
    }
}

// A map's values, of which a hostile case spoils one.
Values map_values(Case &c, const Tensor &map) {
    std::vector<double> values = reference::read(map);
    if (!values.empty() && c.hits(10)) {
        double &one = values[static_cast<size_t>(uniform(c.random, 0, std::ssize(values) - 1))];
        one = pick(c.random,
                   std::vector<double>{-2, -1, one + 1, one - 1, 1e9, 2147483647, -2147483648.});
        c.act("an index is " + std::to_string(one));
    }
    return listed(std::move(values));
}

}  // namespace

Result tensor_product(Case &c) {
    const test::TensorProductCase d = draw_case(c);
    const test::TensorProductData data = test::tensor_product_data(d);
    Call call{};
    call.product = d.product;
    call.options = {d.summation, d.accumulate, d.groups};
    call.input_rows = d.input_rows;
    call.output_rows = d.output_rows;
    call.check_maps = d.check_maps || c.hostile();
    c.spoil_enum(call.options.summation);
    c.spoil(call.options.groups);
    c.spoil(call.input_rows);
    c.spoil(call.output_rows);
    const auto factor = [&](const char *name, Product product, const Tensor &values) {
        const Use computed = d.accumulate ? Use::update : Use::write;
        return &c.place({name, d.product == product ? computed : Use::read, values.shape(), d.type,
                         listed(reference::read(values))});
    };
    const bool on_host = one_in(c.random, 2);
    const auto map = [&](const char *name, const Tensor &values) {
        Wanted wanted{name, Use::read, values.shape(), d.index_type, map_values(c, values)};
        wanted.repeats = false;
        wanted.host = on_host;
        return &c.place(wanted);
    };
    call.input = factor("input", Product::input_gradient, data.input);
    call.weight = factor("weight", Product::weight_gradient, data.weight);
    call.output = factor("output", Product::output, data.output);
    call.imap = map("imap", data.imap);
    call.omap = map("omap", data.omap);
    call.starts = d.ragged ? map("starts", data.starts) : &Case::none();
    c.tell(test::to_string(d));
    return c.run([&] { call(); }, [&] { return call.check(); });
}

}  // namespace hk::fuzz
