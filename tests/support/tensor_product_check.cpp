#include "tests/support/tensor_product_check.h"

#include <cmath>

#include "tests/reference/elements.h"
#include "tests/reference/tensor_product.h"
#include "tests/support/tolerance.h"

namespace hk::test {
namespace {

// In f64 the reference is rounded as the kernel is.
double off_at_most(DataType type, int64_t terms, double value, double magnitude) {
    if (type != DataType::f64) return tolerance(type, terms, value, magnitude, {});
    return 2 * static_cast<double>(terms + 2) * std::ldexp(1, -53) * magnitude;
}

std::string compare(const TensorProductCase &c, const reference::TensorProductResult &wanted,
                    const Tensor &result) {
    const int64_t width = c.groups * c.output_channels;
    const std::vector<double> got = reference::read(result);
    const auto place = [&](size_t i) {
        const auto at = static_cast<int64_t>(i);
        return "row " + std::to_string(at / width) + " channel " + std::to_string(at % width);
    };
    return differences(place, got, [&](size_t i) -> std::string {
        const double value = wanted.values[i];
        if (c.data == Data::integers) {
            const double rounded = reference::rounded(c.type, value);
            return got[i] == rounded ? "" : std::to_string(rounded);
        }
        const int64_t terms = wanted.terms[i / static_cast<size_t>(width)];
        const double bound = off_at_most(c.type, terms, value, wanted.magnitudes[i]);
        return close(c.type, got[i], value, bound)
                   ? ""
                   : std::to_string(value) + " within " + std::to_string(bound);
    });
}

}  // namespace

Outcome check(const TensorProductCase &c, Device device, const KernelInfo *row) {
    const TensorProductData data = tensor_product_data(c);
    TensorProductOptions options{.summation = c.summation,
                                 .accumulate = c.accumulate,
                                 .groups = c.groups,
                                 .check_maps = c.check_maps,
                                 .starts = data.starts};
    const auto wanted = reference::tensor_product(data.input, data.weight, data.imap, data.omap,
                                                  data.output, options);
    Random random(c.seed + 2);
    const Placed input(data.input, device, c.input, random);
    const Placed weight(data.weight, device, c.weight, random);
    const Placed imap(data.imap, device, c.maps, random), omap(data.omap, device, c.maps, random);
    std::optional<Placed> starts;
    if (c.ragged) starts.emplace(data.starts, device, c.maps, random);
    options.starts = tensor_of(starts);
    const Placed output = c.accumulate ? Placed(data.output, device, c.output, random)
                                       : Placed(c.output_shape(), c.type, device, c.output, random);
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{"input", &input},
                      {"weight", &weight},
                      {"imap", &imap},
                      {"omap", &omap},
                      {"starts", address_of(starts)}};
    checked.outputs = {
        {"output", &output, [&](const Tensor &result) { return compare(c, wanted, result); }}};
    checked.call = [&] {
        if (row) {
            tensor_product_with(*row, input.tensor(), weight.tensor(), imap.tensor(), omap.tensor(),
                                output.tensor(), options);
        } else {
            tensor_product(input.tensor(), weight.tensor(), imap.tensor(), omap.tensor(),
                           output.tensor(), options);
        }
    };
    return checked.run();
}

}  // namespace hk::test
