#include "tensor_product_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hk::bench {

namespace {

double value_at(DataType type, const std::byte *data, int64_t index) {
    const std::byte *at = data + index * size_of(type);
    if (type == DataType::f64) {
        double value;
        std::memcpy(&value, at, 8);
        return value;
    }
    if (type == DataType::f32) {
        float value;
        std::memcpy(&value, at, 4);
        return value;
    }
    uint16_t bits;
    std::memcpy(&bits, at, 2);
    return type == DataType::f16 ? f32_from_f16(bits) : f32_from_bf16(bits);
}

double rounded(DataType type, double value) {
    const auto narrow = static_cast<float>(value);
    if (type == DataType::f16) return f32_from_f16(f16_from_f32(narrow));
    if (type == DataType::bf16) return f32_from_bf16(bf16_from_f32(narrow));
    return type == DataType::f32 ? narrow : value;
}

}  // namespace

TensorProductData::TensorProductData(const KernelMap &kernel_map, int64_t c, int64_t m,
                                     DataType type, Role result)
    : map(kernel_map), result(result) {
    const Shape shapes[] = {{map.input_rows, c}, {map.offsets, c, m}, {map.output_rows, m}};
    for (uint32_t i = 0; i < 3; ++i) {
        if (i == static_cast<uint32_t>(result)) {
            tensors[i].tensor = Tensor(shapes[i], type);
        } else {
            tensors[i] = random_data(shapes[i], type, i + 1, 5);
        }
    }
}

std::string TensorProductData::name_of(Role role) const {
    const char *names[] = {"input", "weight", "output"};
    const bool gradient = result != Role::output && (role == result || role == Role::output);
    return names[static_cast<size_t>(role)] + std::string(gradient ? "_gradient" : "");
}

TensorProductReference::TensorProductReference(const TensorProductData &data)
    : type_(data[data.result].tensor.type()), name_(data.name_of(data.result)) {
    const Shape &shape = data[data.result].tensor.shape(),
                &weight = data[Role::weight].tensor.shape();
    channels_ = shape.back();
    const int64_t rows = data[data.result].tensor.elements() / channels_;
    const double products = static_cast<double>(data.map.pairs() * weight[1] * weight[2]);
    const int64_t step = std::max<int64_t>(1, std::llround(products / 1e8));
    places_.resize(static_cast<size_t>(rows), -1);
    for (int64_t row = 0; row < rows; ++row) {
        if (row % step != 0 && row != rows - 1) continue;
        places_[row] = std::ssize(rows_);
        rows_.push_back(row);
    }
    sums_.resize(rows_.size() * channels_);
    const int32_t *sources = data.map.imap.data<int32_t>(),
                  *targets = data.map.omap.data<int32_t>();
    const int64_t *starts = data.map.starts.data<int64_t>();
    for (int64_t n = 0; n < data.map.offsets; ++n) {
        for (int64_t p = starts[n]; p < starts[n + 1]; ++p)
            sum_pair(data, n, sources[p], targets[p]);
    }
}

// A factor times the vector of the other one's channels, for each channel of one tensor.
void TensorProductReference::sum_pair(const TensorProductData &data, int64_t n, int64_t source,
                                      int64_t target) {
    const Shape &shape = data[Role::weight].tensor.shape();
    const int64_t c = shape[1], m = shape[2];
    const auto at = [&](Role role, int64_t place) { return data[role].values.data() + place; };
    const auto add = [&](int64_t row, float factor, const float *vector, int64_t stride) {
        if (places_[row] < 0) return;
        double *sum = &sums_[places_[row] * channels_];
        for (int64_t i = 0; i < channels_; ++i)
            sum[i] += static_cast<double>(factor) * vector[i * stride];
    };
    if (data.result == Role::input) {
        for (int64_t i = 0; i < m && places_[source] >= 0; ++i)
            add(source, *at(Role::output, target * m + i), at(Role::weight, n * c * m + i), m);
        return;
    }
    for (int64_t i = 0; i < c; ++i) {
        const float factor = *at(Role::input, source * c + i);
        if (data.result == Role::weight) {
            add(n * c + i, factor, at(Role::output, target * m), 1);
        } else {
            add(target, factor, at(Role::weight, (n * c + i) * m), 1);
        }
    }
}

Check TensorProductReference::check(const std::byte *result) const {
    double largest = 0, difference = 0;
    std::string failure;
    for (size_t i = 0; i < sums_.size(); ++i) {
        const int64_t row = rows_[i / channels_], m = static_cast<int64_t>(i) % channels_;
        const double value = value_at(type_, result, row * channels_ + m);
        const double wanted = rounded(type_, sums_[i]);
        largest = std::max(largest, std::abs(wanted));
        if (value == wanted) continue;
        const double error = std::abs(value - wanted);
        difference = std::isfinite(error) ? std::max(difference, error) : INFINITY;
        if (failure.empty()) {
            failure = name_ + "(" + std::to_string(row) + ", " + std::to_string(m) + ") is " +
                      std::to_string(value) + ", must be " + std::to_string(wanted);
        }
    }
    return {largest > 0 ? difference / largest : difference, failure};
}

}  // namespace hk::bench
