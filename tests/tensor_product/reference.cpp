#include "tests/tensor_product/reference.h"

#include <cmath>

#include "tests/reference/elements.h"

namespace hk::reference {
namespace {

std::vector<int64_t> indices(const Tensor &tensor) {
    std::vector<int64_t> result;
    for (const uint64_t index : bits(tensor)) {
        result.push_back(tensor.type() == DataType::s32 ? static_cast<int32_t>(index)
                                                        : static_cast<int64_t>(index));
    }
    return result;
}

// Calls visit(n, from, to) for each pair.
template<typename Visit>
void each_pair(const TensorProductPairs &pairs, const Visit &visit) {
    const std::vector<int64_t> from = indices(pairs.imap), to = indices(pairs.omap);
    std::vector<int64_t> starts;
    if (pairs.starts.defined()) {
        starts = indices(pairs.starts);
    } else {
        const Shape &shape = pairs.imap.shape();
        for (int64_t n = 0; n <= shape[0]; n++) starts.push_back(n * shape[1]);
    }
    for (size_t n = 0; n + 1 < starts.size(); n++) {
        for (auto p = static_cast<size_t>(starts[n]); p < static_cast<size_t>(starts[n + 1]); p++) {
            if (from[p] != -1 && to[p] != -1) visit(static_cast<int64_t>(n), from[p], to[p]);
        }
    }
}

// A packed tensor's values, by its place [a, b].
struct Matrix {
    explicit Matrix(const Tensor &tensor)
        : values(read(tensor)), width(tensor.shape()[static_cast<size_t>(tensor.rank()) - 1]) {}

    const double *place(int64_t row, int64_t column) const {
        return values.data() + row * width + column;
    }
    double at(int64_t row, int64_t column) const { return *place(row, column); }

    std::vector<double> values;
    int64_t width;
};

class Sums {
public:
    Sums(const Tensor &result, bool accumulate, const Rows &rows)
        : width_(result.shape().back()), rows_(rows) {
        const int64_t all = width_ > 0 ? result.elements() / width_ : 0;
        sums_.values.resize(static_cast<size_t>(rows.among(all) * width_));
        sums_.magnitudes.resize(sums_.values.size());
        sums_.terms.resize(sums_.values.size());
        if (!accumulate) return;
        const std::vector<double> previous = read(result);
        for (int64_t row = 0; row < all; row++) add(row, 0, width_, 1, &previous[row * width_], 1);
    }

    bool wants(int64_t row) const { return rows_.place(row) >= 0; }

    // Adds the products of a factor with `count` others, so far from each other, to neighbours.
    void add(int64_t row, int64_t first, int64_t count, double factor, const double *others,
             int64_t step) {
        if (!wants(row)) return;
        const int64_t place = rows_.place(row) * width_ + first;
        double *const values = &sums_.values[place], *const magnitudes = &sums_.magnitudes[place];
        int64_t *const terms = &sums_.terms[place];
        for (int64_t i = 0; i < count; i++) {
            const double term = factor * others[i * step];
            values[i] += term;
            magnitudes[i] += std::abs(term);
            terms[i]++;
        }
    }

    TensorProductResult take() { return std::move(sums_); }

private:
    int64_t width_;
    const Rows &rows_;
    TensorProductResult sums_;
};

// Of the weight's N, c, m: calls visit(row, c, first), for the channels of each group, with the
// weight's row, the channel of the input and the first of the output's, which are `of_group`.
template<typename Visit>
void each_row(const Shape &weight, int64_t groups, int64_t n, const Visit &visit) {
    const int64_t depth = weight[1], of_group = weight[2] / groups;
    for (int64_t g = 0; g < groups; g++) {
        for (int64_t c = 0; c < depth; c++) visit(n * depth + c, g * depth + c, g * of_group);
    }
}

}  // namespace

TensorProductResult tensor_product(const Tensor &input, const Tensor &weight,
                                   const TensorProductPairs &pairs, const Tensor &output,
                                   const TensorProductOptions &options, const Rows &rows) {
    const Matrix in(input), factors(weight);
    const int64_t count = weight.shape()[2] / options.groups;
    Sums sums(output, options.accumulate, rows);
    each_pair(pairs, [&](int64_t n, int64_t from, int64_t to) {
        if (!sums.wants(to)) return;
        each_row(weight.shape(), options.groups, n, [&](int64_t row, int64_t c, int64_t m) {
            sums.add(to, m, count, in.at(from, c), factors.place(row, m), 1);
        });
    });
    return sums.take();
}

TensorProductResult tensor_product_backward_data(
    const Tensor &output_gradient, const Tensor &weight, const TensorProductPairs &pairs,
    const Tensor &input_gradient, const TensorProductOptions &options, const Rows &rows) {
    const Matrix gradient(output_gradient), factors(weight);
    const int64_t depth = weight.shape()[1], width = weight.shape()[2];
    const int64_t of_group = width / options.groups;
    Sums sums(input_gradient, options.accumulate, rows);
    each_pair(pairs, [&](int64_t n, int64_t from, int64_t to) {
        for (int64_t m = 0; m < width && sums.wants(from); m++) {
            sums.add(from, m / of_group * depth, depth, gradient.at(to, m),
                     factors.place(n * depth, m), width);
        }
    });
    return sums.take();
}

TensorProductResult tensor_product_backward_weight(
    const Tensor &input, const Tensor &output_gradient, const TensorProductPairs &pairs,
    const Tensor &weight_gradient, const TensorProductOptions &options, const Rows &rows) {
    const Matrix in(input), gradient(output_gradient);
    const Shape &shape = weight_gradient.shape();
    const int64_t count = shape[2] / options.groups;
    Sums sums(weight_gradient, options.accumulate, rows);
    each_pair(pairs, [&](int64_t n, int64_t from, int64_t to) {
        each_row(shape, options.groups, n, [&](int64_t row, int64_t c, int64_t m) {
            sums.add(row, m, count, in.at(from, c), gradient.place(to, m), 1);
        });
    });
    return sums.take();
}

}  // namespace hk::reference
