// The real rows of quantized_conv2d on CUDA, launched on the software device's driver, which checks
// each launch and does not run it.

#include <optional>

#include "hk/memory.h"
#include "hk/quantized_conv2d.h"
#include "tests/convolution/cuda.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::driver;
using tests::square;

const Device kDevice = tests::kCuda;

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
        const Shape input = bench::input_shape(p), weight = bench::weight_shape(p);
        return {tensor(input, in), tensor(weight, DataType::s8), tensor(p.output_shape(), out),
                QuantizedConv2dProblem::from_shapes(input, weight, in, out, p.options)};
    }

    // By the row, and as the row says that it is.
    static void expect_launches(const KernelInfo &kernel, const Operands &o) {
        driver().clear();
        quantized_conv2d_with(kernel, o.input, o.weight, {}, o.output, o.problem.conv.options);
        ASSERT_FALSE(tests::launches().empty());
        expect_launches_of(kernel);
    }
};

// Of every rung that takes a shape; small ones, and some at the ends of what kernels take.
TEST_F(CudaQuantizedConv2d, LaunchesOfEveryRowAreLegal) {
    std::vector<Conv2dProblem> shapes = {square(64, 512, 256, 3), square(64, 56, 8, 3),
                                         square(64, 56, 64, 3),   square(256, 56, 512, 1),
                                         square(512, 28, 512, 3), square(512, 7, 512, 3),
                                         square(3, 56, 64, 3),    square(64, 56, 8, 1)};
    for (const Conv2dProblem &end : tests::ends())
        if (end.channels != 4096) shapes.push_back(end);
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
    for (const std::string &row : built_) EXPECT_TRUE(launched.contains(row)) << row;
    EXPECT_EQ(launched.size(), built_.size());
}

// The pool keeps the memory of the sums, and what is absent needs none: later calls allocate
// nothing.
TEST_F(CudaQuantizedConv2d, CallsAllocateNothing) {
    const MemoryPool pool = MemoryPool::of(kDevice);
    pool.set_caching(true);
    std::optional<Operands> made =
        operands(square(8, 6, 8, 3), DataType::u8, DataType::u8, Layout::nhwc);
    const Operands &o = *made;
    for (int call = 0; call < 3; call++) {
        driver().clear();
        quantized_conv2d(o.input, o.weight, {}, o.output, o.problem.conv.options);
        if (call == 0) continue;
        EXPECT_EQ(driver().calls("cuMemAlloc"), 0u);
        EXPECT_EQ(driver().calls("cuMemFree"), 0u);
    }
    made.reset();
    pool.set_caching(false);
}

// Of a launch, and of the memory that the kernels for zero points and copies need: the same call
// works afterwards.
TEST_F(CudaQuantizedConv2d, FailuresLoseNothing) {
    const Operands o = operands(square(8, 6, 8, 3), DataType::u8, DataType::u8, Layout::nhwc);
    const auto call = [&] {
        quantized_conv2d(o.input, o.weight, {}, o.output, o.problem.conv.options);
    };
    call();
    EXPECT_EQ(tests::launches().size(), 5u);  // two copies, two sums, and the products
    const size_t allocated = tests::allocated();
    tests::fail("cuLaunchKernel", 719);
    const std::string message = tests::message_of<DeviceError>(call);
    EXPECT_TRUE(tests::has(message, "quantized_conv2d: kernel quantized_conv2d_")) << message;
    EXPECT_TRUE(tests::has(message, "CUDA_ERROR_LAUNCH_FAILED")) << message;
    kDevice.forget(tests::launches().back().context);  // or the memory would be there already
    driver().clear_faults();
    tests::fail("cuMemAlloc", 2);
    tests::message_of<OutOfMemory>(call);
    driver().clear_faults();
    EXPECT_LE(tests::allocated(), allocated);
    driver().clear();
    call();
    EXPECT_EQ(tests::launches().size(), 5u);  // two copies, two sums, and the products
}

}  // namespace
}  // namespace hk
