// The real rows of pooling and of softmax cross-entropy on CUDA, launched against a stand-in for
// the driver, which checks each launch and does not run it.

#include "cuda_rows.h"
#include "expect_error.h"
#include "hk/pool2d.h"
#include "hk/softmax_cross_entropy.h"

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
                        driver().launches.clear();
                        call();
                        EXPECT_EQ(driver().launches.size(), 1u);
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
    driver().fail["cuLaunchKernel"] = 719;
    EXPECT_ERROR(Error, "pool2d", pool2d(input, output, {}));
    EXPECT_ERROR(Error, "pool2d_backward",
                 pool2d_backward(output, input, output, input.to(kDevice), {}));
    driver().fail.clear();
    EXPECT_INVALID("output is on cpu, input is on cuda:1",
                   pool2d(input, Tensor(output.shape(), DataType::f32), {}));
}

class CudaSoftmax : public tests::CudaRows<> {
protected:
    void SetUp() override { begin({softmax_cross_entropy_kernels()}); }
};

// With and without each of the results, and in place.
TEST_F(CudaSoftmax, LaunchesOfEveryRowAreLegal) {
    std::set<std::string> launched;
    for (const auto &[rows, classes] :
         {std::pair<int64_t, int64_t>{1, 1}, {64, 10}, {256, 1000}, {100000, 300}, {8, 128000}}) {
        for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
            const Tensor logits({rows, classes}, type, kDevice),
                gradient({rows, classes}, type, kDevice);
            const Tensor labels({rows}, DataType::s32, kDevice),
                loss({rows}, DataType::f32, kDevice);
            const Tensor none;
            for (const Rung &rung :
                 select_softmax_cross_entropy(rows, classes, type, DeviceType::cuda,
                                              kDevice.limits(), true)
                     .ladder) {
                SCOPED_TRACE(rung.kernel->name);
                driver().launches.clear();
                softmax_cross_entropy_with(*rung.kernel, logits, labels, loss, gradient);
                softmax_cross_entropy_with(*rung.kernel, logits, labels, none, gradient);
                softmax_cross_entropy_with(*rung.kernel, logits, labels, loss, none);
                softmax_cross_entropy_with(*rung.kernel, logits, labels, loss, inplace(logits));
                EXPECT_EQ(driver().launches.size(), 4u);
                expect_launches_of(*rung.kernel);
                launched.insert(rung.kernel->name);
                if (HasFailure()) return;
            }
        }
    }
    EXPECT_EQ(launched, built_);
}

// A device without shared memory takes the row that stages nothing.
TEST_F(CudaSoftmax, HasALadder) {
    const DeviceLimits largest{48 * 1024, 227 * 1024, 1024, 65536, 90};
    const Selection selection =
        select_softmax_cross_entropy(8, 32000, DataType::f32, DeviceType::cuda, largest, true);
    ASSERT_EQ(selection.ladder.size(), 3u);
    EXPECT_STREQ(selection.ladder[0].kernel->row, "block");
    EXPECT_STREQ(selection.ladder[1].kernel->row, "warp");
    EXPECT_STREQ(selection.ladder[2].kernel->row, "unstaged");
    DeviceLimits none = largest;
    none.shared_bytes = none.shared_bytes_opt_in = 0;
    EXPECT_STREQ(
        select_softmax_cross_entropy(8, 32000, DataType::f32, DeviceType::cuda, none).kernel->row,
        "unstaged");
}

TEST_F(CudaSoftmax, FailuresAreExceptions) {
    const Tensor logits({4, 300}, DataType::f32, kDevice), labels({4}, DataType::s32, kDevice);
    const Tensor loss({4}, DataType::f32, kDevice), none;
    driver().fail["cuLaunchKernel"] = 719;
    EXPECT_ERROR(Error, "softmax_cross_entropy", softmax_cross_entropy(logits, labels, loss, none));
    driver().fail.clear();
    softmax_cross_entropy(logits, labels, loss, none);
}

}  // namespace
}  // namespace hk
