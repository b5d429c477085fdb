// Activations, their gradients and SGD on CUDA, launched on the software device's driver, which
// checks each launch and does not run it.

#include <algorithm>
#include <functional>

#include "hk/activation.h"
#include "hk/sgd.h"
#include "tests/runtime/cuda_rows.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = tests::kCuda;

class CudaElementwise : public tests::CudaRows<> {
protected:
    void SetUp() override {
        begin({activate_kernels(), activate_backward_kernels(), sgd_kernels()});
    }

    // One launch where the row takes the tensors, with all their elements.
    void expect_launch(const KernelInfo &kernel, int64_t elements,
                       const std::function<void()> &call) {
        SCOPED_TRACE(kernel.name + (", elements: " + std::to_string(elements)));
        driver().clear();
        try {
            call();
        } catch (const InvalidArgument &) {
            return;
        }
        ASSERT_EQ(tests::launches().size(), 1u);
        expect_launches_of(kernel);
        const tests::Operation &launch = tests::launches()[0];
        const int64_t each = kernel.schedule == std::string_view("thread_per_vector") ? 4 : 1;
        const int64_t threads = int64_t{launch.grid[0]} * launch.block[0];
        EXPECT_GE(threads * each, elements);
        EXPECT_LT(threads * each, elements + launch.block[0] * each);
        EXPECT_EQ(launch.grid[1] * launch.grid[2] * launch.block[1] * launch.block[2], 1u);
        launched_.insert(kernel.name);
    }

    std::set<std::string> launched_;
};

// Not written to, so that large ones take no memory.
TEST_F(CudaElementwise, LaunchesOfEveryRowAreLegalAndOne) {
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        for (const Shape &shape : {Shape{}, {1}, {127}, {128}, {129}, {3, 5, 7}, {400000000}}) {
            const Tensor a(shape, type, kDevice), b(shape, type, kDevice), c(shape, type, kDevice);
            const int64_t elements = a.elements();
            for (const KernelInfo &kernel : activate_kernels()) {
                for (const Activation f : {Activation::relu, Activation::silu, Activation::gelu})
                    expect_launch(kernel, elements, [&] { activate_with(kernel, a, b, {f}); });
                expect_launch(kernel, elements, [&] { activate_with(kernel, a, inplace(a)); });
            }
            for (const KernelInfo &kernel : activate_backward_kernels()) {
                for (const Activation f : {Activation::relu, Activation::silu, Activation::gelu}) {
                    expect_launch(kernel, elements,
                                  [&] { activate_backward_with(kernel, a, b, c, {f}); });
                }
                expect_launch(kernel, elements,
                              [&] { activate_backward_with(kernel, a, b, inplace(b)); });
            }
            for (const KernelInfo &kernel : sgd_kernels()) {
                expect_launch(kernel, elements, [&] {
                    sgd_step_with(kernel, a, b, c, {0.1f, 0.9f});
                });
                expect_launch(kernel, elements, [&] { sgd_step_with(kernel, a, {}, c, {0.1f}); });
            }
        }
    }
    EXPECT_EQ(launched_, built_);
}

// Views that two strides don't describe are several launches; so are more bytes than a kernel
// counts.
TEST_F(CudaElementwise, CallsThatAreSeveralLaunches) {
    const Tensor whole({3, 4, 5, 6, 7}, DataType::f32, kDevice);
    const Tensor input = whole.slice(1, 0, 2).slice(2, 0, 3).slice(3, 0, 4).slice(4, 0, 5);
    const Tensor output(input.shape(), DataType::f32, kDevice);
    activate(input, output);
    EXPECT_EQ(tests::launches().size(), 6u);
    driver().clear();
    const Tensor large({int64_t{3} << 28}, DataType::f32, kDevice);  // 3 GiB
    activate(large, inplace(large));
    EXPECT_EQ(tests::launches().size(), 2u);
}

// A view that begins elsewhere than at 16 bytes is no vector's, whichever tensor it is.
TEST_F(CudaElementwise, VectorsAreOfAlignedViews) {
    const Tensor whole({2, 320}, DataType::f32, kDevice);
    const auto view = [&](int64_t row, int64_t from) {
        return whole.slice(0, row, 1).slice(1, from, 300);
    };
    for (const auto &[first, second, name] : {std::tuple{4, 8, "activate_aligned_f32_cuda"},
                                              {4, 5, "activate_packed_f32_cuda"},
                                              {2, 8, "activate_packed_f32_cuda"}}) {
        driver().clear();
        activate(view(0, first), view(1, second));
        const auto row =
            std::ranges::find(activate_kernels(), std::string_view(name), &KernelInfo::name);
        ASSERT_NE(row, activate_kernels().end());
        ASSERT_EQ(tests::launches().size(), 1u);
        expect_launches_of(*row);
    }
}

TEST_F(CudaElementwise, RunsOnTheCallersStream) {
    const tests::Queue queue;
    const Stream on = queue.stream();
    const Tensor a({300}, DataType::f32, kDevice), b({300}, DataType::f32, kDevice),
        c({300}, DataType::f32, kDevice);
    activate(a, inplace(a), {}, on);
    activate_backward(a, b, c, {}, on);
    sgd_step(a, b, c, {0.1f, 0.9f}, on);
    ASSERT_EQ(tests::launches().size(), 3u);
    for (const tests::Operation &launch : tests::launches()) {
        EXPECT_EQ(launch.context, queue.context());
        EXPECT_EQ(launch.stream, queue.handle());
    }
}

TEST_F(CudaElementwise, FailuresAreExceptionsAndLeakNothing) {
    const Tensor a({300}, DataType::f32, kDevice), b({300}, DataType::f32, kDevice),
        c({300}, DataType::f32, kDevice);
    tests::fail("cuLaunchKernel", 719);
    EXPECT_ERROR(Error, "activate_aligned_f32_cuda", activate(a, b));
    EXPECT_ERROR(Error, "activate_backward_aligned_f32_cuda", activate_backward(a, b, c));
    EXPECT_ERROR(Error, "sgd_momentum_aligned_f32_cuda", sgd_step(a, b, c, {0.1f, 0.9f}));
    driver().clear_faults();
    activate(a, b);
}

}  // namespace
}  // namespace hk
