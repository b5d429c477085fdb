#include "tests/software_cuda/matrix_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace software_cuda::tests {

namespace {

// Of binary formats: what the fields mean.
double element_of(const std::string &type, uint32_t bits) {
    if (type == "bf16") return double{float_of(bits << 16)};
    if (type == "tf32") return double{float_of(bits >> 13 << 13)};
    const int exponent = static_cast<int>(bits >> 10 & 31),
              fraction = static_cast<int>(bits & 1023);
    const double sign = bits >> 15 & 1 ? -1 : 1;
    if (exponent == 31)
        return fraction ? std::numeric_limits<double>::quiet_NaN()
                        : sign * std::numeric_limits<double>::infinity();
    return sign *
           (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

// Rounded towards zero.
float cut(double value) {
    const auto near = static_cast<float>(value);
    if (std::isinf(near)) return near;
    return std::fabs(double{near}) > std::fabs(value) ? std::nextafterf(near, 0.0f) : near;
}

// All at once: cut off where the 24 bits of the largest end.
float sum_of(const std::vector<double> &summands) {
    double plain = 0;
    int largest = std::numeric_limits<int>::min();
    for (const double x : summands) {
        plain += x;
        if (x != 0) largest = std::max(largest, std::ilogb(x));
    }
    if (!std::isfinite(plain)) return static_cast<float>(plain);
    int64_t sum = 0;
    for (const double x : summands) {
        if (x != 0) sum += static_cast<int64_t>(std::trunc(std::ldexp(x, 23 - largest)));
    }
    const double value = sum == 0 ? 0 : std::ldexp(static_cast<double>(sum), largest - 23);
    if (std::fabs(value) >= 0x1p128)
        return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(value));
    return cut(value);
}

uint32_t float_product(const ProductForm &form, const Matrices &m, int row, int column) {
    float sum = float_of(m.c[row][column]);
    for (int first = 0; first < form.depth; first += form.step) {
        std::vector<double> summands{double{sum}};
        for (int k = first; k < first + form.step; k++)
            summands.push_back(element_of(form.a_type, m.a[row][k]) *
                               element_of(form.b_type, m.b[k][column]));
        sum = sum_of(summands);
    }
    return std::isnan(sum) ? 0x7fffffff : bits_of_float(sum);
}

uint32_t integer_product(const ProductForm &form, const Matrices &m, int row, int column) {
    const auto value = [](const std::string &type, uint32_t bits) {
        return type == "s8" && bits >= 128 ? int64_t{bits} - 256 : int64_t{bits};
    };
    int64_t sum = m.c[row][column];
    for (int k = 0; k < form.depth; k++)
        sum += value(form.a_type, m.a[row][k]) * value(form.b_type, m.b[k][column]);
    return static_cast<uint32_t>(sum);
}

}  // namespace

uint32_t product_of(const ProductForm &form, const Matrices &m, int row, int column) {
    return form.is_float() ? float_product(form, m, row, column)
                           : integer_product(form, m, row, column);
}

}  // namespace software_cuda::tests
