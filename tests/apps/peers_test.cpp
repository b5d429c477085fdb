// The libraries that bench compares with, given its data, compute the same convolutions.

#include <gtest/gtest.h>

#include "conv2d_check.h"
#include "peers/quantized_conv2d_peer.h"
#include "shapes.h"

namespace hk::bench {

namespace {

struct Types {
    DataType type;
    Layout layout;
};

class Peers2d : public testing::TestWithParam<Types> {
protected:
    // Small integers over 8, exact in every type.
    static std::vector<float> values(int64_t size, int64_t step) {
        std::vector<float> result(size);
        for (int64_t i = 0; i < size; ++i) {
            result[i] = static_cast<float>(i * step % 31 - 15) / 8;
        }
        return result;
    }

    static std::vector<std::byte> stored(const std::vector<float> &values, DataType type) {
        std::vector<std::byte> result(values.size() * size_of(type));
        for (size_t i = 0; i < values.size(); ++i) {
            if (type == DataType::f32) {
                reinterpret_cast<float *>(result.data())[i] = values[i];
            } else {
                reinterpret_cast<uint16_t *>(result.data())[i] =
                    type == DataType::f16 ? f16_from_f32(values[i]) : bf16_from_f32(values[i]);
            }
        }
        return result;
    }
};

TEST_P(Peers2d, AgreeWithTheReference) {
    const auto [type, layout] = GetParam();
    size_t count = 0;
    for (const ConvShape &shape : conv_list("smoke", "fwd")) {
        const Conv2dProblem p = shape.problem(type, layout);
        const int64_t depth = p.channels / p.options.groups;
        const auto input = values(p.batch * p.channels * p.height * p.width, 7);
        const auto weight = values(p.filters * depth * p.kernel_height * p.kernel_width, 11);
        const auto stored_input = stored(input, type), stored_weight = stored(weight, type);
        const Conv2dReference reference(p, input, weight);
        for (auto make : {onednn_conv2d, onnxruntime_conv2d}) {
            for (const auto &peer : make({p, stored_input.data(), stored_weight.data()}, 1)) {
                SCOPED_TRACE(shape.name + ": " + peer->name() + ", " + peer->variant());
                peer->run();
                EXPECT_EQ(reference.check(peer->output().data()).failure, "");
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

INSTANTIATE_TEST_SUITE_P(
    Bench, Peers2d,
    testing::Values(Types{DataType::f32, Layout::nhwc}, Types{DataType::f32, Layout::nchw},
                    Types{DataType::f16, Layout::nhwc}, Types{DataType::f16, Layout::nchw},
                    Types{DataType::bf16, Layout::nhwc}, Types{DataType::bf16, Layout::nchw}),
    [](const auto &info) {
        return std::string(name_of(info.param.type)) + "_" +
               std::string(name_of(info.param.layout));
    });

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
            EXPECT_EQ(reference.check(peer->output().data()).failure, "");
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
