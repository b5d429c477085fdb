// The real rows of conv2d on CUDA, launched on the software device's driver, which checks each
// launch and does not run it.

#include <numeric>

#include "hk/conv2d.h"
#include "tests/convolution/cuda.h"
#include "tests/runtime/expect_error.h"
#include "tests/support/environment.h"

namespace hk {
namespace {

using tests::driver;
using tests::square;
using Operands = tests::ConvolutionTensors;

const Device kDevice = tests::kCuda;

class CudaConv2d : public tests::CudaRows<> {
protected:
    void SetUp() override { begin({conv2d_kernels()}); }
};

TEST_F(CudaConv2d, LaunchesOfEveryRowAreLegal) {
    std::vector<Conv2dProblem> shapes = bench::convolutions("conv_training");
    for (const auto &more : {bench::convolutions("depthwise"), bench::convolutions("shape_case"),
                             tests::ends()})
        shapes.insert(shapes.end(), more.begin(), more.end());
    const auto launch = [](const KernelInfo &row, const Conv2dProblem &problem) {
        const Operands o(problem);
        driver().clear();
        conv2d_with(row, o.input, o.weight, {}, {}, o.output, problem.options);
        ASSERT_FALSE(tests::launches().empty());
        expect_launches_of(row);
    };
    EXPECT_EQ(tests::launch_every_rung(shapes, select_conv2d, launch), built_);
}

TEST_F(CudaConv2d, LaunchesKeepToTheLimit) {
    const Conv2dProblem problem =
        bench::in(square(64, 30, 64, 3, 1, 2), DataType::f32, Layout::nhwc);
    const Operands o(problem);
    const test::Environment quiet("HK_LOG", "off");
    for (const char *bytes : {"65536", "32768", "16384", "8192"}) {
        const test::Environment limit("HK_SHARED_LIMIT", bytes);
        conv2d(o.input, o.weight, {}, {}, o.output, problem.options);
        EXPECT_LE(tests::launches().back().dynamic_shared_bytes, std::stoul(bytes));
    }
}

TEST_F(CudaConv2d, OnTheCallersStream) {
    const tests::Queue queue;
    const Conv2dProblem problem = bench::in(square(8, 8, 8, 3), DataType::f32, Layout::nchw);
    const Operands o(problem);
    conv2d(o.input, o.weight, {}, {}, o.output, problem.options, queue.stream());
    EXPECT_EQ(tests::launches().back().context, queue.context());
    EXPECT_EQ(tests::launches().back().stream, queue.handle());
}

class CudaConv2dFailure : public CudaConv2d {
protected:
    void SetUp() override {
        CudaConv2d::SetUp();
        std::iota(values_.begin(), values_.end(), 1.0f);
    }

    // What conv2d throws while the driver's function fails; afterwards the input is as it was, all
    // memory is there, and the same call works.
    template<typename E>
    std::string message_of(const char *function, int status) {
        const Conv2dProblem problem = bench::in(square(8, 6, 8, 3), DataType::f32, Layout::nhwc);
        const Operands o(problem);
        const Tensor host = Tensor::borrow(values_.data(), DataType::f32, o.input.shape());
        o.input.copy_from(host);
        const auto call = [&] { conv2d(o.input, o.weight, {}, {}, o.output, problem.options); };
        call();
        kDevice.forget(tests::launches().back().context);  // or the code would be loaded already
        const size_t allocated = tests::allocated();
        tests::fail(function, status);
        const std::string message = tests::message_of<E>(call);
        driver().clear_faults();
        EXPECT_EQ(tests::allocated(), allocated);
        const Tensor after = o.input.to(Device::cpu());
        EXPECT_TRUE(std::equal(values_.begin(), values_.end(), after.data<float>()));
        driver().clear();
        call();
        EXPECT_EQ(tests::launches().size(), 1u);
        return message;
    }

    std::vector<float> values_ = std::vector<float>(6 * 6 * 8);
};

TEST_F(CudaConv2dFailure, OfTheLaunch) {
    const std::string message = message_of<DeviceError>("cuLaunchKernel", 719);
    EXPECT_TRUE(tests::has(message, "conv2d: kernel conv2d_")) << message;
    EXPECT_TRUE(tests::has(message, "_f32_nhwc_cuda on cuda:1: ")) << message;
    EXPECT_TRUE(tests::has(message, "CUDA_ERROR_LAUNCH_FAILED")) << message;
}

TEST_F(CudaConv2dFailure, NoMemoryForTheLaunch) {
    const std::string message = message_of<OutOfMemory>("cuLaunchKernel", 2);
    EXPECT_TRUE(tests::has(message, "no memory left")) << message;
}

TEST_F(CudaConv2dFailure, CodeOfAnotherChip) {
    const std::string message = message_of<DeviceError>("cuModuleLoadDataEx", 209);
    EXPECT_TRUE(tests::has(message, "the library's code does not load on software sm_90"))
        << message;
}

TEST_F(CudaConv2dFailure, NoMemoryForTheOutput) {
    const Conv2dProblem problem = bench::in(square(8, 6, 8, 3), DataType::f32, Layout::nhwc);
    const Operands o(problem);
    const size_t allocated = tests::allocated();
    tests::fail("cuMemAlloc", 2);
    EXPECT_ERROR(OutOfMemory, "cuda:1: no memory left: asked for",
                 conv2d(o.input, o.weight, {}, {}, problem.options));
    EXPECT_EQ(tests::allocated(), allocated);
    EXPECT_TRUE(tests::launches().empty());
}

}  // namespace
}  // namespace hk
