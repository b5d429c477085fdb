// The real rows of tensor_product on CUDA, launched on the software device's driver, which checks
// each launch and does not run it.

#include "hk/tensor_product.h"
#include "hk/tensor_product_backward.h"
#include "tests/runtime/cuda_rows.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = tests::kCuda;

struct Sizes {
    int64_t input_rows, output_rows, offsets, input_channels, output_channels, groups;
};

// Pair p of an offset is from row p to row p. Tensors are not written to, so that large ones take
// no memory.
struct Operands {
    Operands(const Sizes &s, DataType type, int64_t pairs, bool transposed = false)
        : input({s.input_rows, s.groups * s.input_channels}, type, kDevice),
          weight(weight_of(s.offsets, s.input_channels, s.groups * s.output_channels, type,
                           transposed)),
          output({s.output_rows, s.groups * s.output_channels}, type, kDevice),
          imap({s.offsets, pairs}, DataType::s32),
          omap({s.offsets, pairs}, DataType::s32) {
        options.groups = s.groups;
        for (int64_t i = 0; i < s.offsets * pairs; i++) {
            imap.data<int32_t>()[i] = static_cast<int32_t>(i % pairs % s.input_rows);
            omap.data<int32_t>()[i] = static_cast<int32_t>(i % pairs % s.output_rows);
        }
    }

    void run() const { tensor_product(input, weight, imap, omap, output, options); }

    // `transposed`: input channels of the weight are next to each other.
    static Tensor weight_of(int64_t offsets, int64_t input, int64_t output, DataType type,
                            bool transposed) {
        return transposed ? Tensor({offsets, output, input}, type, kDevice).permute({0, 2, 1})
                          : Tensor({offsets, input, output}, type, kDevice);
    }

    TensorProductProblem problem() const {
        TensorProductProblem problem = TensorProductProblem::from_shapes(
            input.shape(), weight.shape(), imap.elements(), output.shape(), input.type(), options);
        problem.aligned = input.shape()[1] % 8 == 0 && output.shape()[1] % 8 == 0;
        problem.transposed = weight.strides()[2] != 1;
        return problem;
    }

    TensorProductMaps maps() const { return {imap, omap, input.shape()[0], output.shape()[0]}; }

    Tensor input, weight, output, imap, omap;
    TensorProductOptions options;
};

class CudaTensorProduct : public tests::CudaRows<> {
protected:
    void SetUp() override {
        begin({tensor_product_stationary_kernels(), tensor_product_atomic_kernels()});
    }

    // The call that was the last one, of this kernel and no other.
    static void expect_ran(const KernelInfo &kernel) {
        expect_launches_of(kernel);
        ASSERT_EQ(tests::launches().size(), 1u);
        const tests::Operation &launch = tests::launches()[0];
        EXPECT_EQ(launch.dynamic_shared_bytes,
                  static_cast<unsigned>(kernel.resources.shared_dynamic));
        EXPECT_EQ(launch.block[0] * launch.block[1] * launch.block[2],
                  static_cast<unsigned>(kernel.resources.threads));
    }

    void launch_every_rung(const Operands &o, std::set<std::string> &launched) const {
        const TensorProductMaps maps = o.maps();
        const Selection selection =
            select_tensor_product(o.problem(), DeviceType::cuda, kDevice.limits(), true);
        for (const Rung &rung : selection.ladder) {
            SCOPED_TRACE(rung.kernel->name + (": " + std::to_string(o.output.shape()[0])) +
                         " rows, " + std::to_string(o.output.shape()[1]) + " channels");
            driver().clear();
            tensor_product_with(*rung.kernel, o.input, o.weight, maps, o.output, o.options);
            const bool atomic = std::string_view(rung.kernel->family) == "tensor_product_atomic";
            EXPECT_EQ(tests::launches().size(), atomic ? 2u : 1u);
            expect_launches_of(*rung.kernel);
            launched.insert(rung.kernel->name);
            if (HasFailure()) return;
        }
    }
};

// One kernel, and before an atomic one another that sets what it adds to; whatever the numbers of
// offsets and groups are. More tiles than a grid is high.
TEST_F(CudaTensorProduct, LaunchesOfEveryRowAreLegalAndFew) {
    const Sizes all[] = {
        {1, 1, 1, 1, 1, 1},       {100, 90, 27, 64, 64, 1},       {1000, 900, 8, 16, 32, 3},
        {50, 60, 2, 200, 300, 1}, {5000000, 4300000, 1, 1, 1, 1}, {10, 10, 1, 1, 3000000, 1},
        {3, 4, 1000, 3, 5, 40},   {80, 70, 8, 16, 16, 1},         {90, 80, 8, 64, 128, 1}};
    std::set<std::string> launched;
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16, DataType::f64}) {
        for (const Sizes &s : all) {
            for (const Summation summation : {Summation::deterministic, Summation::atomic}) {
                for (const bool transposed : {false, true}) {
                    if (transposed && s.offsets == 1) continue;
                    Operands o(s, type, std::min<int64_t>(s.output_rows, 5000), transposed);
                    o.options.summation = summation;
                    launch_every_rung(o, launched);
                    if (HasFailure()) return;
                }
            }
        }
    }
    EXPECT_EQ(launched, built_);
}

// Wherever vectors lie, what runs is what selection says, forward and of the input's gradient.
TEST_F(CudaTensorProduct, RunsTheRowOfTensorCoresThatIsSelected) {
    for (const DataType type : {DataType::f16, DataType::bf16}) {
        for (const bool transposed : {false, true}) {
            const Operands o({100, 90, 27, 64, 128, 1}, type, 80, transposed);
            const TensorProductMaps maps = o.maps();
            const auto selected = [&](auto select, std::string_view row) -> const KernelInfo & {
                const KernelInfo *kernel =
                    select(o.problem(), DeviceType::cuda, kDevice.limits(), false).kernel;
                EXPECT_EQ(kernel->row, row);
                return *kernel;
            };
            driver().clear();
            tensor_product(o.input, o.weight, maps, o.output, o.options);
            expect_ran(selected(select_tensor_product,
                                transposed ? "matrices_128_transposed" : "matrices_128"));
            driver().clear();
            tensor_product_backward_data(o.output, o.weight, maps, o.input, o.options);
            expect_ran(selected(select_tensor_product_backward_data,
                                transposed ? "matrices" : "matrices_transposed"));
            // A view whose rows begin elsewhere.
            const Tensor wide({90, 129}, type, kDevice);
            driver().clear();
            tensor_product(o.input, o.weight, maps, wide.slice(1, 1, 128), o.options);
            TensorProductProblem apart = o.problem();
            apart.aligned = false;
            expect_ran(*select_tensor_product(apart, DeviceType::cuda, kDevice.limits()).kernel);
        }
    }
}

// Sums of slices, then what they add up to, for each call that memory needs.
class CudaWeightGradient : public tests::CudaRows<> {
protected:
    void SetUp() override { begin({tensor_product_backward_weight_kernels()}); }
};

TEST_F(CudaWeightGradient, LaunchesOfEveryRowAreLegalAndFew) {
    const Sizes all[] = {{70, 80, 27, 16, 16, 1},  {100, 90, 27, 8, 32, 1},
                         {100, 90, 27, 64, 64, 1}, {90, 80, 3, 128, 72, 2},
                         {90, 80, 3, 136, 512, 1}, {3, 4, 1000, 3, 5, 40},
                         {1, 1, 1, 1, 1, 1}};
    std::set<std::string> launched;
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16, DataType::f64}) {
        for (const Sizes &s : all) {
            const Operands o(s, type, std::min<int64_t>(s.output_rows, 500));
            const TensorProductMaps maps = o.maps();
            const Selection selection = select_tensor_product_backward_weight(
                o.problem(), DeviceType::cuda, kDevice.limits(), true);
            for (const Rung &rung : selection.ladder) {
                SCOPED_TRACE(rung.kernel->name);
                driver().clear();
                tensor_product_backward_weight_with(*rung.kernel, o.input, o.output, maps, o.weight,
                                                    o.options);
                EXPECT_EQ(tests::launches().size(), 2u);
                expect_launches_of(*rung.kernel);
                launched.insert(rung.kernel->name);
                if (HasFailure()) return;
            }
            driver().clear();
            tensor_product_backward_weight(o.input, o.output, maps, o.weight, o.options);
            EXPECT_EQ(tests::launches().size(), 2u);
            expect_launches_of(*selection.kernel);
        }
    }
    EXPECT_EQ(launched, built_);
}

// 64 to 64 channels: the weight's tile, 32 by 16 floats, is all that is shared.
TEST_F(CudaTensorProduct, SharesThe512FloatsOfTheWeight) {
    Operands o({100, 90, 27, 64, 64, 1}, DataType::f32, 80);
    o.options.summation = Summation::atomic;
    o.run();
    ASSERT_EQ(tests::launches().size(), 2u);
    EXPECT_EQ(tests::launches()[0].dynamic_shared_bytes, 0u);
    EXPECT_EQ(tests::launches()[1].dynamic_shared_bytes, 512u * 4u);
}

// Sorted once; the second call copies nothing to the device.
TEST_F(CudaTensorProduct, MapsAreKept) {
    const Operands o({1000, 900, 27, 16, 16, 1}, DataType::f32, 700);
    const TensorProductMaps maps = o.maps();
    tensor_product(o.input, o.weight, maps, o.output, o.options);
    const size_t bytes = maps.bytes(), allocated = tests::allocated();
    EXPECT_GT(bytes, 0u);
    driver().clear();
    tensor_product(o.input, o.weight, maps, o.output, o.options);
    EXPECT_EQ(driver().calls("cuMemcpyHtoD"), 0u);
    EXPECT_EQ(maps.bytes(), bytes);
    EXPECT_EQ(tests::allocated(), allocated);
}

// Arrays of pairs are in memory of the call's own context, used on its own stream; calls in a row
// take no more.
TEST_F(CudaTensorProduct, ScratchIsOfTheCallsContextAndFlat) {
    const tests::Queue queue;
    {
        const Operands o({1000, 900, 27, 16, 16, 1}, DataType::f32, 700);
        size_t after_first = 0;
        for (int call = 0; call < 5; call++) {
            tensor_product(o.input, o.weight, o.imap, o.omap, o.output, o.options, queue.stream());
            if (call == 0) after_first = tests::allocated();
        }
        EXPECT_EQ(tests::allocated(), after_first);
        ASSERT_EQ(tests::launches().size(), 5u);
        for (const tests::Operation &launch : tests::launches()) {
            EXPECT_EQ(launch.context, queue.context());
            EXPECT_EQ(launch.stream, queue.handle());
        }
    }
}

// Rows of 40000 pairs: their parts run on the library's stream, after the work on the caller's, and
// the other rows on the caller's.
TEST_F(CudaTensorProduct, PartsOfLongRowsWaitForTheCallersStream) {
    const tests::Queue queue;
    for (const DataType type : {DataType::f32, DataType::bf16}) {
        driver().clear();
        const Operands o({1, 2, 1, 4, 4, 1}, type, 80000);
        const TensorProductMaps maps = o.maps();
        tensor_product(o.input, o.weight, maps, o.output, o.options, queue.stream());
        EXPECT_EQ(driver().calls("cuEventSynchronize"), 2u);
        ASSERT_EQ(tests::launches().size(), 2u);
        EXPECT_EQ(tests::launches()[0].stream, nullptr);
        EXPECT_EQ(tests::launches()[1].stream, queue.handle());
        kDevice.forget(tests::launches()[0].context);
    }
}

TEST_F(CudaTensorProduct, FailuresAreExceptionsAndLoseNothing) {
    Operands o({1000, 900, 27, 16, 16, 1}, DataType::f32, 700);
    for (const Summation summation : {Summation::deterministic, Summation::atomic}) {
        o.options.summation = summation;
        driver().clear();
        o.run();
        tests::fail("cuLaunchKernel", 719);
        EXPECT_ERROR(DeviceError, "tensor_product: kernel tensor_product_", o.run());
        driver().clear_faults();
        kDevice.forget(tests::launches().back().context);
        const size_t before = tests::allocated();
        driver().clear_faults();
        tests::fail("cuMemAlloc", 2);
        EXPECT_ERROR(OutOfMemory, "tensor_product", o.run());
        driver().clear_faults();
        tests::fail("cuMemcpyHtoD", 700);
        EXPECT_ERROR(DeviceError, "CUDA_ERROR_ILLEGAL_ADDRESS", o.run());
        driver().clear_faults();
        kDevice.forget(tests::launches().back().context);
        EXPECT_EQ(tests::allocated(), before);
        o.run();
    }
}

// Before anything is launched.
TEST_F(CudaTensorProduct, RefusesWhatNoKernelCounts) {
    Operands o({10, 9, 2, 4, 4, 1}, DataType::f32, 8);
    o.omap.data<int32_t>()[11] = 9;
    EXPECT_INVALID("omap of offset 1 is 9 at position 3, output has 9 rows", o.run());
    const Operands large({int64_t{1} << 30, 9, 1, 4, 4, 1}, DataType::f32, 8);
    EXPECT_INVALID("input", large.run());
    EXPECT_TRUE(tests::launches().empty());
}

}  // namespace
}  // namespace hk
