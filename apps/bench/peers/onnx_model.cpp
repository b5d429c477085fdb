#include "peers/onnx_model.h"

#include <initializer_list>

namespace hk::bench {

namespace {

// Protocol buffers: a message is a sequence of fields; a field is its number and wire type as one
// varint, then a varint (wire type 0), a length and that many bytes (wire type 2), or 4 bytes (wire
// type 5).
class Message {
public:
    Message &number(int field, int64_t value) {
        varint(static_cast<uint64_t>(field) << 3);
        varint(static_cast<uint64_t>(value));
        return *this;
    }
    Message &bytes(int field, const std::string &value) {
        varint(static_cast<uint64_t>(field) << 3 | 2);
        varint(value.size());
        text_ += value;
        return *this;
    }
    Message &real(int field, float value) {
        varint(static_cast<uint64_t>(field) << 3 | 5);
        text_.append(reinterpret_cast<const char *>(&value), sizeof value);
        return *this;
    }
    Message &message(int field, const Message &value) { return bytes(field, value.text_); }

    const std::string &text() const { return text_; }

private:
    void varint(uint64_t value) {
        for (; value >= 128; value >>= 7) text_ += static_cast<char>(value | 128);
        text_ += static_cast<char>(value);
    }

    std::string text_;
};

// Field numbers are those of onnx.proto.

Message attribute(const char *name, std::initializer_list<int64_t> values) {
    Message result;
    result.bytes(1, name);
    for (int64_t value : values) result.number(8, value);
    return result.number(20, 7);  // type: INTS
}

Message attribute(const char *name, int64_t value) {
    return Message().bytes(1, name).number(3, value).number(20, 2);  // type: INT
}

Message real_attribute(const char *name, float value) {
    return Message().bytes(1, name).real(2, value).number(20, 1);  // type: FLOAT
}

Message tensor_value(const char *name, int type, std::initializer_list<int64_t> shape) {
    Message dimensions;
    for (int64_t extent : shape) dimensions.message(1, Message().number(1, extent));
    const Message tensor = Message().number(1, type).message(2, dimensions);
    return Message().bytes(1, name).message(2, Message().message(1, tensor));
}

}  // namespace

int onnx_type(DataType type) {
    switch (type) {
        case DataType::f16:
            return 10;
        case DataType::bf16:
            return 16;
        case DataType::u8:
            return 2;
        case DataType::s8:
            return 3;
        case DataType::u16:
            return 4;
        case DataType::s16:
            return 5;
        case DataType::s32:
            return 6;
        case DataType::s64:
            return 7;
        case DataType::f64:
            return 11;
        case DataType::u32:
            return 12;
        case DataType::u64:
            return 13;
        case DataType::f32:
            break;
    }
    return 1;
}

namespace {

// A node of the convolution's attributes, its inputs and outputs still to come.
Message conv_node(const char *operation, const Conv2dProblem &p) {
    const Conv2dOptions &o = p.options;
    Message node;
    node.bytes(3, "conv").bytes(4, operation);
    node.message(5, attribute("kernel_shape", {p.kernel_height, p.kernel_width}));
    node.message(5, attribute("strides", {o.stride[0], o.stride[1]}));
    node.message(5, attribute("dilations", {o.dilation[0], o.dilation[1]}));
    node.message(
        5, attribute("pads", {o.padding.top, o.padding.left, o.padding.bottom, o.padding.right}));
    return node.message(5, attribute("group", o.groups));
}

Message with_names(Message node, std::initializer_list<const char *> inputs,
                   std::initializer_list<const char *> outputs) {
    for (const char *name : inputs) node.bytes(1, name);
    for (const char *name : outputs) node.bytes(2, name);
    return node;
}

Message initializer(const char *name, DataType type, std::initializer_list<int64_t> shape,
                    const void *data) {
    Message tensor;
    int64_t bytes = size_of(type);
    for (int64_t extent : shape) {
        tensor.number(1, extent);
        bytes *= extent;
    }
    tensor.number(2, onnx_type(type)).bytes(8, name);
    return tensor.bytes(9, std::string(static_cast<const char *>(data), bytes));
}

Message weight(const Conv2dProblem &p, DataType type, const char *name, const void *oihw) {
    return initializer(name, type,
                       {p.filters, p.channels / p.options.groups, p.kernel_height, p.kernel_width},
                       oihw);
}

// The model of a graph that has its nodes, initializers, inputs and outputs already.
std::string model(Message graph, const char *name) {
    graph.bytes(2, name);
    const Message opset = Message().bytes(1, "").number(2, 21);
    return Message().number(1, 10).message(7, graph).message(8, opset).text();
}

std::string conv_model(Message graph, const Conv2dProblem &p) {
    const int type = onnx_type(p.type);
    graph.message(11, tensor_value("x", type, {p.batch, p.channels, p.height, p.width}));
    graph.message(
        12, tensor_value("y", type, {p.batch, p.filters, p.output_height(), p.output_width()}));
    return model(graph, "conv2d");
}

}  // namespace

std::string onnx_conv2d_model(const Conv2dProblem &p, const void *weight_oihw) {
    Message graph;
    graph.message(1, with_names(conv_node("Conv", p), {"x", "w"}, {"y"}));
    graph.message(5, weight(p, p.type, "w", weight_oihw));
    return conv_model(graph, p);
}

std::string onnx_qlinear_conv2d_model(const Conv2dProblem &p, const void *weight_oihw,
                                      const OnnxScaling &scaling) {
    const std::vector<int8_t> zeros(p.filters);
    const auto input_zero = static_cast<uint8_t>(scaling.input_zero_point);
    const auto output_zero = static_cast<uint8_t>(scaling.output_zero_point);
    Message graph;
    graph.message(
        1, with_names(conv_node("QLinearConv", p),
                      {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"},
                      {"y"}));
    graph.message(5, initializer("x_scale", DataType::f32, {}, &scaling.input_scale));
    graph.message(5, initializer("x_zero", p.type, {}, &input_zero));
    graph.message(5, weight(p, DataType::s8, "w", weight_oihw));
    graph.message(5,
                  initializer("w_scale", DataType::f32, {p.filters}, scaling.weight_scales.data()));
    graph.message(5, initializer("w_zero", DataType::s8, {p.filters}, zeros.data()));
    graph.message(5, initializer("y_scale", DataType::f32, {}, &scaling.output_scale));
    graph.message(5, initializer("y_zero", p.type, {}, &output_zero));
    return conv_model(graph, p);
}

std::string onnx_dequantize_conv2d_model(const Conv2dProblem &p, const void *weight_oihw,
                                         const OnnxScaling &scaling) {
    const std::vector<int8_t> zeros(p.filters);
    Message dequantize;
    dequantize.bytes(3, "dequantize").bytes(4, "DequantizeLinear");
    dequantize.message(5, attribute("axis", 0));
    Message graph;
    graph.message(1, with_names(dequantize, {"q", "w_scale", "w_zero"}, {"w"}));
    graph.message(1, with_names(conv_node("Conv", p), {"x", "w"}, {"y"}));
    graph.message(5, weight(p, DataType::s8, "q", weight_oihw));
    graph.message(5,
                  initializer("w_scale", DataType::f32, {p.filters}, scaling.weight_scales.data()));
    graph.message(5, initializer("w_zero", DataType::s8, {p.filters}, zeros.data()));
    return conv_model(graph, p);
}

std::string onnx_topk_model(const TopKProblem &p) {
    Message node;
    node.bytes(3, "topk").bytes(4, "TopK");
    node.message(5, attribute("axis", -1));
    node.message(5, attribute("largest", p.order == Order::largest));
    node.message(5, attribute("sorted", 1));
    Message graph;
    graph.message(1, with_names(node, {"x", "k"}, {"values", "indices"}));
    graph.message(5, initializer("k", DataType::s64, {1}, &p.k));
    graph.message(11, tensor_value("x", onnx_type(p.type), {p.rows, p.columns}));
    graph.message(12, tensor_value("values", onnx_type(p.type), {p.rows, p.k}));
    graph.message(12, tensor_value("indices", onnx_type(DataType::s64), {p.rows, p.k}));
    return model(graph, "topk");
}

std::string onnx_group_norm_operation(const GroupNormProblem &p) {
    if (p.options.groups == 1 && p.height * p.width == 1) return "LayerNormalization";
    return p.options.groups == p.channels ? "InstanceNormalization" : "GroupNormalization";
}

std::string onnx_group_norm_model(const GroupNormProblem &p, const void *weight, const void *bias) {
    const std::string operation = onnx_group_norm_operation(p);
    const bool of_rows = operation == "LayerNormalization";
    Message node;
    node.bytes(3, "norm").bytes(4, operation);
    node.message(5, real_attribute("epsilon", p.options.epsilon));
    if (of_rows) node.message(5, attribute("axis", 1));
    if (operation == "GroupNormalization")
        node.message(5, attribute("num_groups", p.options.groups));
    const int type = onnx_type(p.type), f32 = onnx_type(DataType::f32);
    const auto image = [&](const char *name) {
        return of_rows ? tensor_value(name, type, {p.batch, p.channels})
                       : tensor_value(name, type, {p.batch, p.channels, p.height, p.width});
    };
    Message graph;
    graph.message(1, of_rows ? with_names(node, {"x", "w", "b"}, {"y", "mean", "rstd"})
                             : with_names(node, {"x", "w", "b"}, {"y"}));
    graph.message(5, initializer("w", p.type, {p.channels}, weight));
    graph.message(5, initializer("b", p.type, {p.channels}, bias));
    graph.message(11, image("x"));
    graph.message(12, image("y"));
    if (of_rows) {
        for (const char *name : {"mean", "rstd"})
            graph.message(12, tensor_value(name, f32, {p.batch, 1}));
    }
    return model(graph, "group_norm");
}

}  // namespace hk::bench
