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

TensorProductReference::TensorProductReference(const KernelMap &map, const Data &input,
                                               const Data &weight)
    : type_(input.tensor.type()), channels_(weight.tensor.shape()[2]) {
    const int64_t depth = weight.tensor.shape()[1];
    const double products = static_cast<double>(map.pairs() * depth * channels_);
    const int64_t step = std::max<int64_t>(1, std::llround(products / 1e8));
    std::vector<int64_t> places(static_cast<size_t>(map.output_rows), -1);
    for (int64_t row = 0; row < map.output_rows; ++row) {
        if (row % step != 0 && row != map.output_rows - 1) continue;
        places[row] = std::ssize(rows_);
        rows_.push_back(row);
    }
    sums_.resize(rows_.size() * channels_);
    const int32_t *sources = map.imap.data<int32_t>(), *targets = map.omap.data<int32_t>();
    const int64_t *starts = map.starts.data<int64_t>();
    for (int64_t n = 0; n < map.offsets; ++n) {
        for (int64_t p = starts[n]; p < starts[n + 1]; ++p) {
            if (places[targets[p]] < 0) continue;
            double *sum = &sums_[places[targets[p]] * channels_];
            for (int64_t c = 0; c < depth; ++c) {
                const double factor = input.values[sources[p] * depth + c];
                const float *row = &weight.values[(n * depth + c) * channels_];
                for (int64_t m = 0; m < channels_; ++m) sum[m] += factor * row[m];
            }
        }
    }
}

Check TensorProductReference::check(const std::byte *output) const {
    double largest = 0, difference = 0;
    std::string failure;
    for (size_t i = 0; i < sums_.size(); ++i) {
        const int64_t row = rows_[i / channels_], m = static_cast<int64_t>(i) % channels_;
        const double value = value_at(type_, output, row * channels_ + m);
        const double wanted = rounded(type_, sums_[i]);
        largest = std::max(largest, std::abs(wanted));
        if (value == wanted) continue;
        const double error = std::abs(value - wanted);
        difference = std::isfinite(error) ? std::max(difference, error) : INFINITY;
        if (failure.empty()) {
            failure = "output(" + std::to_string(row) + ", " + std::to_string(m) + ") is " +
                      std::to_string(value) + ", must be " + std::to_string(wanted);
        }
    }
    return {largest > 0 ? difference / largest : difference, failure};
}

}  // namespace hk::bench
