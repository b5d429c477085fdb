// hk::topk into outputs, and the calls that make new ones.

#include "hk/topk.h"

#include "tests/fuzz/compare.h"
#include "tests/fuzz/family.h"
#include "tests/reference/elements.h"
#include "tests/topk/reference.h"
#include "tests/topk/case.h"

namespace hk::fuzz {
namespace {

test::TopKCase draw_case(Case &c) {
    const auto kernels = topk_kernels();
    test::TopKRequest request{{}, draw_conditions(c, kernels), one_in(c.random, 10) ? 2e4 : 2e3};
    request.types.push_back(
        static_cast<DataType>(uniform(c.random, 0, static_cast<int64_t>(DataType::u64))));
    for (;;) {
        auto drawn = test::random_case<test::TopKCase>(c.random(), request);
        double elements = 1;
        for (const int64_t extent : drawn ? drawn->shape : Shape()) {
            elements *= static_cast<double>(extent);
        }
        if (!drawn || elements > 1e5) {
            request.where = {};
            continue;
        }
        if (one_in(c.random, 50)) test::make_empty(*drawn);
        return *drawn;
    }
}

// Into new tensors, by one of the shorter calls.
TopK made_new(const test::TopKCase &d, const Tensor &input, int64_t kind) {
    switch (kind) {
        case 0:
            return {topk_values(input, d.k, d.options()), {}};
        case 1:
            return {{}, topk_indices(input, d.k, d.options())};
        default:
            return hk::topk(input, d.k, d.options());
    }
}

}  // namespace

Result topk(Case &c) {
    test::TopKCase d = draw_case(c);
    const std::vector<uint64_t> bits = reference::bits(test::topk_input(d));
    // Seconds of work each.
    if (c.hits(2000)) {
        d.shape = {(int64_t{1} << 31) - uniform(c.random, 0, 140)};
        d.axis = 0;
        d.k = 3;
        c.act("a row around 2^31");
    }
    const Operand &input = c.place({"input", Use::read, d.shape, d.type, whole(0, 100)});
    // The patterns' own bits, which numbers can't tell.
    if (c.untouched() && input.tensor.elements() == static_cast<int64_t>(bits.size())) {
        reference::write_bits(input.tensor, bits);
    }
    c.tell(test::to_string(d));
    TopKOptions options = d.options();
    int64_t axis = options.axis, k = d.k;
    const Shape shape = d.output_shape();
    c.spoil(axis);
    c.spoil(k);
    c.spoil_enum(options.order);
    options.axis = d.axis = static_cast<int>(axis);
    d.order = options.order;
    d.k = k;
    const bool into_new = one_in(c.random, 4);
    const int64_t kind = uniform(c.random, 0, 2);
    if (into_new) d.index_type = DataType::s64;
    const auto written = [&](const char *name, DataType type, bool wanted) -> const Operand & {
        return wanted && !into_new ? c.place({name, Use::write, shape, type}) : Case::none();
    };
    const Operand &values = written("values", d.type, d.values);
    const Operand &indices = written("indices", d.index_type, d.indices);
    TopK made;
    const auto call = [&] {
        if (into_new) {
            made = made_new(d, input.tensor, kind);
        } else {
            hk::topk(input.tensor, k, values.tensor, indices.tensor, options);
        }
    };
    return c.run(call, [&]() -> std::string {
        if (options.order > Order::smallest) return "an order that is none was accepted";
        const DataType type = indices.before.defined() ? indices.before.type() : DataType::s64;
        const auto wanted = reference::topk(input.before, k, options.axis, options.order, type);
        const Tensor got_values = into_new                  ? made.values
                                  : values.before.defined() ? values.after()
                                                            : Tensor();
        const Tensor got_indices = into_new                   ? made.indices
                                   : indices.before.defined() ? indices.after()
                                                              : Tensor();
        std::string wrong;
        if (got_values.defined())
            wrong += test::differing(got_values.to(Device::cpu()), wanted.values);
        if (got_indices.defined())
            wrong += test::differing(got_indices.to(Device::cpu()), wanted.indices);
        return wrong;
    });
}

}  // namespace hk::fuzz
