#include "tests/topk/check.h"

#include <sstream>

#include "tests/reference/elements.h"
#include "tests/topk/reference.h"

namespace hk::test {

std::string differing(const Tensor &got, const Tensor &wanted) {
    const std::vector<uint64_t> have = reference::bits(got), want = reference::bits(wanted);
    std::ostringstream text;
    size_t wrong = 0;
    for (size_t i = 0; i < want.size(); i++) {
        if (have[i] != want[i] && wrong++ < 4) {
            text << "\n        " << i << ": 0x" << std::hex << have[i] << ", should be 0x"
                 << want[i] << std::dec;
        }
    }
    return wrong ? std::to_string(wrong) + " of " + std::to_string(want.size()) + " elements" +
                       text.str()
                 : "";
}

Outcome check(const TopKCase &c, Device device, const KernelInfo *row) {
    const Tensor elements = topk_input(c);
    const auto wanted = reference::topk(elements, c.k, c.axis, c.order, c.index_type);
    Random random(c.seed + 2);
    const Placed input(elements, device, c.input, random);
    std::optional<Placed> values, indices;
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"input", &input}};
    if (c.values) {
        values.emplace(c.output_shape(), c.type, device, c.values_at, random);
        checked.outputs.push_back({"values", &*values, [&](const Tensor &result) {
                                       return differing(result, wanted.values);
                                   }});
    }
    if (c.indices) {
        indices.emplace(c.output_shape(), c.index_type, device, c.indices_at, random);
        checked.outputs.push_back({"indices", &*indices, [&](const Tensor &result) {
                                       return differing(result, wanted.indices);
                                   }});
    }
    checked.call = [&] {
        if (row) {
            topk_with(*row, input.tensor(), c.k, tensor_of(values), tensor_of(indices),
                      c.options());
        } else {
            topk(input.tensor(), c.k, tensor_of(values), tensor_of(indices), c.options());
        }
    };
    return checked.run();
}

}  // namespace hk::test
