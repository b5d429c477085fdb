// Is each algorithm of tensor_product and of its gradients the definition (algorithm.h).

#include <gtest/gtest.h>

#include "Halide.h"
#include "tests/schedules/algorithm.h"
#include "tests/tensor_product/case.h"

namespace hk::test {
namespace {

class ProductTest : public RootTest {
protected:
    void check_product(Product product) const {
        check_row<TensorProductCase>(
            kernel(), Device::cpu(),
            TensorProductRequest{kernel().type, kernel().where, 2e5, product}, 12);
    }
};

class TensorProductAlgorithm : public ProductTest {};
TEST_P(TensorProductAlgorithm, IsTheDefinition) {
    check_product(Product::output);
    check_product(Product::input_gradient);
}

class TensorProductWeightAlgorithm : public ProductTest {};
TEST_P(TensorProductWeightAlgorithm, IsTheDefinition) { check_product(Product::weight_gradient); }

// Of small tiles also the schedules; rows that are gathered first, chunks that are copied.
const Where kAdjacent = fixed({{"adjacent", 1}});
constexpr const char *kTiles = "pairs:3,group:2,rows:4,depth:4", *kSlices = "pairs:4,depth:4";
const std::vector<Algorithm> kTensorProduct = {
    {"tensor_product", "tiles", "", kAdjacent, kTiles},
    {"tensor_product", "tiles", "_apart", {}, kTiles},
    {"tensor_product", "tiles", "_in_registers", kAdjacent, kTiles, "register_tiles"},
    {"tensor_product", "tiles", "_in_registers_apart", {}, kTiles, "register_tiles"},
    {"tensor_product", "tiles", "_gathered", kAdjacent, "pairs:3,group:2,rows:4,depth:4,stage:1",
     "register_tiles"},
};
const std::vector<Algorithm> kTensorProductWeight = {
    {"tensor_product_backward_weight", "slices", "", kAdjacent, kSlices},
    {"tensor_product_backward_weight", "slices", "_in_registers", kAdjacent, kSlices,
     "register_tiles"},
    {"tensor_product_backward_weight", "slices", "_exact", fixed({{"adjacent", 1}, {"exact", 1}}),
     kSlices, "register_tiles"},
    {"tensor_product_backward_weight", "slices", "_staged", kAdjacent,
     "pairs:4,depth:4,stage_input:1,stage_gradient:1", "register_tiles"},
};

auto of_any_layout(const std::vector<Algorithm> &algorithms) {
    return testing::Combine(testing::ValuesIn(algorithms), testing::Values(Layout::any),
                            testing::Values(DataType::f32));
}

INSTANTIATE_TEST_SUITE_P(Root, TensorProductAlgorithm, of_any_layout(kTensorProduct),
                         parameter_name);
INSTANTIATE_TEST_SUITE_P(Root, TensorProductWeightAlgorithm, of_any_layout(kTensorProductWeight),
                         parameter_name);

}  // namespace
}  // namespace hk::test
