// The real rows of conv2d on CUDA, launched against a stand-in for the driver, which checks each
// launch and does not run it.

#include <numeric>
#include <set>

#include "cuda_backend.h"
#include "families/convolution/convolution.h"
#include "hk/conv2d.h"
#include "tests/runtime/expect_error.h"
#include "tests/runtime/stand_in_driver.h"
#include "tests/support/environment.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = Device::cuda(1);

class CudaConv2d : public ::testing::Test {
protected:
    static void SetUpTestSuite() { detail::set_cuda_driver(tests::driver_symbol); }

    void SetUp() override {
        if (!built()) GTEST_SKIP() << "built without CUDA";
        driver().fail.clear();
        driver().called.clear();
        driver().launches.clear();
    }

    void TearDown() override {
        EXPECT_TRUE(driver().current.empty());
        EXPECT_EQ(driver().faults, std::vector<std::string>{});
        EXPECT_EQ(driver().allocated, 0u);
    }

    static bool built() {
        for (const KernelInfo &kernel : conv2d_kernels()) {
            if (kernel.device == DeviceType::cuda) return true;
        }
        return false;
    }

    struct Operands {
        Tensor input, weight, output;
    };

    // Not written to, so that large ones take no memory.
    static Operands operands(const Conv2dProblem &p, Device device = kDevice) {
        const bool nhwc = p.options.layout == Layout::nhwc;
        const int64_t depth = p.channels / p.options.groups;
        const Shape input = nhwc ? Shape{p.batch, p.height, p.width, p.channels}
                                 : Shape{p.batch, p.channels, p.height, p.width};
        const Shape weight = nhwc ? Shape{p.filters, p.kernel_height, p.kernel_width, depth}
                                  : Shape{p.filters, depth, p.kernel_height, p.kernel_width};
        return {Tensor(input, p.type, device), Tensor(weight, p.type, device),
                Tensor(p.output_shape(), p.type, device)};
    }

    // By the row, and as the row says that it is.
    static void expect_launch(const KernelInfo &kernel, const Conv2dProblem &problem) {
        const Operands o = operands(problem);
        driver().launches.clear();
        conv2d_with(kernel, o.input, o.weight, {}, {}, o.output, problem.options);
        ASSERT_FALSE(driver().launches.empty());
        for (const tests::Launch &launch : driver().launches) {
            EXPECT_LE(launch.shared_bytes, static_cast<unsigned>(kernel.resources.shared_bytes()));
            EXPECT_LE(launch.block[0] * launch.block[1] * launch.block[2],
                      static_cast<unsigned>(kernel.resources.threads));
        }
    }
};

Conv2dProblem shape(int64_t batch, int64_t channels, int64_t size, int64_t filters,
                    int64_t kernel) {
    Conv2dProblem shape;
    shape.batch = batch;
    shape.channels = channels;
    shape.height = shape.width = size;
    shape.filters = filters;
    shape.kernel_height = shape.kernel_width = kernel;
    shape.options.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    return shape;
}

// The shapes of the lists at the batch of training, and some at the ends of what kernels take.
std::vector<Conv2dProblem> shapes() {
    std::vector<Conv2dProblem> result = bench::convolutions("conv_training");
    const std::vector<Conv2dProblem> shape_case = bench::convolutions("shape_case");
    result.insert(result.end(), shape_case.begin(), shape_case.end());
    result.push_back(shape(1, 1, 1, 1, 1));
    result.push_back(shape(1, 3, 40, 1, 31));
    result.push_back(shape(1, 4096, 1, 4096, 3));
    result.push_back(shape(70000, 1, 3, 2, 3));
    result.push_back(shape(1, 1, 20000, 1, 3));
    Conv2dProblem depthwise = shape(5, 4099, 9, 4099, 5);
    depthwise.options.groups = 4099;
    result.push_back(depthwise);
    return result;
}

// Every rung that takes a shape, not just the first.
TEST_F(CudaConv2d, LaunchesOfEveryRowAreLegal) {
    const DeviceLimits limits = kDevice.limits();
    std::set<std::string> launched, built;
    for (const KernelInfo &kernel : conv2d_kernels()) {
        if (kernel.device == DeviceType::cuda) built.insert(kernel.name);
    }
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            for (const Conv2dProblem &s : shapes()) {
                const Conv2dProblem problem = bench::in(s, type, layout);
                const Selection selection = select_conv2d(problem, DeviceType::cuda, limits, true);
                for (const Rung &rung : selection.ladder) {
                    SCOPED_TRACE(rung.kernel->name + (": " + bench::name_of(s)));
                    expect_launch(*rung.kernel, problem);
                    launched.insert(rung.kernel->name);
                    if (HasFailure()) return;
                }
            }
        }
    }
    EXPECT_EQ(launched, built);
}

TEST_F(CudaConv2d, LaunchesKeepToTheLimit) {
    const Conv2dProblem problem = bench::in(shape(2, 64, 30, 64, 3), DataType::f32, Layout::nhwc);
    const Operands o = operands(problem);
    const test::Environment quiet("HK_LOG", "off");
    for (const char *bytes : {"65536", "32768", "16384", "8192"}) {
        const test::Environment limit("HK_SHARED_LIMIT", bytes);
        conv2d(o.input, o.weight, {}, {}, o.output, problem.options);
        EXPECT_LE(driver().launches.back().shared_bytes, std::stoul(bytes));
    }
}

TEST_F(CudaConv2d, OnTheCallersStream) {
    static int context_object, stream_object;
    driver().contexts[&context_object] = 1;
    driver().streams[&stream_object] = &context_object;
    const Conv2dProblem problem = bench::in(shape(1, 8, 8, 8, 3), DataType::f32, Layout::nchw);
    const Operands o = operands(problem);
    conv2d(o.input, o.weight, {}, {}, o.output, problem.options, {&context_object, &stream_object});
    EXPECT_EQ(driver().launches.back().context, &context_object);
    EXPECT_EQ(driver().launches.back().stream, &stream_object);
    kDevice.forget(&context_object);
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
        const Conv2dProblem problem = bench::in(shape(1, 8, 6, 8, 3), DataType::f32, Layout::nhwc);
        const Operands o = operands(problem);
        const Tensor host = Tensor::borrow(values_.data(), DataType::f32, o.input.shape());
        o.input.copy_from(host);
        const auto call = [&] { conv2d(o.input, o.weight, {}, {}, o.output, problem.options); };
        call();
        kDevice.forget(driver().launches.back().context);  // or the code would be loaded already
        const size_t allocated = driver().allocated;
        driver().fail[function] = status;
        const std::string message = tests::message_of<E>(call);
        driver().fail.clear();
        EXPECT_EQ(driver().allocated, allocated);
        const Tensor after = o.input.to(Device::cpu());
        EXPECT_TRUE(std::equal(values_.begin(), values_.end(), after.data<float>()));
        driver().launches.clear();
        call();
        EXPECT_EQ(driver().launches.size(), 1u);
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
    const std::string message = message_of<DeviceError>("cuModuleLoadData", 209);
    EXPECT_TRUE(tests::has(message, "the library's code does not load on Stand-in")) << message;
}

TEST_F(CudaConv2dFailure, NoMemoryForTheOutput) {
    const Conv2dProblem problem = bench::in(shape(1, 8, 6, 8, 3), DataType::f32, Layout::nhwc);
    const Operands o = operands(problem);
    const size_t allocated = driver().allocated;
    driver().fail["cuMemAlloc"] = 2;
    EXPECT_ERROR(OutOfMemory, "cuda:1: no memory left: asked for",
                 conv2d(o.input, o.weight, {}, {}, problem.options));
    EXPECT_EQ(driver().allocated, allocated);
    EXPECT_TRUE(driver().launches.empty());
}

}  // namespace
}  // namespace hk
