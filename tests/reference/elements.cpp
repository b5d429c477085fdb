#include "tests/reference/elements.h"

#include <stdexcept>

namespace hk::reference {
namespace {

double decode(DataType type, uint16_t bits) {
    return type == DataType::f16 ? f32_from_f16(bits) : f32_from_bf16(bits);
}

uint16_t encode(DataType type, double value) {
    const auto narrow = static_cast<float>(value);
    return type == DataType::f16 ? f16_from_f32(narrow) : bf16_from_f32(narrow);
}

// Calls visit(place) with every element's place relative to the first, in row-major order.
template<typename Visit>
void for_each_place(const Tensor &tensor, Visit visit) {
    if (tensor.elements() == 0) {
        return;
    }
    const Shape &shape = tensor.shape();
    const Shape &strides = tensor.strides();
    Shape index(shape.size(), 0);
    int64_t place = 0;
    for (;;) {
        visit(place);
        int d = tensor.rank() - 1;
        for (; d >= 0; d--) {
            place += strides[d];
            if (++index[d] < shape[d]) {
                break;
            }
            place -= strides[d] * shape[d];
            index[d] = 0;
        }
        if (d < 0) {
            return;
        }
    }
}

void check_type(DataType type) {
    if (type != DataType::f32 && type != DataType::f16 && type != DataType::bf16) {
        throw std::invalid_argument("reference: elements must be f32, f16 or bf16");
    }
}

}  // namespace

std::vector<double> read(const Tensor &tensor) {
    check_type(tensor.type());
    std::vector<double> values;
    values.reserve(static_cast<size_t>(tensor.elements()));
    if (tensor.elements() == 0) {
        return values;
    }
    if (tensor.type() == DataType::f32) {
        const float *data = tensor.data<float>();
        for_each_place(tensor, [&](int64_t place) { values.push_back(data[place]); });
    } else {
        const uint16_t *data = tensor.data<uint16_t>();
        for_each_place(
            tensor, [&](int64_t place) { values.push_back(decode(tensor.type(), data[place])); });
    }
    return values;
}

void write(const Tensor &tensor, std::span<const double> values) {
    check_type(tensor.type());
    if (static_cast<int64_t>(values.size()) != tensor.elements()) {
        throw std::invalid_argument("reference: as many values as elements are needed");
    }
    if (values.empty()) {
        return;
    }
    const double *next = values.data();
    if (tensor.type() == DataType::f32) {
        float *data = tensor.data<float>();
        for_each_place(tensor, [&](int64_t place) { data[place] = static_cast<float>(*next++); });
    } else {
        uint16_t *data = tensor.data<uint16_t>();
        for_each_place(tensor,
                       [&](int64_t place) { data[place] = encode(tensor.type(), *next++); });
    }
}

double rounded(DataType type, double value) {
    check_type(type);
    return type == DataType::f32 ? static_cast<float>(value) : decode(type, encode(type, value));
}

}  // namespace hk::reference
