#include "check.h"

#include <cmath>
#include <sstream>

#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"

namespace hk::bench {

namespace {

std::vector<int64_t> index_of(const Shape &shape, int64_t place) {
    std::vector<int64_t> index(shape.size());
    for (size_t d = shape.size(); d-- > 0; place /= shape[d]) index[d] = place % shape[d];
    return index;
}

// A row of a tensor, what lies along its last dimension.
std::vector<double> read_row(Tensor tensor, int64_t row) {
    Shape outer = tensor.shape();
    outer.pop_back();
    const std::vector<int64_t> index = index_of(outer, row);
    for (size_t d = 0; d < index.size(); ++d) {
        tensor = tensor.slice(static_cast<int>(d), index[d], 1);
    }
    return reference::read(tensor);
}

class Comparison {
public:
    Comparison(const std::string &name, const Tensor &view, const Expected &expected)
        : name_(name), view_(view), expected_(expected) {}

    // `first`: the place of the first in the tensor and in what is expected.
    void add(const std::vector<double> &got, int64_t first, size_t first_expected) {
        for (size_t i = 0; i < got.size(); ++i) {
            const double value = expected_.values[first_expected + i];
            const double tolerance = expected_.tolerances[first_expected + i];
            const double error = std::abs(got[i] - value) - expected_.rounding;
            largest_ = std::max(largest_, std::abs(value));
            if (value != got[i]) worst_ = std::max(worst_, std::isnan(error) ? INFINITY : error);
            if (reference::close(view_.type(), got[i], value, tolerance)) continue;
            if (failure_.empty())
                failure_ = text(got[i], first + static_cast<int64_t>(i), value, tolerance);
        }
    }

    Check check() const { return {largest_ > 0 ? worst_ / largest_ : worst_, failure_}; }

private:
    std::string text(double got, int64_t place, double value, double tolerance) const {
        std::ostringstream text;
        text.precision(9);
        text << name_ << to_string(index_of(view_.shape(), place)) << " is " << got << ", must be "
             << value;
        if (tolerance > 0) text << " within " << tolerance;
        return text.str();
    }

    const std::string &name_;
    const Tensor &view_;
    const Expected &expected_;
    double largest_ = 0, worst_ = 0;
    std::string failure_;
};

}  // namespace

Check compare(const std::string &name, const Tensor &result, const Expected &expected) {
    const Tensor view = expected.order.empty() ? result : result.permute(expected.order);
    if (view.elements() == 0) return {};
    Comparison comparison(name, view, expected);
    const int64_t width = view.shape().back(), all = view.elements() / width;
    if (expected.rows.among(all) == all) {
        comparison.add(reference::read(view), 0, 0);
        return comparison.check();
    }
    for (int64_t i = 0; i < expected.rows.among(all); ++i) {
        const int64_t row = expected.rows.at(i);
        comparison.add(read_row(view, row), row * width, static_cast<size_t>(i * width));
    }
    return comparison.check();
}

Judge judge_of(const std::vector<std::pair<std::string, Expected>> &expected) {
    return [expected](const Tensors &results, const KernelInfo *) {
        Check all;
        for (size_t i = 0; i < expected.size() && all.failure.empty(); ++i) {
            if (i > 0 && !results.at(i).defined()) continue;  // a library need not make all
            const Check one = compare(expected[i].first, results.at(i), expected[i].second);
            all = {std::max(all.max_error, one.max_error), one.failure};
        }
        return all;
    };
}

Expected expected_of(DataType type, reference::Conv2dResult sums, reference::Rows rows,
                     std::vector<int> order, Sums are) {
    Expected result{std::move(sums.value), {}, std::move(rows), std::move(order)};
    result.tolerances.reserve(result.values.size());
    for (size_t i = 0; i < result.values.size(); ++i) {
        double &value = result.values[i];
        if (are == Sums::exact) {
            value = reference::rounded(type, value);
            result.tolerances.push_back(0);
        } else {
            result.tolerances.push_back(
                reference::tolerance(type, sums.terms, value, sums.magnitude[i]));
        }
    }
    return result;
}

std::vector<int> channels_last(Layout layout) {
    return layout == Layout::nchw ? std::vector{0, 2, 3, 1} : std::vector{0, 1, 2, 3};
}

}  // namespace hk::bench
