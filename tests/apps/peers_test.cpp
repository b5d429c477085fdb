// The libraries that bench compares with, given its data, compute the same convolutions.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

#include "conv2d_check.h"
#include "conv2d_data.h"
#include "peers/conv2d_backward_peer.h"
#include "peers/numpy.h"
#include "peers/quantized_conv2d_peer.h"
#include "peers/topk_peer.h"
#include "shapes.h"
#include "topk_check.h"

namespace hk::bench {

namespace {

struct Types {
    DataType type;
    Layout layout;
};

class Peers2d : public testing::TestWithParam<Types> {};

// Multiples of 1/16, exact in every type.
Data exact_data(const Conv2dProblem &problem, const Place &extents, uint32_t seed) {
    return random_data(shape_of(problem.options.layout, extents), problem.type, seed, 5);
}

TEST_P(Peers2d, AgreeWithTheReference) {
    const auto [type, layout] = GetParam();
    size_t count = 0;
    for (const ConvShape &shape : conv_list("smoke", "fwd")) {
        const Conv2dProblem p = shape.problem(type, layout);
        const Data input = exact_data(p, input_extents(p), 1);
        const Data weight = exact_data(p, weight_extents(p), 2);
        const Conv2dReference reference(p, input.values, weight.values);
        const Conv2dData data{p, bytes_of(input.tensor), bytes_of(weight.tensor)};
        for (auto make : {onednn_conv2d, onnxruntime_conv2d}) {
            for (const auto &peer : make(data, 1)) {
                SCOPED_TRACE(shape.name + ": " + peer->name() + ", " + peer->variant());
                peer->run();
                EXPECT_EQ(reference.check(peer->outputs()[0].data()).failure, "");
                ++count;
            }
        }
    }
    if (onednn_version().empty() && onnxruntime_version().empty()) {
        GTEST_SKIP() << "no peers are installed";
    }
    if (type == DataType::f32) {
        EXPECT_GE(count, 4u);
    }
}

class GradientPeers : public testing::TestWithParam<Types> {};

TEST_P(GradientPeers, AgreeWithTheReference) {
    const auto [type, layout] = GetParam();
    std::map<std::string, int> count;
    auto shapes = conv_list("smoke", "bwd_data");
    const auto depthwise = parse_conv_shapes(
        "c,h,w,k,kh,kw,pad_h,pad_w,stride_h,stride_w,groups\n32,11,9,32,5,3,2,1,2,1,32\n");
    shapes.insert(shapes.end(), depthwise.begin(), depthwise.end());
    for (const ConvShape &shape : shapes) {
        const Conv2dProblem p = shape.problem(type, layout);
        const Data output_gradient = exact_data(p, output_extents(p), 1);
        for (const Gradient gradient : {Gradient::input, Gradient::weight}) {
            const bool of_input = gradient == Gradient::input;
            const Data other = exact_data(p, of_input ? weight_extents(p) : input_extents(p), 2);
            const GradientReference reference(p, gradient, output_gradient.values, other.values);
            const GradientData data{p, gradient, bytes_of(output_gradient.tensor),
                                    bytes_of(other.tensor)};
            for (const auto &peer : onednn_gradient(data, 1)) {
                SCOPED_TRACE(derived_name(shape) + ": " + peer->name() + ", " + peer->variant());
                EXPECT_TRUE(peer->same_task());
                peer->run();
                peer->run();
                EXPECT_EQ(reference.check(peer->outputs()[0].data()).failure, "");
                ++count[peer->name()];
            }
        }
    }
    if (onednn_version().empty()) GTEST_SKIP() << "no peers are installed";
    if (type == DataType::f32) {
        EXPECT_EQ(count["oneDNN"], 10);
        EXPECT_GE(count["oneDNN reordered"], 5);
    }
}

const auto all_types =
    testing::Values(Types{DataType::f32, Layout::nhwc}, Types{DataType::f32, Layout::nchw},
                    Types{DataType::f16, Layout::nhwc}, Types{DataType::f16, Layout::nchw},
                    Types{DataType::bf16, Layout::nhwc}, Types{DataType::bf16, Layout::nchw});

std::string name_of_types(const testing::TestParamInfo<Types> &info) {
    return std::string(name_of(info.param.type)) + "_" + std::string(name_of(info.param.layout));
}

INSTANTIATE_TEST_SUITE_P(Bench, Peers2d, all_types, name_of_types);
INSTANTIATE_TEST_SUITE_P(Bench, GradientPeers, all_types, name_of_types);

TEST(TopKPeers, AgreeWithTheReference) {
    if (onnxruntime_version().empty()) GTEST_SKIP() << "no peers are installed";
    for (const DataType type : {DataType::f32, DataType::f64, DataType::s32, DataType::s64}) {
        for (const Order order : {Order::largest, Order::smallest}) {
            TopKProblem p{.type = type, .rows = 3, .columns = 1000, .k = 20, .order = order};
            const Tensor input = random_rows(type, p.rows, p.columns);
            const TopKReference reference(p, input);
            const Peers peers = onnxruntime_topk(p, input, 1);
            ASSERT_EQ(peers.size(), 1u) << name_of(type);
            peers[0]->run();
            const Outputs outputs = peers[0]->outputs();
            ASSERT_EQ(outputs.size(), 2u);
            EXPECT_EQ(reference.check(outputs[0].data(), outputs[1].data()).failure, "");
            EXPECT_TRUE(peers[0]->same_task());
            p.indices = false;
            EXPECT_FALSE(onnxruntime_topk(p, input, 1)[0]->same_task());
        }
    }
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
NumpyTask small_task() {
    return {"tensor_product",
            {{"input", matrix({2, 1}, {2, 3})},
             {"weight", matrix({2, 1, 2}, {1, 10, 100, 1000})},
             {"imap", numbers({0, 1, 1})},
             {"omap", numbers({0, 2, 0})},
             {"starts", numbers({0, 2, 3})}},
            {{"output_rows", 3}, {"turned", false}}};
}

TEST(NumpyPeer, RunsATaskAsOftenAsAsked) {
    ASSERT_NE(numpy_version(), "");
    for (const int block : {0, 1, 64}) {
        NumpyTask task = small_task();
        if (block > 0) task.options["block"] = block;
        NumpyPeer peer("NumPy", "", task);
        peer.repeat(3);
        peer.run();
        const Outputs outputs = peer.outputs();
        ASSERT_EQ(outputs.size(), 1u);
        std::vector<float> values(6);
        ASSERT_EQ(outputs[0].size(), values.size() * sizeof(float));
        std::memcpy(values.data(), outputs[0].data(), outputs[0].size());
        EXPECT_EQ(values, (std::vector<float>{302, 3020, 0, 0, 3, 30})) << "blocks of " << block;
    }
}

TEST(NumpyPeer, WhatFailsIsAnException) {
    NumpyTask task = small_task();
    task.name = "tensor_quotient";
    EXPECT_THROW(NumpyPeer("NumPy", "", task), std::runtime_error);
    setenv("HK_PYTHON", "/nowhere/python", 1);
    EXPECT_THROW(NumpyPeer("NumPy", "", small_task()), std::runtime_error);
    unsetenv("HK_PYTHON");
    EXPECT_THROW(NumpyPeer("NumPy", "", {"", {{"x", Tensor({1}, DataType::bf16)}}, {}}),
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
    size_t count = 0;
    for (const ConvShape &shape : conv_list("smoke", "fwd")) {
        QuantizedConv2dProblem problem{shape.problem(DataType::f32, layout), output};
        problem.conv.type = input;
        const QuantizedConv2dData data = random_quantized_conv2d(problem);
        const QuantizedConv2dReference reference(data);
        Peers peers = hk_f32_conv2d(data, Device::cpu());
        for (auto make : {onednn_quantized_conv2d, onnxruntime_quantized_conv2d}) {
            for (auto &peer : make(data, 1)) peers.push_back(std::move(peer));
        }
        for (const auto &peer : peers) {
            SCOPED_TRACE(shape.name + ": " + peer->name() + ", " + peer->variant());
            peer->run();
            EXPECT_EQ(reference.check(peer->outputs()[0].data()).failure, "");
            ++count;
        }
    }
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
