// Kernel maps and maps of tensor products where memory is short: OutOfMemory, or the same result.

#include <random>
#include <typeinfo>

#include "tests/runtime/expect_error.h"
#include "hk/kernel_map.h"
#include "hk/memory.h"
#include "hk/tensor_product_backward.h"
#include "tests/support/failing_new.h"
#include "tests/kernel_map/voxels.h"

namespace hk {
namespace {

using namespace tests;

constexpr KernelMapOptions kFew{{3, 3, 3}, {1, 1, 1}, {1, 1, 1}},
    kMany{{21, 21, 21}, {1, 1, 1}, {1, 1, 1}}, kStrided{{3, 3, 3}, {2, 2, 2}, {1, 1, 1}};

Tensor cloud() {
    std::mt19937 random(1);
    return tensor_of(random_cloud(random, 500, 20, 2));
}

// Each allocation of the call fails in turn.
template<typename Call>
void expect_out_of_memory(const Call &call) {
    bool failed = true;
    for (int64_t n = 0; failed; n++) {
        ASSERT_LT(n, 10000);
        const char *other = nullptr;
        {
            const FailingNew failing(n);
            try {
                call();
            } catch (const OutOfMemory &) {
            } catch (const std::exception &error) {
                other = typeid(error).name();
            }
            failed = failing.failed();
        }
        EXPECT_EQ(other, nullptr) << other << " from allocation " << n;
    }
}

TEST(SparseMemory, AllocationsOfKernelMaps) {
    const Tensor coordinates = cloud();
    for (const KernelMapOptions &options : {kFew, kMany})
        expect_out_of_memory([&] { submanifold_map(coordinates, options); });
    expect_out_of_memory([&] { strided_map(coordinates, kStrided); });
    const KernelMap map = submanifold_map(coordinates);
    expect_out_of_memory([&] { map.transposed(coordinates); });
    expect_out_of_memory([&] { map.to(Device::cpu()); });
}

TEST(SparseMemory, AllocationsOfMaps) {
    const KernelMap map = submanifold_map(cloud(), kMany);
    const int64_t rows = map.input_rows;
    const Tensor input = Tensor::zeros({rows, 2}, DataType::f32),
                 weight = Tensor::zeros({map.offsets, 2, 2}, DataType::f32),
                 output = Tensor::zeros({rows, 2}, DataType::f32),
                 gradient = Tensor::zeros({map.offsets, 2, 2}, DataType::f32);
    for (const bool check : {true, false}) {
        expect_out_of_memory(
            [&] { TensorProductMaps(map.imap, map.omap, rows, rows, map.starts, check); });
    }
    // Sorted anew each time.
    expect_out_of_memory([&] { tensor_product(input, weight, TensorProductMaps(map), output); });
    expect_out_of_memory(
        [&] { tensor_product_backward_weight(input, output, TensorProductMaps(map), gradient); });
}

TEST(SparseMemory, AllocationsOfLongRows) {
    constexpr int64_t kPairs = 40000;
    const Tensor map = Tensor::zeros({1, kPairs}, DataType::s32);
    for (const DataType type : {DataType::f32, DataType::f16}) {
        const Tensor rows = Tensor::zeros({2, 2}, type), weight = Tensor::zeros({1, 2, 2}, type),
                     output = Tensor::zeros({2, 2}, type);
        expect_out_of_memory([&] { tensor_product(rows, weight, map, map, output); });
    }
}

// The pool has no more: messages name the operation.
TEST(SparseMemory, NoMemoryInThePool) {
    const Tensor coordinates = cloud();
    const KernelMap map = submanifold_map(coordinates);
    const TensorProductMaps maps(map);
    // Of so many channels that no call's scratch fits between what is in use.
    const Tensor rows = Tensor::zeros({map.input_rows, 128}, DataType::f32),
                 weight = Tensor::zeros({27, 128, 128}, DataType::f32),
                 output = Tensor::zeros({map.input_rows, 128}, DataType::f32);
    const MemoryPool pool = MemoryPool::of(Device::cpu());
    pool.trim();
    pool.set_limit(pool.statistics().reserved);
    EXPECT_ERROR(OutOfMemory, "submanifold_map: ", submanifold_map(coordinates, kMany));
    EXPECT_ERROR(OutOfMemory, "strided_map: ", strided_map(coordinates, kStrided));
    EXPECT_ERROR(OutOfMemory, "tensor_product: ", tensor_product(rows, weight, maps, output));
    EXPECT_ERROR(OutOfMemory, "tensor_product_backward_data: ",
                 tensor_product_backward_data(rows, weight, maps, output));
    EXPECT_ERROR(OutOfMemory, "tensor_product_backward_weight: ",
                 tensor_product_backward_weight(rows, output, maps, weight));
    pool.set_limit(INT64_MAX);
    tensor_product(rows, weight, maps, output);
}

}  // namespace
}  // namespace hk
