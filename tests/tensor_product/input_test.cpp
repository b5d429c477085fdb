// Bad input of the tensor product: refused before any kernel runs, with both values in the message.

#include "hk/tensor_product_backward.h"
#include "tests/support/refused.h"

namespace hk {
namespace {

Tensor made(const Shape &shape, DataType type = DataType::f32) {
    return Tensor::zeros(shape, type);
}

// A map with one entry that is not 0.
template<typename T>
Tensor map(const Shape &shape, DataType type, int64_t place, T value) {
    const Tensor tensor = Tensor::zeros(shape, type);
    tensor.data<T>()[place] = value;
    return tensor;
}

Tensor s32_map(int64_t place, int32_t value) { return map({5, 7}, DataType::s32, place, value); }

// A call that is right, to be spoilt in one place.
struct Arguments {
    Tensor input = made({10, 6}), weight = made({5, 6, 8});
    Tensor imap = made({5, 7}, DataType::s32), omap = made({5, 7}, DataType::s32);
    Tensor output = made({12, 8});
    TensorProductOptions options;

    static constexpr const char *kOperation = "tensor_product: ";
    void run() const { tensor_product(input, weight, imap, omap, output, options); }
};

// The same with ragged maps: of 5 offsets, 4 pairs each.
struct RaggedArguments : Arguments {
    RaggedArguments() {
        imap = made({20}, DataType::s64);
        omap = made({20}, DataType::s64);
        for (int64_t n = 0; n < 6; n++) at()[n] = 4 * n;
    }
    int64_t *at() const { return starts.data<int64_t>(); }

    void run() const {
        const TensorProductMaps maps(imap, omap, 10, 12, starts, check);
        tensor_product(input, weight, maps, output, options);
    }

    Tensor starts = made({6}, DataType::s64);
    bool check = true;
};

TEST(TensorProductInput, TheUnspoiltCallsRun) {
    Arguments().run();
    RaggedArguments().run();
}

TEST(TensorProductInput, UndefinedTensors) {
    EXPECT_REFUSED("input is undefined", a.input = {});
    EXPECT_REFUSED("weight is undefined", a.weight = {});
    EXPECT_REFUSED("imap is undefined", a.imap = {});
    EXPECT_REFUSED("omap is undefined", a.omap = {});
    EXPECT_REFUSED("output is undefined", a.output = {});
}

TEST(TensorProductInput, Ranks) {
    EXPECT_REFUSED("input has shape [10], it must have 2 dimensions", a.input = made({10}));
    EXPECT_REFUSED("weight has shape [5, 48], it must have 3 dimensions", a.weight = made({5, 48}));
    EXPECT_REFUSED("output has shape [12, 8, 1], it must have 2 dimensions",
                   a.output = made({12, 8, 1}));
    EXPECT_REFUSED("imap has shape [35], it must have 2 dimensions",
                   a.imap = made({35}, DataType::s32));
    EXPECT_REFUSED_BY(RaggedArguments, "imap has shape [4, 5], it must have 1 dimensions",
                      a.imap = made({4, 5}, DataType::s64));
}

TEST(TensorProductInput, Widths) {
    EXPECT_REFUSED("weight has 6 input channels, input has 7", a.input = made({10, 7}));
    EXPECT_REFUSED("weight has 8 output channels, output has 9", a.output = made({12, 9}));
    EXPECT_REFUSED("the maps have 4 offsets, weight has 5",
                   a.imap = a.omap = made({4, 7}, DataType::s32));
    EXPECT_REFUSED("omap has shape [5, 6], it must have [5, 7]",
                   a.omap = made({5, 6}, DataType::s32));
    EXPECT_REFUSED_BY(RaggedArguments, "omap has shape [19], it must have [20]",
                      a.omap = made({19}, DataType::s64));
    EXPECT_REFUSED_BY(RaggedArguments, "the maps have 4 offsets, weight has 5", {
        a.starts = a.starts.slice(0, 0, 5);
        a.at()[4] = 20;
    });
    EXPECT_REFUSED_BY(RaggedArguments, "the maps have 10 input rows, input has 11",
                      a.input = made({11, 6}));
    EXPECT_REFUSED_BY(RaggedArguments, "the maps have 12 output rows, output has 11",
                      a.output = made({11, 8}));
    EXPECT_REFUSED_BY(RaggedArguments, "starts has shape [0]", a.starts = made({0}, DataType::s64));
}

TEST(TensorProductInput, Groups) {
    EXPECT_REFUSED("there are 0 groups, at least 1 are needed", a.options.groups = 0);
    EXPECT_REFUSED("input has 6 channels, which 4 groups don't divide", a.options.groups = 4);
    EXPECT_REFUSED("output has 8 channels, which 3 groups don't divide", a.options.groups = 3);
    EXPECT_REFUSED("weight has 6 input channels, a group of the input has 3", a.options.groups = 2);
}

TEST(TensorProductInput, Types) {
    EXPECT_REFUSED("input is s32, not f32, f16, bf16 or f64",
                   a.input = made({10, 6}, DataType::s32));
    EXPECT_REFUSED("weight is f64, input is f32", a.weight = made({5, 6, 8}, DataType::f64));
    EXPECT_REFUSED("output is f16, input is f32", a.output = made({12, 8}, DataType::f16));
    EXPECT_REFUSED("imap is u32, not s32 or s64", a.imap = made({5, 7}, DataType::u32));
    EXPECT_REFUSED("omap is s64, imap is s32", a.omap = made({5, 7}, DataType::s64));
    EXPECT_REFUSED_BY(RaggedArguments, "starts is f32, not s32 or s64", a.starts = made({6}));
}

TEST(TensorProductInput, IndicesOutOfRange) {
    EXPECT_REFUSED("imap of offset 3 is 10 at position 5, input has 10 rows",
                   a.imap = s32_map(3 * 7 + 5, 10));
    EXPECT_REFUSED("imap of offset 0 is -2 at position 0, input has 10 rows",
                   a.imap = s32_map(0, -2));
    EXPECT_REFUSED("omap of offset 4 is 12 at position 6, output has 12 rows",
                   a.omap = s32_map(34, 12));
    EXPECT_REFUSED("omap of offset 1 is -2147483648 at position 0, output has 12 rows",
                   a.omap = s32_map(7, INT32_MIN));
    // Where the other map says that there is no pair, too.
    EXPECT_REFUSED("omap of offset 1 is 99 at position 1, output has 12 rows", {
        a.imap = s32_map(8, -1);
        a.omap = s32_map(8, 99);
    });
    EXPECT_REFUSED_BY(RaggedArguments, "imap of offset 2 is 4294967296 at position 1, input has 10",
                      a.imap = map<int64_t>({20}, DataType::s64, 9, 1ll << 32));
}

// The first offset's, whichever thread finds what.
TEST(TensorProductInput, TheFirstFaultIsTold) {
    for (int run = 0; run < 20; run++) {
        EXPECT_REFUSED("omap of offset 2 is 50 at position 3", {
            a.omap = s32_map(2 * 7 + 3, 50);
            a.omap.data<int32_t>()[2 * 7 + 4] = 60;
            a.imap = s32_map(4 * 7, 70);
        });
    }
}

TEST(TensorProductInput, ARefusedCallChangesNothing) {
    Arguments a;
    a.output.data<float>()[95] = 42;
    a.imap = s32_map(34, 10);
    EXPECT_INVALID("position 6", a.run());
    EXPECT_EQ(a.output.data<float>()[95], 42);
}

TEST(TensorProductInput, Devices) {
    const Device device = Device::opencl();
    if (!device.available()) GTEST_SKIP() << "no OpenCL device";
    EXPECT_REFUSED("output is on opencl:0, input is on cpu", a.output = a.output.to(device));
    EXPECT_REFUSED("omap is on cpu, imap is on opencl:0", a.imap = a.imap.to(device));
}

TEST(TensorProductInput, Overlap) {
    EXPECT_REFUSED("output and input overlap", {
        const Tensor both = made({22, 8});
        a.input = both.slice(0, 0, 13).slice(1, 0, 6);
        a.output = both.slice(0, 10, 12);
    });
    const Tensor row = made({8});
    EXPECT_REFUSED("elements of the output overlap: shape [12, 8], strides [0, 1]",
                   a.output = Tensor::borrow(row.data<float>(), DataType::f32, {12, 8}, {0, 1}));
}

// As large as a view can say.
TEST(TensorProductInput, Sizes) {
    const Tensor row = made({6});
    EXPECT_REFUSED(
        "input has the size 3000000000, a kernel takes at most 2147483647",
        a.input = Tensor::borrow(row.data<float>(), DataType::f32, {3000000000, 6}, {0, 1}));
    EXPECT_REFUSED("weight fills 3200000000 bytes, a kernel takes at most 2147483647", {
        const int64_t offsets = 1562500;  // of 8 * 64 floats each
        a.weight = Tensor::borrow(row.data<float>(), DataType::f32, {offsets, 6, 40}, {0, 0, 0});
        a.imap = a.omap = made({offsets, 0}, DataType::s32);
        a.output = made({12, 40});
    });
}

TEST(TensorProductInput, RowsOfTheTable) {
    for (const KernelInfo &kernel : tensor_product_kernels()) {
        if (kernel.type == DataType::f32) continue;
        const Arguments a;
        const TensorProductMaps maps(a.imap, a.omap, 10, 12);
        EXPECT_INVALID(kernel.name, tensor_product_with(kernel, a.input, a.weight, maps, a.output));
    }
}

// Messages of gradients name their own tensors.
TEST(TensorProductInput, Gradients) {
    const Arguments a;
    const TensorProductMaps maps(a.imap, a.omap, 10, 12);
    tensor_product_backward_data(a.output, a.weight, maps, a.input);
    tensor_product_backward_weight(a.input, a.output, maps, a.weight);
    EXPECT_INVALID(
        "tensor_product_backward_data: weight has 6 input channels, input_gradient has 7",
        tensor_product_backward_data(a.output, a.weight, maps, made({10, 7})));
    EXPECT_INVALID(
        "tensor_product_backward_data: the maps have 12 output rows, output_gradient has 9",
        tensor_product_backward_data(made({9, 8}), a.weight, maps, a.input));
    EXPECT_INVALID("tensor_product_backward_weight: weight_gradient has shape [6, 8]",
                   tensor_product_backward_weight(a.input, a.output, maps, made({6, 8})));
    EXPECT_INVALID("tensor_product_backward_weight: output_gradient is undefined",
                   tensor_product_backward_weight(a.input, {}, maps, a.weight));
    EXPECT_INVALID("weight_gradient and input overlap",
                   tensor_product_backward_weight(
                       a.weight.slice(0, 0, 1).reshape({6, 8}).slice(0, 0, 6).slice(1, 0, 6),
                       made({12, 8}), TensorProductMaps(a.imap, a.omap, 6, 12), a.weight));
}

// What is kept of the maps, and that calls share it.
TEST(TensorProductInput, MapsKeepWhatWasSorted) {
    const Arguments a;
    const TensorProductMaps maps(a.imap, a.omap, 10, 12), copy = maps;
    EXPECT_EQ(maps.offsets(), 5);
    EXPECT_EQ(maps.places(), 35);
    EXPECT_EQ(maps.bytes(), 0u);
    tensor_product(a.input, a.weight, maps, a.output);
    const size_t forward = maps.bytes();
    EXPECT_GE(forward, 35 * 8u);
    tensor_product(a.input, a.weight, copy, a.output);
    EXPECT_EQ(maps.bytes(), forward);
    tensor_product_backward_data(a.output, a.weight, maps, a.input);
    EXPECT_GT(maps.bytes(), forward);
    EXPECT_EQ(copy.bytes(), maps.bytes());
}

TEST(TensorProductInput, Summations) {
    EXPECT_EQ(summation_of("atomic"), Summation::atomic);
    EXPECT_EQ(name_of(Summation::deterministic), "deterministic");
    EXPECT_INVALID("\"fast\"", summation_of("fast"));
    EXPECT_REFUSED("summation 7 does not exist", a.options.summation = static_cast<Summation>(7));
}

TEST(TensorProductInput, Problem) {
    const auto p = TensorProductProblem::from_shapes({10, 6}, {5, 3, 8}, 35, {12, 8},
                                                     DataType::bf16, {.groups = 2});
    EXPECT_EQ(p.type, DataType::bf16);
    EXPECT_EQ(p.input_rows, 10);
    EXPECT_EQ(p.output_rows, 12);
    EXPECT_EQ(p.offsets, 5);
    EXPECT_EQ(p.pairs, 35);
    EXPECT_EQ(p.input_channels, 3);
    EXPECT_EQ(p.output_channels, 4);
    EXPECT_TRUE(p.adjacent);
    EXPECT_INVALID(
        "weight has 3 input channels, input has 6",
        TensorProductProblem::from_shapes({10, 6}, {5, 3, 8}, 35, {12, 8}, DataType::f32));
}

}  // namespace
}  // namespace hk
