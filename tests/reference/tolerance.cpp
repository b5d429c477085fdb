#include "tests/reference/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hk::reference {
namespace {

struct Storage {
    double half_ulp;  // relative, of a normal number
    double smallest;  // below it, hardware may flush results to zero
    double largest;
};

Storage storage(DataType type) {
    switch (type) {
        case DataType::f16:
            return {std::ldexp(1, -11), std::ldexp(1, -25), 65504};
        case DataType::bf16:
            return {std::ldexp(1, -8), std::ldexp(1, -126), std::ldexp(255, 120)};
        default:
            return {std::ldexp(1, -24), std::ldexp(1, -126), std::numeric_limits<float>::max()};
    }
}

// The steepest slope of each activation, and the error of evaluating it, relative to its argument:
// the smooth ones go through approximations of exp and erf that are good to some units in f32.
struct Steepness {
    double slope, evaluation;
};

Steepness steepness(const ActivationOptions &options) {
    switch (options.activation) {
        case Activation::leaky_relu:
            return {std::max(1.0, std::abs(static_cast<double>(options.alpha))), 0};
        case Activation::silu:
            return {1.1, std::ldexp(1, -19)};
        case Activation::gelu:
            return {1.13, std::ldexp(1, -19)};
        default:
            return {1, 0};
    }
}

constexpr auto &kPoints = kWinogradPoints;

// The product of x - q over the other points, its coefficients from that of 1 upwards.
std::vector<double> others(size_t point) {
    std::vector<double> product = {1};
    for (size_t q = 0; q < kPoints.size(); q++) {
        if (q == point) continue;
        product.push_back(0);
        for (size_t d = product.size() - 1; d > 0; d--)
            product[d] = product[d - 1] - kPoints[q] * product[d];
        product[0] *= -kPoints[q];
    }
    return product;
}

double at(const std::vector<double> &polynomial, double x) {
    double value = 0;
    for (size_t d = polynomial.size(); d-- > 0;) value = value * x + polynomial[d];
    return value;
}

double sum_of_magnitudes(const std::vector<double> &values) {
    double sum = 0;
    for (const double value : values) sum += std::abs(value);
    return sum;
}

// The largest sum over points of |A| * |B| 1 * |G| of an output and a place in the filter: what one
// dimension makes of a largest input of 1 and a filter of 1 there.
double growth_of_a_line() {
    double largest = 0;
    for (int output = 0; output < 4; output++) {
        for (int place = 0; place < 3; place++) {
            double sum = output == 3 && place == 2 ? sum_of_magnitudes(others(kPoints.size())) : 0;
            for (size_t p = 0; p < kPoints.size(); p++) {
                const std::vector<double> row = others(p);
                sum += std::abs(std::pow(kPoints[p], output + place) / at(row, kPoints[p])) *
                       sum_of_magnitudes(row);
            }
            largest = std::max(largest, sum);
        }
    }
    return largest;
}

}  // namespace

// Roundings on the way of a term, with and without fused multiplications: 8 of the input's
// transform, 10 of the filter's, one a channel, 8 of the output's. The bound is their number times
// what the sum is where all factors are positive, |A| (|G||w||G| * |B||d||B|) |A| (Barabasz and
// others, Error Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural
// Networks, 2020, section 4).
WinogradSum winograd_sum(int64_t channels) {
    const double line = growth_of_a_line();
    return {channels + 26, line * line};
}

// A sum of T products in f32 is off by at most T * 2^-24 * (sum of magnitudes), to first order and
// in any order of adding (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2); two
// more roundings are for the activation.
double tolerance(DataType type, int64_t terms, double value, double magnitude,
                 const ActivationOptions &activation) {
    const auto [slope, evaluation] = steepness(activation);
    const auto [half_ulp, smallest, largest] = storage(type);
    const double rounding = static_cast<double>(terms + 2) * std::ldexp(1, -24);
    const double sum = magnitude * (slope * rounding + evaluation);
    return sum + half_ulp * (std::abs(value) + sum) + smallest;
}

bool close(DataType type, double result, double value, double tolerance) {
    if (std::isnan(result) || std::isnan(value)) {
        return std::isnan(result) && std::isnan(value);
    }
    if (std::isinf(value)) {
        return result == value;
    }
    if (std::isinf(result)) {
        return std::copysign(1.0, result) * value + tolerance >= storage(type).largest;
    }
    return std::abs(result - value) <= tolerance;
}

}  // namespace hk::reference
