// Gradients of the tensor product: what the product has not.

#include <cmath>

#include "tests/reference/elements.h"
#include "tests/support/values.h"
#include "tests/tensor_product/case.h"

namespace hk::test {
namespace {

// Differences of the product itself: of a random direction in each argument.
TEST(TensorProductGradientCheck, IsTheSlopeOfTheProduct) {
    TensorProductCase c{.seed = 11, .type = DataType::f64};
    c.data = Data::reals;
    c.input_rows = 60;
    c.output_rows = 50;
    c.offsets = 5;
    c.length = 40;
    c.input_channels = 7;
    c.output_channels = 9;
    c.groups = 2;
    const TensorProductData data = tensor_product_data(c);
    const TensorProductMaps maps(data.imap, data.omap, c.input_rows, c.output_rows);
    const TensorProductOptions options{.groups = c.groups};
    const auto sum = [](const Tensor &a, const Tensor &b) {
        const auto left = reference::read(a), right = reference::read(b);
        double total = 0;
        for (size_t i = 0; i < left.size(); i++) total += left[i] * right[i];
        return total;
    };
    Random random(12);
    const Tensor factors = host_tensor(c.output_shape(), c.type, reals(random, c.output_shape()));
    const auto loss = [&](const Tensor &input, const Tensor &weight) {
        const Tensor output = Tensor::zeros(c.output_shape(), c.type);
        tensor_product(input, weight, maps, output, options);
        return sum(output, factors);
    };
    const auto slope = [&](const Tensor &at, const auto &of, const Tensor &gradient) {
        const Tensor direction = host_tensor(at.shape(), c.type, reals(random, at.shape()));
        constexpr double step = 1e-3;
        const auto moved = [&](double by) {
            const Tensor there = at.to(Device::cpu());
            for (int64_t i = 0; i < at.elements(); i++)
                there.data<double>()[i] += by * direction.data<double>()[i];
            return of(there);
        };
        const double wanted = (moved(step) - moved(-step)) / (2 * step);
        EXPECT_NEAR(sum(gradient, direction), wanted, 1e-7 * (1 + std::abs(wanted)));
    };
    const Tensor of_input = Tensor::zeros(c.input_shape(), c.type);
    tensor_product_backward_data(factors, data.weight, maps, of_input, options);
    slope(
        data.input, [&](const Tensor &input) { return loss(input, data.weight); }, of_input);
    const Tensor of_weight = Tensor::zeros(c.weight_shape(), c.type);
    tensor_product_backward_weight(data.input, factors, maps, of_weight, options);
    slope(
        data.weight, [&](const Tensor &weight) { return loss(data.input, weight); }, of_weight);
}

// Chunks are gathered whole, and channels past the last one stand for nothing.
TEST(TensorProductGradientNan, StaysInTheOffsetsThatItsRowMeets) {
    for (const int64_t channels : {16, 20}) {
        const Tensor input = Tensor::zeros({10, 5}, DataType::f32);
        const Tensor gradient = Tensor::zeros({10, channels}, DataType::f32);
        for (const Tensor &rows : {input, gradient}) {
            for (int64_t i = 0; i < rows.shape()[1]; i++) rows.data<float>()[i] = std::nanf("");
        }
        Tensor map = Tensor::zeros({3, 4}, DataType::s32);
        for (int64_t i = 0; i < 12; i++) map.data<int32_t>()[i] = i == 7 ? 0 : 1 + i % 9;
        const Tensor weight = Tensor::zeros({3, 5, channels}, DataType::f32);
        tensor_product_backward_weight(input, gradient, TensorProductMaps(map, map, 10, 10),
                                       weight);
        const std::vector<double> result = reference::read(weight);
        for (size_t i = 0; i < result.size(); i++)
            EXPECT_EQ(std::isnan(result[i]), i / static_cast<size_t>(5 * channels) == 1) << i;
    }
}

}  // namespace
}  // namespace hk::test
