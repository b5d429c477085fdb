// Bad input of top-k: refused before any kernel runs, with both values in the message.

#include "tests/runtime/expect_error.h"
#include "hk/topk.h"
#include "tests/runtime/repeated.h"
#include "tests/support/environment.h"

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

    void run() const { topk(input, k, values, indices, options); }
};

template<typename F>
void expect_refused(const std::string &part, F &&spoil) {
    Arguments arguments;
    spoil(arguments);
    EXPECT_INVALID("topk: ", arguments.run());
    EXPECT_INVALID(part, arguments.run());
}

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
    expect_refused("input is undefined", [](Arguments &a) { a.input = {}; });
    expect_refused("neither values nor indices are asked for", [](Arguments &a) {
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
    expect_refused("k is -1", [](Arguments &a) { a.k = -1; });
    expect_refused("k is 21, axis 1 of input [3, 20, 4] has 20 elements",
                   [](Arguments &a) { a.k = 21; });
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
        expect_refused(told, [&](Arguments &a) { a.options.axis = axis; });
        EXPECT_INVALID(told, topk(made({3, 20, 4}), 1, {axis}));
        EXPECT_INVALID(told, sort(made({3, 20, 4}), axis));
        EXPECT_INVALID("axis is " + std::to_string(axis),
                       TopKProblem::from_shape({3, 20, 4}, DataType::f32, 1, {.axis = axis}));
    }
    EXPECT_INVALID("input has no dimensions, axis is -1", topk(made({}), 1));
    EXPECT_INVALID("input has no dimensions, axis is 0", topk_values(made({}), 1, {0}));
}

TEST(TopKInput, ShapesOfOutputs) {
    expect_refused("values has shape [3, 6, 4], it must have [3, 5, 4]", [](Arguments &a) {
        a.values = made({3, 6, 4});
    });
    expect_refused("values has shape [60], it must have [3, 5, 4]",
                   [](Arguments &a) { a.values = made({60}); });
    expect_refused("indices has shape [5, 3, 4], it must have [3, 5, 4]", [](Arguments &a) {
        a.indices = made({5, 3, 4}, DataType::s64);
    });
    expect_refused("values has shape [3, 5, 4], it must have [3, 0, 4]",
                   [](Arguments &a) { a.k = 0; });
}

TEST(TopKInput, TypesOfOutputs) {
    expect_refused("values is f16, input is f32", [](Arguments &a) {
        a.values = made({3, 5, 4}, DataType::f16);
    });
    expect_refused("values is s32, input is f32", [](Arguments &a) {
        a.values = made({3, 5, 4}, DataType::s32);
    });
    for (const DataType type : {DataType::u64, DataType::u32, DataType::s16, DataType::f64}) {
        expect_refused("indices are " + std::string(name_of(type)) + ", not s32 or s64",
                       [&](Arguments &a) {
                           a.indices = made({3, 5, 4}, type);
                       });
    }
}

TEST(TopKInput, Devices) {
    const Device device = Device::opencl();
    if (!device.available()) GTEST_SKIP() << "no OpenCL device";
    expect_refused("values is on opencl:0, input is on cpu",
                   [&](Arguments &a) { a.values = a.values.to(device); });
    expect_refused("indices is on opencl:0, input is on cpu",
                   [&](Arguments &a) { a.indices = a.indices.to(device); });
    expect_refused("values is on cpu, input is on opencl:0",
                   [&](Arguments &a) { a.input = a.input.to(device); });
}

TEST(TopKInput, Overlap) {
    expect_refused(
        "values and input overlap: values has shape [3, 5, 4], strides [80, 4, 1]; input "
        "has shape [3, 20, 4], strides [80, 4, 1], and begins 48 bytes before values",
        [](Arguments &a) { a.values = a.input.slice(1, 3, 5); });
    expect_refused("indices and input overlap: indices has shape [3, 5, 4]", [](Arguments &a) {
        a.input = made({3, 20, 4}, DataType::s64);
        a.values = made({3, 5, 4}, DataType::s64);
        a.indices = a.input.slice(1, 15, 5);
    });
    expect_refused(
        "values and indices overlap: values has shape [3, 5, 4], strides [36, 4, 1]; indices has "
        "shape [3, 5, 4], strides [36, 4, 1], and begins 64 bytes after values",
        [](Arguments &a) {
            a.input = made({3, 20, 4}, DataType::s32);
            const Tensor both = made({3, 9, 4}, DataType::s32);
            a.values = both.slice(1, 0, 5);
            a.indices = both.slice(1, 4, 5);
        });
    // Every element is the same one.
    const Tensor one = made({1});
    expect_refused(
        "elements of the values overlap: shape [3, 5, 4], strides [0, 0, 0]", [&](Arguments &a) {
            a.values = Tensor::borrow(one.data<float>(), DataType::f32, {3, 5, 4}, {0, 0, 0});
        });
    const Tensor place = made({60}, DataType::s64);
    expect_refused(
        "elements of the indices overlap: shape [3, 5, 4], strides [5, 1, 0]", [&](Arguments &a) {
            a.indices = Tensor::borrow(place.data<int64_t>(), DataType::s64, {3, 5, 4}, {5, 1, 0});
        });
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
