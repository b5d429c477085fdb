// Bad input of top-k: refused before any kernel runs, with both values in the message.

#include "hk/topk.h"
#include "tests/runtime/repeated.h"
#include "tests/support/environment.h"
#include "tests/support/refused.h"

namespace hk {
namespace {

Tensor made(const Shape &shape, DataType type = DataType::f32) {
    const Tensor tensor = Tensor::zeros(shape, type);
    return tensor;
}

// A call that is right, to be spoilt in one place.
struct Arguments {
    Tensor input = made({3, 20, 4});
    int64_t k = 5;
    Tensor values = made({3, 5, 4}), indices = made({3, 5, 4}, DataType::s64);
    TopKOptions options{.axis = 1};

    static constexpr const char *kOperation = "topk: ";
    void run() const { topk(input, k, values, indices, options); }
};

TEST(TopKInput, TheUnspoiltCallRuns) {
    Arguments().run();
    Arguments few;
    few.options.axis = -2;
    few.indices = made({3, 5, 4}, DataType::s32);
    few.run();
    few.values = {};
    few.run();
}

// A stride along an axis with one element is never stepped along.
TEST(TopKInput, FarStridesOfOneElement) {
    constexpr int64_t kFar = int64_t{1} << 40;
    float elements[] = {3, 1, 2}, values[] = {0, 0, 0};
    int32_t indices[] = {-1, -1, -1};
    topk(Tensor::borrow(elements, DataType::f32, {3, 1}, {1, kFar}), 1,
         Tensor::borrow(values, DataType::f32, {3, 1}, {1, -kFar}),
         Tensor::borrow(indices, DataType::s32, {3, 1}, {1, kFar}), {.axis = 1});
    topk(Tensor::borrow(elements, DataType::f32, {3}), 1,
         Tensor::borrow(values + 2, DataType::f32, {1}, {kFar}), {}, {.axis = 0});
    EXPECT_EQ(values[0], 3);
    EXPECT_EQ(values[1], 1);
    EXPECT_EQ(values[2], 3);
    for (const int32_t index : indices) EXPECT_EQ(index, 0);
}

TEST(TopKInput, UndefinedTensors) {
    EXPECT_REFUSED("input is undefined", a.input = {});
    EXPECT_REFUSED("neither values nor indices are asked for", {
        a.values = {};
        a.indices = {};
    });
    EXPECT_INVALID("input is undefined", topk({}, 1));
    EXPECT_INVALID("input is undefined", topk_values({}, 1));
    EXPECT_INVALID("input is undefined", topk_indices({}, 1));
    EXPECT_INVALID("input is undefined", sort({}));
    EXPECT_INVALID("input is undefined", argsort({}));
}

TEST(TopKInput, K) {
    EXPECT_REFUSED("k is -1", a.k = -1);
    EXPECT_REFUSED("k is 21, axis 1 of input [3, 20, 4] has 20 elements", a.k = 21);
    EXPECT_INVALID("k is -7", topk(made({4}), -7));
    EXPECT_INVALID("k is 5, axis -1 of input [4] has 4 elements", topk_values(made({4}), 5));
    EXPECT_INVALID("k is 1, axis -1 of input [3, 0] has 0 elements", topk_indices(made({3, 0}), 1));
    EXPECT_INVALID("k is 9", TopKProblem::from_shape({2, 8}, DataType::f32, 9));
    EXPECT_INVALID("k is -1", TopKProblem::from_shape({2, 8}, DataType::f32, -1));
}

TEST(TopKInput, Axis) {
    for (const int axis : {3, -4, 2147483647, -2147483647 - 1}) {
        const std::string told =
            "axis is " + std::to_string(axis) + ", input [3, 20, 4] has 3 dimensions";
        EXPECT_REFUSED(told, a.options.axis = axis);
        EXPECT_INVALID(told, topk(made({3, 20, 4}), 1, {axis}));
        EXPECT_INVALID(told, sort(made({3, 20, 4}), axis));
        EXPECT_INVALID("axis is " + std::to_string(axis),
                       TopKProblem::from_shape({3, 20, 4}, DataType::f32, 1, {.axis = axis}));
    }
    EXPECT_INVALID("input has no dimensions, axis is -1", topk(made({}), 1));
    EXPECT_INVALID("input has no dimensions, axis is 0", topk_values(made({}), 1, {0}));
}

TEST(TopKInput, ShapesOfOutputs) {
    EXPECT_REFUSED("values has shape [3, 6, 4], it must have [3, 5, 4]",
                   a.values = made({3, 6, 4}));
    EXPECT_REFUSED("values has shape [60], it must have [3, 5, 4]", a.values = made({60}));
    EXPECT_REFUSED("indices has shape [5, 3, 4], it must have [3, 5, 4]",
                   a.indices = made({5, 3, 4}, DataType::s64));
    EXPECT_REFUSED("values has shape [3, 5, 4], it must have [3, 0, 4]", a.k = 0);
}

TEST(TopKInput, TypesOfOutputs) {
    EXPECT_REFUSED("values is f16, input is f32", a.values = made({3, 5, 4}, DataType::f16));
    EXPECT_REFUSED("values is s32, input is f32", a.values = made({3, 5, 4}, DataType::s32));
    for (const DataType type : {DataType::u64, DataType::u32, DataType::s16, DataType::f64}) {
        EXPECT_REFUSED("indices are " + std::string(name_of(type)) + ", not s32 or s64",
                       a.indices = made({3, 5, 4}, type));
    }
}

TEST(TopKInput, Devices) {
    const Device device = Device::opencl();
    if (!device.available()) GTEST_SKIP() << "no OpenCL device";
    EXPECT_REFUSED("values is on opencl:0, input is on cpu", a.values = a.values.to(device));
    EXPECT_REFUSED("indices is on opencl:0, input is on cpu", a.indices = a.indices.to(device));
    EXPECT_REFUSED("values is on cpu, input is on opencl:0", a.input = a.input.to(device));
}

TEST(TopKInput, Overlap) {
    EXPECT_REFUSED(
        "values and input overlap: values has shape [3, 5, 4], strides [80, 4, 1]; input has shape "
        "[3, 20, 4], strides [80, 4, 1], and begins 48 bytes before values",
        a.values = a.input.slice(1, 3, 5));
    EXPECT_REFUSED("indices and input overlap: indices has shape [3, 5, 4]", {
        a.input = made({3, 20, 4}, DataType::s64);
        a.values = made({3, 5, 4}, DataType::s64);
        a.indices = a.input.slice(1, 15, 5);
    });
    EXPECT_REFUSED(
        "values and indices overlap: values has shape [3, 5, 4], strides [36, 4, 1]; indices has "
        "shape [3, 5, 4], strides [36, 4, 1], and begins 64 bytes after values",
        {
            a.input = made({3, 20, 4}, DataType::s32);
            const Tensor both = made({3, 9, 4}, DataType::s32);
            a.values = both.slice(1, 0, 5);
            a.indices = both.slice(1, 4, 5);
        });
    // Every element is the same one.
    const Tensor one = made({1});
    EXPECT_REFUSED(
        "elements of the values overlap: shape [3, 5, 4], strides [0, 0, 0]",
        a.values = Tensor::borrow(one.data<float>(), DataType::f32, {3, 5, 4}, {0, 0, 0}));
    const Tensor place = made({60}, DataType::s64);
    EXPECT_REFUSED(
        "elements of the indices overlap: shape [3, 5, 4], strides [5, 1, 0]",
        a.indices = Tensor::borrow(place.data<int64_t>(), DataType::s64, {3, 5, 4}, {5, 1, 0}));
}

// Halves of one allocation that interleave share no byte.
TEST(TopKInput, InterleavedOutputsAreFine) {
    const Tensor both = made({3, 10, 4}, DataType::s32);
    Arguments a;
    a.input = made({3, 20, 4}, DataType::s32);
    a.values = both.slice(1, 0, 5, 2);
    a.indices = both.slice(1, 1, 5, 2);
    a.run();
}

TEST(TopKInput, RowsOfTheTable) {
    for (const KernelInfo &kernel : topk_kernels()) {
        const bool other = size_of(kernel.type) != 4;
        if (!other) continue;
        const Arguments a;
        EXPECT_INVALID(kernel.name,
                       topk_with(kernel, a.input, a.k, a.values, a.indices, a.options));
    }
}

TEST(TopKInput, RepeatedElements) {
    const std::string refused =
        "topk: input has this many elements, repeated ones counted: 4294967296";
    EXPECT_INVALID(refused, topk_values(repeated({1 << 16, 1 << 16}), 1));
    EXPECT_INVALID(refused, topk_indices(repeated({1 << 20, 1 << 12}, DataType::u8), 1));
}

TEST(TopKInput, Orders) {
    EXPECT_EQ(name_of(static_cast<Order>(200)), "unknown");
    EXPECT_EQ(order_of("largest"), Order::largest);
    EXPECT_EQ(order_of("smallest"), Order::smallest);
    EXPECT_EQ(name_of(Order::smallest), "smallest");
    EXPECT_INVALID("\"best\"", order_of("best"));
}

TEST(TopKInput, Problem) {
    const TopKProblem p = TopKProblem::from_shape({3, 20, 4}, DataType::u8, 7,
                                                  {.axis = -2, .order = Order::smallest});
    EXPECT_EQ(p.rows, 12);
    EXPECT_EQ(p.columns, 20);
    EXPECT_EQ(p.k, 7);
    EXPECT_FALSE(p.adjacent);
    EXPECT_EQ(p.order, Order::smallest);
    EXPECT_TRUE(TopKProblem::from_shape({3, 20}, DataType::u8, 7).adjacent);
}

// Whatever ran before it: few rows are not sorted many at a time.
TEST(TopKInput, TheRowIsOfTheNumberOfRows) {
    const test::Environment log("HK_LOG", "select");
    const auto printed = [](int64_t rows) {
        ::testing::internal::CaptureStderr();
        topk_values(made({rows, 24}), 3);
        return ::testing::internal::GetCapturedStderr();
    };
    EXPECT_FALSE(tests::has(printed(1), "topk_short_values_u32_cpu\n"));
    EXPECT_TRUE(tests::has(printed(8), "topk_short_values_u32_cpu\n"));
}

}  // namespace
}  // namespace hk
