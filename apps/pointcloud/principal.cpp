#include "principal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hk::pointcloud {
namespace {

using Vector = std::vector<double>;

Vector means_of(const Tensor &features) {
    const int64_t rows = features.shape()[0], channels = features.shape()[1];
    Vector means(static_cast<size_t>(channels));
    for (int64_t i = 0; i < features.elements(); i++)
        means[static_cast<size_t>(i % channels)] += features.data<float>()[i];
    for (double &mean : means) mean /= static_cast<double>(std::max<int64_t>(1, rows));
    return means;
}

// [channels, channels]
Vector covariance_of(const Tensor &features, const Vector &means) {
    const size_t channels = means.size();
    Vector covariance(channels * channels), row(channels);
    const float *values = features.data<float>();
    for (int64_t r = 0; r < features.shape()[0]; r++, values += channels) {
        for (size_t c = 0; c < channels; c++) row[c] = values[c] - means[c];
        for (size_t c = 0; c < channels; c++) {
            for (size_t d = 0; d < channels; d++) covariance[c * channels + d] += row[c] * row[d];
        }
    }
    return covariance;
}

double length_of(const Vector &v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

// The eigenvector of the largest eigenvalue, by the power method; what it explains is taken out.
Vector take_largest(Vector &matrix, size_t channels) {
    Vector vector(channels);
    for (size_t c = 0; c < channels; c++) vector[c] = 1 + static_cast<double>(c % 7) / 7;
    double value = 0;
    for (int step = 0; step < 200; step++) {
        Vector next(channels);
        for (size_t c = 0; c < channels; c++) {
            for (size_t d = 0; d < channels; d++) next[c] += matrix[c * channels + d] * vector[d];
        }
        value = length_of(next);
        if (value == 0) return vector;
        for (size_t c = 0; c < channels; c++) vector[c] = next[c] / value;
    }
    for (size_t c = 0; c < channels; c++) {
        for (size_t d = 0; d < channels; d++)
            matrix[c * channels + d] -= value * vector[c] * vector[d];
    }
    return vector;
}

// Each value becomes its place among all, 0 to 1: few rows of large values leave colours for
// others.
void spread(Vector &values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return values[a] < values[b] || (values[a] == values[b] && a < b);
    });
    Vector places(values.size(), 0.5);
    const double most = static_cast<double>(values.size()) - 1;
    for (size_t i = 0; most > 0 && i < order.size(); i++)
        places[order[i]] = static_cast<double>(i) / most;
    values = places;
}

}  // namespace

std::vector<pictures::Colour> colours_of(const Tensor &features) {
    const auto rows = static_cast<size_t>(features.shape()[0]);
    const Vector means = means_of(features);
    const size_t channels = means.size();
    Vector covariance = covariance_of(features, means);
    std::array<Vector, 3> components;
    for (Vector &component : components) {
        const Vector axis = take_largest(covariance, channels);
        component.resize(rows);
        for (size_t r = 0; r < rows; r++) {
            const float *row = features.data<float>() + r * channels;
            for (size_t c = 0; c < channels; c++) component[r] += (row[c] - means[c]) * axis[c];
        }
        spread(component);
    }
    std::vector<pictures::Colour> colours(rows);
    for (size_t r = 0; r < rows; r++) {
        for (size_t a = 0; a < 3; a++)
            colours[r][a] = static_cast<uint8_t>(std::lround(55 + 200 * components[a][r]));
    }
    return colours;
}

}  // namespace hk::pointcloud
