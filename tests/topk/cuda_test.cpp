// The steps of hk::topk on CUDA, launched on the software device's driver, which checks each launch
// and does not run it.

#include "hk/topk.h"
#include "tests/runtime/cuda_rows.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using tests::driver;

const Device kDevice = tests::kCuda;

struct RowShape {
    int64_t rows, columns, k;
};

// Not written to, so that large ones take no memory.
struct Operands {
    Operands(const RowShape &s, DataType type, bool with_values, bool with_indices)
        : input({s.rows, s.columns}, type, kDevice) {
        if (with_values) values = Tensor({s.rows, s.k}, type, kDevice);
        if (with_indices) indices = Tensor({s.rows, s.k}, DataType::s64, kDevice);
    }

    Tensor input, values, indices;
};

class CudaTopK : public tests::CudaRows<> {
protected:
    void SetUp() override { begin({topk_tiles_kernels()}); }
};

// One row and many, few elements and all, more tiles than a grid is high, and items that are too
// many for one launch.
TEST_F(CudaTopK, LaunchesOfEveryRowAreLegalAndFew) {
    const RowShape shapes[] = {{1, 1, 1},          {1, 50257, 50},     {32, 50257, 50},
                               {1, 1000000, 100},  {1, 16777216, 100}, {64, 8400, 300},
                               {1000, 10000, 16},  {4096, 1000, 5},    {100, 100000, 256},
                               {64, 32000, 50},    {200000, 3, 2},     {1, 1000000, 1000000},
                               {70000, 2000, 2000}};
    std::set<std::string> launched;
    for (const DataType type : {DataType::u8, DataType::f16, DataType::f32, DataType::f64}) {
        for (const RowShape &s : shapes) {
            for (const auto &[values, indices] : {std::pair{1, 1}, {1, 0}, {0, 1}}) {
                TopKProblem problem;
                problem.type = type;
                problem.rows = s.rows;
                problem.columns = s.columns;
                problem.k = s.k;
                problem.values = values;
                problem.indices = indices;
                const Operands o(s, type, values, indices);
                const Selection selection =
                    select_topk(problem, DeviceType::cuda, kDevice.limits(), true);
                for (const Rung &rung : selection.ladder) {
                    SCOPED_TRACE(rung.kernel->name + (": " + std::to_string(s.rows)) + " x " +
                                 std::to_string(s.columns) + ", k " + std::to_string(s.k));
                    driver().clear();
                    topk_with(*rung.kernel, o.input, s.k, o.values, o.indices);
                    const size_t most = s.columns < 200000 && s.k < 300 ? 8 : 120;
                    EXPECT_LE(tests::launches().size(),
                              rung.kernel == selection.kernel ? most : 200);
                    EXPECT_GE(tests::launches().size(), static_cast<size_t>(1 + values + indices));
                    launched.insert(rung.kernel->name);
                    if (HasFailure()) return;
                }
            }
        }
    }
    EXPECT_EQ(launched, built_);
}

// Items are in memory of the call's own context, used on its own stream; calls in a row take no
// more.
TEST_F(CudaTopK, ScratchIsOfTheCallsContextAndFlat) {
    const tests::Queue queue;
    {
        const Operands o({8, 100000, 40}, DataType::f32, true, true);
        size_t after_first = 0;
        for (int call = 0; call < 5; call++) {
            topk(o.input, 40, o.values, o.indices, {}, queue.stream());
            if (call == 0) after_first = tests::allocated();
        }
        EXPECT_EQ(tests::allocated(), after_first);
        ASSERT_FALSE(tests::launches().empty());
        for (const tests::Operation &launch : tests::launches()) {
            EXPECT_EQ(launch.context, queue.context());
            EXPECT_EQ(launch.stream, queue.handle());
        }
    }
}

TEST_F(CudaTopK, FailuresAreExceptionsAndLeakNothing) {
    const Operands o({8, 100000, 40}, DataType::f32, true, true);
    topk(o.input, 40, o.values, o.indices);
    const auto call = [&](int64_t k) {
        const Tensor values({8, k}, DataType::f32, kDevice);
        topk(o.input, k, values, {});
    };
    tests::fail("cuLaunchKernel", 719);
    EXPECT_ERROR(Error, "topk_tiles", topk(o.input, 40, o.values, o.indices));
    driver().clear_faults();
    kDevice.forget(tests::launches().back().context);
    const size_t before = tests::allocated();
    tests::fail("cuMemAlloc", 2);
    EXPECT_ERROR(OutOfMemory, "topk", topk(o.input, 40, o.values, o.indices));
    EXPECT_EQ(tests::allocated(), before);
    driver().clear_faults();
    call(3);
}

// One row with more items than a kernel counts the bytes of.
TEST_F(CudaTopK, RefusesItemsThatAreTooMany) {
    const int64_t columns = int64_t{600} << 20;
    EXPECT_INVALID("629145600 items of 4 bytes, a kernel takes at most 2147483647 bytes", {
        const Operands o({1, columns, columns}, DataType::u8, true, false);
        topk(o.input, columns, o.values, {});
    });
}

}  // namespace
}  // namespace hk
