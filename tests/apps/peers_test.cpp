// The libraries that bench compares with, given its data, compute the same convolutions.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

#include "data.h"
#include "family.h"
#include "peers/python.h"

namespace hk::bench {

namespace {

// How often each library takes part in a family's small cases; each result is held against the
// reference.
std::map<std::string, int> peers_of(const Settings &settings, const std::string &family,
                                    const std::string &list = "smoke") {
    std::map<std::string, int> count;
    for (const CaseInfo &info : family_named(family).cases(list, settings)) {
        const ProblemCase one(info.problem);
        for (const auto &peer : one.libraries()) {
            SCOPED_TRACE(info.name + ": " + peer->name() + ", " + peer->variant());
            peer->run();
            peer->run();
            const Check check = one.check(peer->outputs());
            EXPECT_TRUE(is_right(*peer, check)) << check.max_error << ", " << check.failure;
            ++count[peer->name()];
        }
    }
    return count;
}

struct Types {
    DataType type;
    Layout layout;

    Settings settings() const {
        Settings settings;
        settings.type = settings.output_type = type;
        settings.layout = layout;
        return settings;
    }
};

class ConvolutionPeers : public testing::TestWithParam<Types> {};

TEST_P(ConvolutionPeers, AgreeWithTheReference) {
    const auto count = peers_of(GetParam().settings(), "conv2d");
    if (onednn_version().empty() && onnxruntime_version().empty()) {
        GTEST_SKIP() << "no peers are installed";
    }
    if (GetParam().type == DataType::f32) {
        EXPECT_GE(count.size(), 1u);
        for (const auto &[name, times] : count) EXPECT_LE(times, 4) << name;
    }
}

TEST_P(ConvolutionPeers, OfGradientsAgreeWithTheReference) {
    std::map<std::string, int> count;
    for (const std::string list :
         {"smoke", "input=1x11x9x32,weight=32x5x3x1,padding=2x1,stride=2x1,groups=32"}) {
        for (const char *family : {"conv2d_backward_data", "conv2d_backward_weight"}) {
            for (const auto &[name, times] : peers_of(GetParam().settings(), family, list))
                count[name] += times;
        }
    }
    if (onednn_version().empty()) GTEST_SKIP() << "no peers are installed";
    if (GetParam().type == DataType::f32) {
        EXPECT_EQ(count["oneDNN"], 10);
        EXPECT_GE(count["oneDNN reordered"], 5);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Bench, ConvolutionPeers,
    testing::Values(Types{DataType::f32, Layout::nhwc}, Types{DataType::f32, Layout::nchw},
                    Types{DataType::f16, Layout::nhwc}, Types{DataType::f16, Layout::nchw},
                    Types{DataType::bf16, Layout::nhwc}, Types{DataType::bf16, Layout::nchw}),
    [](const auto &info) {
        return std::string(name_of(info.param.type)) + "_" +
               std::string(name_of(info.param.layout));
    });

TEST(TopKPeers, AgreeWithTheReference) {
    if (onnxruntime_version().empty()) GTEST_SKIP() << "no peers are installed";
    for (const DataType type : {DataType::f32, DataType::f64, DataType::s32, DataType::s64}) {
        Settings settings;
        settings.type = type;
        EXPECT_EQ(peers_of(settings, "topk")["ONNX Runtime"], 9) << name_of(type);
        EXPECT_EQ(peers_of(settings, "topk", "input=3x1000,k=20,order=smallest")["ONNX Runtime"], 3)
            << name_of(type);
    }
}

// Winograd's transforms too: of three channels, whose sums are short, and of many. Strides,
// dilations and paddings that differ by direction.
TEST(NcnnPeers, AgreeWithTheReference) {
    if (ncnn_version().empty()) GTEST_SKIP() << "ncnn is not installed";
    EXPECT_EQ(ncnn_version().rfind("ncnn ", 0), 0u);
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        const Settings settings = Types{DataType::f32, layout}.settings();
        EXPECT_EQ(peers_of(settings, "conv2d")["ncnn"], 4);
        for (const std::string list :
             {"input=1x56x56x64,weight=64x3x3x64,padding=1",
              "input=1x224x224x3,weight=64x3x3x3,padding=1",
              "input=2x13x17x32,weight=48x3x3x32,padding=1",
              "input=1x19x23x16,weight=16x3x5x4,padding=1x2,stride=2x1,dilation=1x2,groups=4",
              "input=1x21x9x24,weight=24x5x1x1,padding=4x0,stride=1x2,dilation=2x1,groups=24"}) {
            EXPECT_EQ(peers_of(settings, "conv2d", list)["ncnn"], 1) << list;
        }
    }
    EXPECT_EQ(peers_of(Types{DataType::f16, Layout::nhwc}.settings(), "conv2d")["ncnn"], 0);
}

// Of groups, rows and instances each has an operation.
TEST(GroupNormPeers, AgreeWithTheReference) {
    if (onnxruntime_version().empty()) GTEST_SKIP() << "no peers are installed";
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        Settings settings;
        settings.layout = layout;
        EXPECT_EQ(peers_of(settings, "group_norm")["ONNX Runtime"], 7) << name_of(layout);
        EXPECT_EQ(peers_of(settings, "group_norm", "input=2x5x4x6,groups=6")["ONNX Runtime"], 1)
            << name_of(layout);
    }
}

struct Transforming : Peer {
    std::string name() const override { return "transforms"; }
    std::string variant() const override { return ""; }
    double tolerance() const override { return 1e-5; }
    void run() override {}
    Outputs outputs() override { return {}; }
};

struct Direct : Transforming {
    double tolerance() const override { return Peer::tolerance(); }
};

TEST(Peers, AreRightWithinTheBoundOrTheirOwnTolerance) {
    EXPECT_TRUE(is_right(Transforming(), {1e-3, ""}));
    EXPECT_TRUE(is_right(Transforming(), {9e-6, "output[0] is 1, must be 2"}));
    EXPECT_FALSE(is_right(Transforming(), {2e-5, "output[0] is 1, must be 2"}));
    EXPECT_FALSE(is_right(Direct(), {9e-6, "output[0] is 1, must be 2"}));
    EXPECT_FALSE(is_right(Transforming(), {NAN, "output[0] is nan, must be 2"}));
}

TEST(NumpyPeers, AgreeWithTheReference) {
    for (const char *family : {"tensor_product", "tensor_product_backward_data",
                               "tensor_product_backward_weight", "kernel_map"})
        EXPECT_GE(peers_of({}, family)["NumPy"], 2) << family;
}

Tensor matrix(const Shape &shape, const std::vector<float> &values) {
    const Tensor tensor(shape, DataType::f32);
    std::copy(values.begin(), values.end(), tensor.data<float>());
    return tensor;
}

Tensor numbers(const std::vector<int32_t> &values) {
    const Tensor tensor({std::ssize(values)}, DataType::s32);
    std::copy(values.begin(), values.end(), tensor.data<int32_t>());
    return tensor;
}

// Two offsets, of which the first has two pairs and the second one.
PythonTask small_task() {
    return {"numpy_tasks.py",
            "tensor_product",
            {{"input", matrix({2, 1}, {2, 3})},
             {"weight", matrix({2, 1, 2}, {1, 10, 100, 1000})},
             {"imap", numbers({0, 1, 1})},
             {"omap", numbers({0, 2, 0})},
             {"starts", numbers({0, 2, 3})}},
            {{"output_rows", 3}, {"turned", false}}};
}

TEST(PythonPeer, RunsATaskAsOftenAsAsked) {
    ASSERT_NE(numpy_version(), "");
    for (const int block : {0, 1, 64}) {
        PythonTask task = small_task();
        if (block > 0) task.options["block"] = block;
        PythonPeer peer("NumPy", "", task);
        EXPECT_GT(peer.repeat(3), 0);
        EXPECT_LT(peer.repeat(3), 60);
        peer.run();
        const Outputs outputs = peer.outputs();
        ASSERT_EQ(outputs.size(), 1u);
        std::vector<float> values(6);
        ASSERT_EQ(outputs[0].size(), values.size() * sizeof(float));
        std::memcpy(values.data(), outputs[0].data(), outputs[0].size());
        EXPECT_EQ(values, (std::vector<float>{302, 3020, 0, 0, 3, 30})) << "blocks of " << block;
    }
}

TEST(PythonPeer, WhatFailsIsAnException) {
    PythonTask task = small_task();
    task.name = "tensor_quotient";
    EXPECT_THROW(PythonPeer("NumPy", "", task), std::runtime_error);
    task.script = "nowhere.py";
    EXPECT_THROW(PythonPeer("NumPy", "", task), std::runtime_error);
    setenv("HK_PYTHON", "/nowhere/python", 1);
    EXPECT_THROW(PythonPeer("NumPy", "", small_task()), std::runtime_error);
    unsetenv("HK_PYTHON");
    EXPECT_THROW(
        PythonPeer("NumPy", "", {"numpy_tasks.py", "", {{"x", Tensor({1}, DataType::bf16)}}, {}}),
        std::runtime_error);
}

struct Quantized {
    DataType input, output;
    Layout layout;
    size_t least;  // peers of four shapes that all libraries have
};

class QuantizedPeers : public testing::TestWithParam<Quantized> {};

TEST_P(QuantizedPeers, AgreeWithTheReference) {
    const auto [input, output, layout, least] = GetParam();
    Settings settings;
    settings.type = input;
    settings.output_type = output;
    settings.layout = layout;
    size_t count = 0;
    for (const auto &[name, times] : peers_of(settings, "quantized_conv2d"))
        count += static_cast<size_t>(times);
    if (onednn_version().empty() || onnxruntime_version().empty()) {
        GTEST_SKIP() << "not all peers are installed";
    }
    EXPECT_GE(count, least);
}

INSTANTIATE_TEST_SUITE_P(Bench, QuantizedPeers,
                         testing::Values(Quantized{DataType::u8, DataType::u8, Layout::nhwc, 12},
                                         Quantized{DataType::u8, DataType::u8, Layout::nchw, 4},
                                         Quantized{DataType::s8, DataType::s8, Layout::nhwc, 12},
                                         Quantized{DataType::u8, DataType::f32, Layout::nhwc, 8},
                                         Quantized{DataType::s8, DataType::s32, Layout::nhwc, 8},
                                         Quantized{DataType::f32, DataType::f32, Layout::nhwc, 8},
                                         Quantized{DataType::f32, DataType::f32, Layout::nchw, 8}),
                         [](const auto &info) {
                             return std::string(name_of(info.param.input)) + "_to_" +
                                    std::string(name_of(info.param.output)) + "_" +
                                    std::string(name_of(info.param.layout));
                         });

}  // namespace

}  // namespace hk::bench
