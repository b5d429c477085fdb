// Does the shipped object work: every row of the tables of tensor products.

#include "tests/kernels/family.h"
#include "tests/tensor_product/case.h"

namespace hk::test {
namespace {

std::vector<KernelInfo> all_rows() {
    std::vector<KernelInfo> rows;
    for (const auto &kernels : {tensor_product_kernels(), tensor_product_stationary_kernels(),
                                tensor_product_atomic_kernels()}) {
        rows.insert(rows.end(), kernels.begin(), kernels.end());
    }
    return rows;
}

class TensorProductRow : public RowTest {
protected:
    // Fewer and smaller ones where a GPU is imitated; CUDA's is, instruction by instruction.
    void check_product(Product product, bool infinities = false) const {
        const DeviceType type = GetParam().device;
        const bool cpu = type == DeviceType::cpu, cuda = type == DeviceType::cuda;
        for (const Device device : devices_) {
            check_row<TensorProductCase>(GetParam(), device,
                                         TensorProductRequest{GetParam().type, GetParam().where,
                                                              cpu    ? 3e6
                                                              : cuda ? 1e5
                                                                     : 1e6,
                                                              product, infinities},
                                         (cpu    ? 40
                                          : cuda ? 8
                                                 : 20) /
                                             (infinities ? 2 : 1));
        }
    }
};

TEST_P(TensorProductRow, IsTheReference) {
    check_product(Product::output);
    check_product(Product::input_gradient);
}

// No channel that a tile has beyond the last one meets an infinity: their product were NaN.
TEST_P(TensorProductRow, KeepsInfinities) {
    check_product(Product::output, true);
    check_product(Product::input_gradient, true);
}

class TensorProductWeightRow : public TensorProductRow {};
TEST_P(TensorProductWeightRow, IsTheReference) { check_product(Product::weight_gradient); }
TEST_P(TensorProductWeightRow, KeepsInfinities) { check_product(Product::weight_gradient, true); }

// Of so many pairs that their sums are of many parts.
TEST_P(TensorProductWeightRow, IsTheReferenceOfManyPairs) {
    const KernelInfo &row = GetParam();
    for (const Device device : devices_) {
        int passed = 0;
        for (const uint64_t seed : seeds(400)) {
            auto c = random_case<TensorProductCase>(
                seed, {.type = row.type, .where = row.where, .product = Product::weight_gradient});
            if (!c || c->input_channels * c->output_channels * c->groups > 2000) continue;
            c->offsets = 2;
            c->length = 3000;
            c->pairs = Pairs::random;
            passed += check(*c, device, &row) == Outcome::passed;
            if (passed == 2 || HasFailure()) break;
        }
        EXPECT_EQ(passed, 2);
    }
}

// A row says what it does not take, instead of running on it.
TEST_P(TensorProductRow, RefusesOtherTypes) {
    const KernelInfo &row = GetParam();
    const TensorProductCase c{.type = row.type == DataType::f32 ? DataType::f64 : DataType::f32};
    for (const Device device : devices_)
        EXPECT_EQ(check(c, device, &row), Outcome::refused) << row.name;
}

INSTANTIATE_TEST_SUITE_P(Table, TensorProductRow, testing::ValuesIn(all_rows()), parameter_name);
INSTANTIATE_TEST_SUITE_P(Table, TensorProductWeightRow,
                         testing::ValuesIn(tensor_product_backward_weight_kernels()),
                         parameter_name);

}  // namespace
}  // namespace hk::test
