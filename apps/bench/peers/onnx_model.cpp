#include "peers/onnx_model.h"

#include <initializer_list>

namespace hk::bench {

namespace {

// Protocol buffers: a message is a sequence of fields; a field is its number and wire type as one
// varint, then a varint (wire type 0), or a length and that many bytes (wire type 2).
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
        default:
            return 1;
    }
}

std::string onnx_conv2d_model(const Conv2dProblem &p, const void *weight_oihw) {
    const Conv2dOptions &o = p.options;
    const int type = onnx_type(p.type);
    const int64_t depth = p.channels / o.groups;

    Message node;
    node.bytes(1, "x").bytes(1, "w").bytes(2, "y").bytes(3, "conv").bytes(4, "Conv");
    node.message(5, attribute("kernel_shape", {p.kernel_height, p.kernel_width}));
    node.message(5, attribute("strides", {o.stride[0], o.stride[1]}));
    node.message(5, attribute("dilations", {o.dilation[0], o.dilation[1]}));
    node.message(
        5, attribute("pads", {o.padding.top, o.padding.left, o.padding.bottom, o.padding.right}));
    node.message(5, attribute("group", o.groups));

    Message weight;
    const std::initializer_list<int64_t> shape = {p.filters, depth, p.kernel_height,
                                                  p.kernel_width};
    int64_t bytes = size_of(p.type);
    for (int64_t extent : shape) {
        weight.number(1, extent);
        bytes *= extent;
    }
    weight.number(2, type).bytes(8, "w");
    weight.bytes(9, std::string(static_cast<const char *>(weight_oihw), bytes));

    Message graph;
    graph.message(1, node).bytes(2, "conv2d").message(5, weight);
    graph.message(11, tensor_value("x", type, {p.batch, p.channels, p.height, p.width}));
    graph.message(
        12, tensor_value("y", type, {p.batch, p.filters, p.output_height(), p.output_width()}));

    const Message opset = Message().bytes(1, "").number(2, 17);
    return Message().number(1, 8).message(7, graph).message(8, opset).text();
}

}  // namespace hk::bench
