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

    double at(int64_t row, int64_t column) const {
        return values[static_cast<size_t>(row * width + column)];
    }

    std::vector<double> values;
    int64_t width;
};

class Sums {
public:
    Sums(const Tensor &result, bool accumulate) {
        sums_.values.resize(static_cast<size_t>(result.elements()));
        sums_.magnitudes.resize(sums_.values.size());
        sums_.terms.resize(sums_.values.size());
        if (!accumulate) return;
        const std::vector<double> previous = read(result);
        for (size_t i = 0; i < previous.size(); i++) add(static_cast<int64_t>(i), previous[i]);
    }

    void add(int64_t place, double term) {
        const auto i = static_cast<size_t>(place);
        sums_.values[i] += term;
        sums_.magnitudes[i] += std::abs(term);
        sums_.terms[i]++;
    }

    TensorProductResult take() { return std::move(sums_); }

private:
    TensorProductResult sums_;
};

// Calls visit(c, of_group, m): channels of the input, in all and in their group, and of the output.
template<typename Visit>
void each_product(int64_t depth, int64_t width, int64_t groups, const Visit &visit) {
    for (int64_t m = 0; m < width; m++) {
        const int64_t first = m / (width / groups) * depth;
        for (int64_t c = 0; c < depth; c++) visit(first + c, c, m);
    }
}

}  // namespace

TensorProductResult tensor_product(const Tensor &input, const Tensor &weight,
                                   const TensorProductPairs &pairs, const Tensor &output,
                                   const TensorProductOptions &options) {
    const Matrix in(input), factors(weight);
    const int64_t depth = weight.shape()[1], width = weight.shape()[2];
    Sums sums(output, options.accumulate);
    each_pair(pairs, [&](int64_t n, int64_t from, int64_t to) {
        each_product(depth, width, options.groups, [&](int64_t c, int64_t of_group, int64_t m) {
            sums.add(to * width + m, factors.at(n * depth + of_group, m) * in.at(from, c));
        });
    });
    return sums.take();
}

TensorProductResult tensor_product_backward_data(const Tensor &output_gradient,
                                                 const Tensor &weight,
                                                 const TensorProductPairs &pairs,
                                                 const Tensor &input_gradient,
                                                 const TensorProductOptions &options) {
    const Matrix gradient(output_gradient), factors(weight);
    const int64_t depth = weight.shape()[1], width = weight.shape()[2];
    const int64_t channels = input_gradient.shape()[1];
    Sums sums(input_gradient, options.accumulate);
    each_pair(pairs, [&](int64_t n, int64_t from, int64_t to) {
        each_product(depth, width, options.groups, [&](int64_t c, int64_t of_group, int64_t m) {
            sums.add(from * channels + c, factors.at(n * depth + of_group, m) * gradient.at(to, m));
        });
    });
    return sums.take();
}

TensorProductResult tensor_product_backward_weight(const Tensor &input,
                                                   const Tensor &output_gradient,
                                                   const TensorProductPairs &pairs,
                                                   const Tensor &weight_gradient,
                                                   const TensorProductOptions &options) {
    const Matrix in(input), gradient(output_gradient);
    const int64_t depth = weight_gradient.shape()[1], width = weight_gradient.shape()[2];
    Sums sums(weight_gradient, options.accumulate);
    each_pair(pairs, [&](int64_t n, int64_t from, int64_t to) {
        each_product(depth, width, options.groups, [&](int64_t c, int64_t of_group, int64_t m) {
            sums.add((n * depth + of_group) * width + m, in.at(from, c) * gradient.at(to, m));
        });
    });
    return sums.take();
}

}  // namespace hk::reference
