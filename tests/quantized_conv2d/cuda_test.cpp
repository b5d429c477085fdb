// The real rows of quantized_conv2d on CUDA, launched against a stand-in for the driver, which
// checks each launch and does not run it.

#include <optional>

#include "families/convolution/convolution.h"
#include "hk/memory.h"
#include "hk/quantized_conv2d.h"
#include "tests/runtime/cuda_rows.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = tests::kCuda;

Conv2dProblem shape(int64_t channels, int64_t size, int64_t filters, int64_t kernel) {
    Conv2dProblem shape;
    shape.channels = channels;
    shape.height = shape.width = size;
    shape.filters = filters;
    shape.kernel_height = shape.kernel_width = kernel;
    shape.options.padding = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    return shape;
}

class CudaQuantizedConv2d : public tests::CudaRows<> {
protected:
    void SetUp() override { begin({quantized_conv2d_kernels()}); }

    struct Operands {
        QuantizedTensor input, weight, output;
        QuantizedConv2dProblem problem;
    };

    // One scale for all; not written to, so that large ones take no memory.
    static Operands operands(const Conv2dProblem &s, DataType in, DataType out, Layout layout) {
        const auto tensor = [](const Shape &shape, DataType type) {
            const bool byte = type == DataType::u8 || type == DataType::s8;
            return QuantizedTensor(Tensor(shape, type, kDevice),
                                   byte ? Quantization(0.5f, 3) : Quantization());
        };
        const Conv2dProblem p = bench::in(s, DataType::f32, layout);
        const bool nhwc = layout == Layout::nhwc;
        const int64_t depth = p.channels / p.options.groups;
        const Shape input = nhwc ? Shape{p.batch, p.height, p.width, p.channels}
                                 : Shape{p.batch, p.channels, p.height, p.width};
        const Shape weight = nhwc ? Shape{p.filters, p.kernel_height, p.kernel_width, depth}
                                  : Shape{p.filters, depth, p.kernel_height, p.kernel_width};
        return {tensor(input, in), tensor(weight, DataType::s8), tensor(p.output_shape(), out),
                QuantizedConv2dProblem::from_shapes(input, weight, in, out, p.options)};
    }

    // By the row, and as the row says that it is.
    static void expect_launches(const KernelInfo &kernel, const Operands &o) {
        driver().launches.clear();
        quantized_conv2d_with(kernel, o.input, o.weight, {}, o.output, o.problem.conv.options);
        ASSERT_FALSE(driver().launches.empty());
        expect_launches_of(kernel);
    }
};

// Of every rung that takes a shape; small ones, and some at the ends of what kernels take.
TEST_F(CudaQuantizedConv2d, LaunchesOfEveryRowAreLegal) {
    Conv2dProblem depthwise = shape(4099, 9, 4099, 5), batch = shape(1, 3, 2, 3);
    depthwise.options.groups = 4099;
    batch.batch = 70000;
    const Conv2dProblem shapes[] = {depthwise,           batch,
                                    shape(1, 1, 1, 1),   shape(64, 512, 256, 3),
                                    shape(64, 56, 8, 3), shape(256, 56, 512, 1),
                                    shape(3, 40, 1, 31), shape(1, 20000, 1, 3)};
    const std::pair<DataType, DataType> types[] = {{DataType::u8, DataType::u8},
                                                   {DataType::s8, DataType::s32},
                                                   {DataType::f32, DataType::f32},
                                                   {DataType::f32, DataType::s8}};
    std::set<std::string> launched;
    for (const auto &[in, out] : types) {
        for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
            for (const Conv2dProblem &s : shapes) {
                const Operands o = operands(s, in, out, layout);
                const Selection selection =
                    select_quantized_conv2d(o.problem, DeviceType::cuda, kDevice.limits(), true);
                for (const Rung &rung : selection.ladder) {
                    SCOPED_TRACE(rung.kernel->name + (": " + bench::name_of(s)));
                    expect_launches(*rung.kernel, o);
                    launched.insert(rung.kernel->name);
                    if (HasFailure()) return;
                }
            }
        }
    }
    EXPECT_EQ(launched, built_);
}

// The pool keeps the memory of the sums, and what is absent needs none: later calls allocate
// nothing.
TEST_F(CudaQuantizedConv2d, CallsAllocateNothing) {
    const MemoryPool pool = MemoryPool::of(kDevice);
    pool.set_caching(true);
    std::optional<Operands> made =
        operands(shape(8, 6, 8, 3), DataType::u8, DataType::u8, Layout::nhwc);
    const Operands &o = *made;
    for (int call = 0; call < 3; call++) {
        driver().called.clear();
        quantized_conv2d(o.input, o.weight, {}, o.output, o.problem.conv.options);
        if (call == 0) continue;
        EXPECT_EQ(driver().called["cuMemAlloc"], 0);
        EXPECT_EQ(driver().called["cuMemFree"], 0);
    }
    made.reset();
    pool.set_caching(false);
}

// Of a launch, and of the memory that the kernels for zero points need: the same call works
// afterwards.
TEST_F(CudaQuantizedConv2d, FailuresLoseNothing) {
    const Operands o = operands(shape(8, 6, 8, 3), DataType::u8, DataType::u8, Layout::nhwc);
    const auto call = [&] {
        quantized_conv2d(o.input, o.weight, {}, o.output, o.problem.conv.options);
    };
    call();
    EXPECT_EQ(driver().launches.size(), 3u);
    const size_t allocated = driver().allocated;
    driver().fail["cuLaunchKernel"] = 719;
    const std::string message = tests::message_of<DeviceError>(call);
    EXPECT_TRUE(tests::has(message, "quantized_conv2d: kernel quantized_conv2d_")) << message;
    EXPECT_TRUE(tests::has(message, "CUDA_ERROR_LAUNCH_FAILED")) << message;
    kDevice.forget(driver().launches.back().context);  // or the memory would be there already
    driver().fail = {{"cuMemAlloc", 2}};
    tests::message_of<OutOfMemory>(call);
    driver().fail.clear();
    EXPECT_LE(driver().allocated, allocated);
    driver().launches.clear();
    call();
    EXPECT_EQ(driver().launches.size(), 3u);
}

}  // namespace
}  // namespace hk
