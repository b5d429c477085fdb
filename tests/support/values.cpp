#include "tests/support/values.h"

#include "tests/reference/elements.h"
#include "tests/support/placed.h"

namespace hk::test {
namespace {

template<typename Draw>
std::vector<double> drawn(const Shape &shape, Draw draw) {
    int64_t elements = 1;
    for (const int64_t extent : shape) {
        elements *= extent;
    }
    std::vector<double> values(static_cast<size_t>(elements));
    for (double &value : values) {
        value = draw();
    }
    return values;
}

}  // namespace

std::vector<double> whole_numbers(Random &random, const Shape &shape, int64_t first, int64_t last) {
    return drawn(shape, [&] { return static_cast<double>(uniform(random, first, last)); });
}

std::vector<double> reals(Random &random, const Shape &shape) {
    return drawn(shape, [&] { return std::uniform_real_distribution<>(-1, 1)(random); });
}

Tensor host_tensor(const Shape &shape, DataType type, const std::vector<double> &values) {
    Tensor tensor(shape, type);
    reference::write(tensor, values);
    return tensor;
}

Tensor filled(const Shape &shape, DataType type, const std::vector<double> &values) {
    if (!values.empty()) {
        return host_tensor(shape, type, values);
    }
    Tensor tensor(shape, type);
    poison(tensor);
    return tensor;
}

}  // namespace hk::test
