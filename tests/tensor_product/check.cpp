#include "tests/tensor_product/check.h"

#include <cmath>

#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"

namespace hk::test {
namespace {

// In f64 the reference is rounded as the kernel is.
double off_at_most(DataType type, int64_t terms, double value, double magnitude) {
    if (type != DataType::f64) return reference::tolerance(type, terms, value, magnitude);
    return 2 * static_cast<double>(terms + 2) * std::ldexp(1, -53) * magnitude;
}

// The tensors in the order that the functions take them: two that are read, then the result.
struct Roles {
    const char *first_name, *second_name, *result_name;
    Tensor TensorProductData::*first, TensorProductData::*second, TensorProductData::*result;
    Placement TensorProductCase::*first_placement, TensorProductCase::*second_placement,
        TensorProductCase::*result_placement;
    decltype(&reference::tensor_product) reference;
    void (*run)(const Tensor &, const Tensor &, const TensorProductMaps &, const Tensor &,
                const TensorProductOptions &, const Stream &);
    decltype(&tensor_product_with) run_row;
};

Roles roles_of(Product product) {
    using D = TensorProductData;
    using C = TensorProductCase;
    switch (product) {
        case Product::input_gradient:
            return {"output_gradient",
                    "weight",
                    "input_gradient",
                    &D::output,
                    &D::weight,
                    &D::input,
                    &C::output,
                    &C::weight,
                    &C::input,
                    reference::tensor_product_backward_data,
                    tensor_product_backward_data,
                    tensor_product_backward_data_with};
        case Product::weight_gradient:
            return {"input",
                    "output_gradient",
                    "weight_gradient",
                    &D::input,
                    &D::output,
                    &D::weight,
                    &C::input,
                    &C::output,
                    &C::weight,
                    reference::tensor_product_backward_weight,
                    tensor_product_backward_weight,
                    tensor_product_backward_weight_with};
        default:
            return {"input",        "weight",
                    "output",       &D::input,
                    &D::weight,     &D::output,
                    &C::input,      &C::weight,
                    &C::output,     reference::tensor_product,
                    tensor_product, tensor_product_with};
    }
}

}  // namespace

std::string compare(bool exact, const reference::TensorProductResult &wanted,
                    const Tensor &result) {
    const std::vector<double> got = reference::read(result);
    const DataType type = result.type();
    const Shape &shape = result.shape();
    const auto place = [&](size_t i) {
        const auto at = static_cast<int64_t>(i), width = shape[shape.size() - 1];
        const std::string channel = " channel " + std::to_string(at % width);
        if (shape.size() == 2) return "row " + std::to_string(at / width) + channel;
        return "offset " + std::to_string(at / width / shape[1]) + " input channel " +
               std::to_string(at / width % shape[1]) + channel;
    };
    return differences(place, got, [&](size_t i) {
        const double value = wanted.values[i];
        if (exact) return fault(type, got[i], reference::rounded(type, value), 0);
        return fault(type, got[i], value,
                     off_at_most(type, wanted.terms[i], value, wanted.magnitudes[i]));
    });
}

Outcome check(const TensorProductCase &c, Device device, const KernelInfo *row) {
    const TensorProductData data = tensor_product_data(c);
    const Roles roles = roles_of(c.product);
    const TensorProductOptions options{
        .summation = c.summation, .accumulate = c.accumulate, .groups = c.groups};
    const Tensor &previous = data.*roles.result;
    const auto wanted = roles.reference(data.*roles.first, data.*roles.second,
                                        {data.imap, data.omap, data.starts}, previous, options, {});
    Random random(c.seed + 2);
    const Placed first(data.*roles.first, device, c.*roles.first_placement, random);
    const Placed second(data.*roles.second, device, c.*roles.second_placement, random);
    const Device maps_on = one_in(random, 2) ? device : Device::cpu();
    const Placed imap(data.imap, maps_on, c.maps, random), omap(data.omap, maps_on, c.maps, random);
    std::optional<Placed> starts;
    if (c.ragged) starts.emplace(data.starts, maps_on, c.maps, random);
    const Placement placement = c.*roles.result_placement;
    const Placed result = c.accumulate
                              ? Placed(previous, device, placement, random)
                              : Placed(previous.shape(), c.type, device, placement, random);
    CheckedCall checked(to_string(c), c.seed, device, row);
    checked.inputs = {{roles.first_name, &first},
                      {roles.second_name, &second},
                      {"imap", &imap},
                      {"omap", &omap},
                      {"starts", address_of(starts)}};
    checked.outputs = {{roles.result_name, &result, [&](const Tensor &got) {
                            return compare(c.data == Data::integers, wanted, got);
                        }}};
    checked.call = [&] {
        const TensorProductMaps maps(imap.tensor(), omap.tensor(), c.input_rows, c.output_rows,
                                     tensor_of(starts), c.check_maps);
        if (row) {
            roles.run_row(*row, first.tensor(), second.tensor(), maps, result.tensor(), options,
                          {});
        } else {
            roles.run(first.tensor(), second.tensor(), maps, result.tensor(), options, {});
        }
    };
    return checked.run();
}

}  // namespace hk::test
