#include "topk/operands.h"

#include <algorithm>
#include <numeric>

#include "hk/error.h"

namespace hk::detail {

namespace {

constexpr const char *kOperation = "topk";

// A dimension of rows: what a step along it is in each tensor.
struct RowDim {
    int64_t extent, input, values, indices;
};

bool continues(const RowDim &inner, const RowDim &outer) {
    return outer.input == inner.extent * inner.input &&
           outer.values == inner.extent * inner.values &&
           outer.indices == inner.extent * inner.indices &&
           inner.extent <= INT32_MAX / outer.extent;
}

// Innermost first, as few as possible.
std::vector<RowDim> row_dims(const TopKTensors &tensors, size_t axis) {
    const auto stride = [](const Tensor &tensor, size_t d) {
        return tensor.defined() ? tensor.strides()[d] : 0;
    };
    std::vector<RowDim> dims;
    const Shape &shape = tensors.input.shape();
    for (size_t d = shape.size(); d-- > 0;) {
        if (d == axis || shape[d] == 1) continue;
        const RowDim dim{shape[d], tensors.input.strides()[d], stride(tensors.values, d),
                         stride(tensors.indices, d)};
        if (!dims.empty() && continues(dims.back(), dim)) {
            dims.back().extent *= dim.extent;
        } else {
            dims.push_back(dim);
        }
    }
    while (dims.size() < 2) dims.push_back({1, 0, 0, 0});
    return dims;
}

BufferView view_of(const Tensor &tensor, DataType type, Dims dims) {
    if (!tensor.defined()) return {};
    BufferView view(tensor, dims);
    view.offset = view.offset * size_of(view.type) / size_of(type);
    view.type = type;
    return view;
}

}  // namespace

TopKPacked::TopKPacked(const TopKTensors &tensors, int axis) {
    std::vector<int> order(tensors.input.shape().size());
    std::iota(order.begin(), order.end(), 0);
    const auto last = order.begin() + (axis < 0 ? axis + std::ssize(order) : axis);
    std::rotate(last, last + 1, order.end());
    const auto turned = [&](const Tensor &tensor) {
        return tensor.defined() ? tensor.permute(order) : tensor;
    };
    input = turned(tensors.input).to(tensors.input.device());
    values = turned(tensors.values);
    indices = turned(tensors.indices);
}

DataType topk_row_type(DataType type) {
    switch (size_of(type)) {
        case 1:
            return DataType::u8;
        case 2:
            return DataType::u16;
        case 4:
            return DataType::u32;
        default:
            return DataType::u64;
    }
}

std::vector<TopKOperands> topk_operands(const TopKProblem &problem, const TopKTensors &tensors,
                                        int axis) {
    const size_t rank = tensors.input.shape().size();
    const size_t a = axis < 0 ? static_cast<size_t>(axis + static_cast<int>(rank)) : axis;
    const std::vector<RowDim> dims = row_dims(tensors, a);
    const RowDim &x = dims[0], &y = dims[1];
    const DataType type = topk_row_type(problem.type);
    // Along an axis with one element a stride is any number.
    const auto along = [&](const Tensor &tensor) {
        if (!tensor.defined()) return int64_t{0};
        return tensor.shape()[a] > 1 ? tensor.strides()[a] : 1;
    };
    const int64_t words =
        tensors.indices.defined() ? size_of(tensors.indices.type()) / size_of(DataType::s32) : 1;
    TopKOperands first{
        problem,
        view_of(
            tensors.input, type,
            {{problem.columns, along(tensors.input)}, {x.extent, x.input}, {y.extent, y.input}}),
        view_of(tensors.values, type,
                {{problem.k, along(tensors.values)}, {x.extent, x.values}, {y.extent, y.values}}),
        view_of(tensors.indices, DataType::s32,
                {{words, 1},
                 {problem.k, words * along(tensors.indices)},
                 {x.extent, words * x.indices},
                 {y.extent, words * y.indices}})};
    first.problem.rows = x.extent * y.extent;
    check_fits_kernel(kOperation, "input", first.input);
    if (problem.values) check_fits_kernel(kOperation, "values", first.values);
    if (problem.indices) check_fits_kernel(kOperation, "indices", first.indices);
    std::vector<TopKOperands> calls{first};
    for (size_t d = 2; d < dims.size(); d++) {
        const size_t count = calls.size();
        for (int64_t i = 1; i < dims[d].extent; i++) {
            for (size_t c = 0; c < count; c++) {
                TopKOperands call = calls[c];
                call.input.offset += i * dims[d].input;
                call.values.offset += i * dims[d].values;
                call.indices.offset += i * dims[d].indices * words;
                calls.push_back(std::move(call));
            }
        }
    }
    return calls;
}

std::array<NamedArgument, 4> topk_key_arguments(DataType type, Order order) {
    const int bits = static_cast<int>(8 * size_of(type));
    const uint64_t all = ~uint64_t{0} >> (64 - bits), sign = uint64_t{1} << (bits - 1);
    const auto arguments = [&](bool floats, bool has_sign, uint64_t infinity, uint64_t nan) {
        const uint64_t flip = has_sign ? sign : 0;
        return std::array<NamedArgument, 4>{{{"floats", floats},
                                             {"flip", order == Order::largest ? flip : flip ^ all},
                                             {"infinity", infinity},
                                             {"nan", nan}}};
    };
    switch (type) {
        case DataType::f32:
            return arguments(true, true, 0x7f800000, 0x7fc00000);
        case DataType::f64:
            return arguments(true, true, 0x7ff0000000000000, 0x7ff8000000000000);
        case DataType::f16:
            return arguments(true, true, 0x7c00, 0x7e00);
        case DataType::bf16:
            return arguments(true, true, 0x7f80, 0x7fc0);
        case DataType::s8:
        case DataType::s16:
        case DataType::s32:
        case DataType::s64:
            return arguments(false, true, 0, 0);
        default:
            return arguments(false, false, 0, 0);
    }
}

Fields topk_fields(const TopKProblem &problem) {
    const int64_t bytes = problem.columns * size_of(problem.type);
    Fields fields(topk_row_type(problem.type), Layout::any);
#include "topk/fields.def"
    return fields;
}

}  // namespace hk::detail
