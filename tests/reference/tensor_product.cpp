#include "tests/reference/tensor_product.h"

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

// Where the pairs of each offset start, and where the last one's end.
std::vector<int64_t> starts_of(const Tensor &imap, const TensorProductOptions &options) {
    if (options.starts.defined()) return indices(options.starts);
    std::vector<int64_t> starts;
    for (int64_t n = 0; n <= imap.shape()[0]; n++) starts.push_back(n * imap.shape()[1]);
    return starts;
}

}  // namespace

TensorProductResult tensor_product(const Tensor &input, const Tensor &weight, const Tensor &imap,
                                   const Tensor &omap, const Tensor &output,
                                   const TensorProductOptions &options) {
    const std::vector<double> in = read(input), factors = read(weight);
    const std::vector<int64_t> from = indices(imap), to = indices(omap);
    const std::vector<int64_t> starts = starts_of(imap, options);
    const int64_t channels = input.shape()[1], depth = weight.shape()[1];
    const int64_t rows = output.shape()[0], width = output.shape()[1];
    const auto at = [](const std::vector<double> &values, int64_t place) {
        return values[static_cast<size_t>(place)];
    };
    TensorProductResult result;
    result.values.resize(static_cast<size_t>(rows * width));
    result.magnitudes.resize(result.values.size());
    result.terms.resize(static_cast<size_t>(rows));
    const auto add = [&](int64_t row, int64_t m, double term) {
        const auto place = static_cast<size_t>(row * width + m);
        result.values[place] += term;
        result.magnitudes[place] += std::abs(term);
    };
    if (options.accumulate) {
        const std::vector<double> previous = read(output);
        for (int64_t row = 0; row < rows; row++) {
            for (int64_t m = 0; m < width; m++) add(row, m, at(previous, row * width + m));
            result.terms[static_cast<size_t>(row)]++;
        }
    }
    for (size_t n = 0; n + 1 < starts.size(); n++) {
        for (auto p = static_cast<size_t>(starts[n]); p < static_cast<size_t>(starts[n + 1]); p++) {
            if (from[p] == -1 || to[p] == -1) continue;
            result.terms[static_cast<size_t>(to[p])] += depth;
            for (int64_t m = 0; m < width; m++) {
                const int64_t first = m / (width / options.groups) * depth;
                for (int64_t c = 0; c < depth; c++) {
                    const int64_t factor = (static_cast<int64_t>(n) * depth + c) * width + m;
                    add(to[p], m, at(factors, factor) * at(in, from[p] * channels + first + c));
                }
            }
        }
    }
    return result;
}

}  // namespace hk::reference
