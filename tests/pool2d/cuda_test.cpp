// The real rows of pooling on CUDA, launched on the software device's driver, which checks each
// launch and does not run it.

#include "hk/pool2d.h"
#include "tests/runtime/cuda_rows.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = tests::kCuda;

class CudaPool2d : public tests::CudaRows<> {
protected:
    void SetUp() override { begin({pool2d_kernels(), pool2d_backward_kernels()}); }
};

// Small images and large ones, more elements than a grid is high, windows of all kinds.
TEST_F(CudaPool2d, LaunchesOfEveryRowAreLegal) {
    struct Window {
        int64_t batch, size, channels, kernel, stride, padding;
    };
    std::set<std::string> launched;
    for (const auto &[batch, size, channels, kernel, stride, padding] : {Window{1, 1, 1, 1, 1, 0},
                                                                         {64, 8, 32, 2, 2, 0},
                                                                         {32, 112, 64, 3, 2, 1},
                                                                         {8, 14, 2048, 14, 14, 0},
                                                                         {2, 35, 16, 3, 1, 1},
                                                                         {2, 35, 16, 3, 2, 0},
                                                                         {1, 3000, 8, 5, 1, 2}}) {
        for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
            for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
                for (const Pooling pooling : {Pooling::max, Pooling::average}) {
                    const Pool2dOptions options{layout,
                                                pooling,
                                                {kernel, kernel},
                                                {stride, stride},
                                                {padding, padding, padding, padding}};
                    const Tensor input(layout == Layout::nhwc ? Shape{batch, size, size, channels}
                                                              : Shape{batch, channels, size, size},
                                       type, kDevice);
                    const Pool2dProblem problem =
                        Pool2dProblem::from_shape(input.shape(), type, options);
                    const Tensor output(problem.output_shape(), type, kDevice);
                    const Tensor output_gradient(output.shape(), type, kDevice);
                    const Tensor input_gradient(input.shape(), type, kDevice);
                    const auto expect_launch = [&](const KernelInfo &row, auto &&call) {
                        SCOPED_TRACE(row.name);
                        driver().clear();
                        call();
                        // What there is of windows that are not known, first.
                        const bool windows = row.schedule == std::string("column_per_thread");
                        EXPECT_EQ(tests::launches().size(), windows ? 2u : 1u);
                        expect_launches_of(row);
                        launched.insert(row.name);
                    };
                    for (const Rung &rung :
                         select_pool2d(problem, DeviceType::cuda, kDevice.limits(), true).ladder) {
                        expect_launch(*rung.kernel,
                                      [&] { pool2d_with(*rung.kernel, input, output, options); });
                    }
                    for (const Rung &rung :
                         select_pool2d_backward(problem, DeviceType::cuda, kDevice.limits(), true)
                             .ladder) {
                        expect_launch(*rung.kernel, [&] {
                            pool2d_backward_with(*rung.kernel, output_gradient, input, output,
                                                 input_gradient, options);
                        });
                    }
                    if (HasFailure()) return;
                }
            }
        }
    }
    EXPECT_EQ(launched, built_);
}

TEST_F(CudaPool2d, FailuresAreExceptions) {
    const Tensor input({2, 8, 8, 4}, DataType::f32, kDevice), output = pool2d(input);
    tests::fail("cuLaunchKernel", 719);
    EXPECT_ERROR(Error, "pool2d", pool2d(input, output, {}));
    EXPECT_ERROR(Error, "pool2d_backward",
                 pool2d_backward(output, input, output, input.to(kDevice), {}));
    driver().clear_faults();
    EXPECT_INVALID("output is on cpu, input is on cuda:1",
                   pool2d(input, Tensor(output.shape(), DataType::f32), {}));
}

}  // namespace
}  // namespace hk
