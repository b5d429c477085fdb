#include <array>

#include "hk/error.h"
#include "names.h"
#include "operand_check.h"
#include "shape.h"
#include "topk/operands.h"

namespace hk {

namespace {

constexpr const char *kOperation = "topk";
constexpr std::array<std::string_view, 2> kOrders{"largest", "smallest"};  // as Order

[[noreturn]] void fail(const std::string &what) {
    throw InvalidArgument(std::string(kOperation) + ": " + what);
}

size_t checked_axis(const Shape &shape, int axis) {
    const int rank = static_cast<int>(shape.size());
    if (rank == 0) fail("input has no dimensions, axis is " + std::to_string(axis));
    if (axis < -rank || axis >= rank) {
        fail("axis is " + std::to_string(axis) + ", input " + to_string(shape) + " has " +
             std::to_string(rank) + " dimensions");
    }
    return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace

std::string_view name_of(Order order) noexcept { return detail::name_in(kOrders, order); }

Order order_of(std::string_view name) { return detail::value_in<Order>(kOrders, "order", name); }

TopKProblem TopKProblem::from_shape(const Shape &input, DataType type, int64_t k,
                                    const TopKOptions &options) {
    const size_t axis = checked_axis(input, options.axis);
    detail::checked_elements(kOperation, input, type);
    const int64_t columns = input[axis];
    if (k < 0 || k > columns) {
        fail("k is " + std::to_string(k) + ", axis " + std::to_string(options.axis) + " of input " +
             to_string(input) + " has " + std::to_string(columns) + " elements");
    }
    if (options.order != Order::largest && options.order != Order::smallest) {
        fail("order " + std::to_string(static_cast<int>(options.order)) + " does not exist");
    }
    TopKProblem problem;
    problem.type = type;
    problem.columns = columns;
    problem.k = k;
    problem.order = options.order;
    int64_t apart = 1;
    for (size_t d = 0; d < input.size(); d++) {
        if (d != axis) problem.rows *= input[d];
        if (d > axis) apart *= input[d];
    }
    problem.adjacent = apart == 1 || columns <= 1;
    return problem;
}

namespace detail {

TopKProblem check_topk(const TopKTensors &tensors, int64_t k, const TopKOptions &options) {
    const Operand input{"input", tensors.input}, values{"values", tensors.values},
        indices{"indices", tensors.indices};
    if (!tensors.input.defined()) fail("input is undefined");
    if (!tensors.values.defined() && !tensors.indices.defined()) {
        fail("neither values nor indices are asked for");
    }
    TopKProblem problem =
        TopKProblem::from_shape(tensors.input.shape(), tensors.input.type(), k, options);
    problem.values = tensors.values.defined();
    problem.indices = tensors.indices.defined();
    const size_t axis = checked_axis(tensors.input.shape(), options.axis);
    problem.adjacent = tensors.input.strides()[axis] == 1 || problem.columns <= 1;
    check_type(kOperation, values, input);
    if (problem.indices && tensors.indices.type() != DataType::s32 &&
        tensors.indices.type() != DataType::s64) {
        fail("indices are " + std::string(name_of(tensors.indices.type())) + ", not s32 or s64");
    }
    Shape shape = tensors.input.shape();
    shape[axis] = k;
    for (const Operand &output : {values, indices}) {
        check_device(kOperation, output, input);
        check_shape(kOperation, output, shape);
        if (output.tensor.defined()) check_elements_disjoint(kOperation, output);
        if (output.tensor.defined()) check_disjoint(kOperation, input, output);
    }
    if (problem.values) check_disjoint(kOperation, indices, values);
    return problem;
}

std::string to_string(const TopKProblem &problem) {
    const char *outputs = !problem.values    ? "indices"
                          : !problem.indices ? "values"
                                             : "values and indices";
    return std::string(kOperation) + " " + std::string(name_of(problem.type)) + ", " +
           std::to_string(problem.rows) + " rows of " + std::to_string(problem.columns) +
           (problem.adjacent ? "" : " apart") + ", k " + std::to_string(problem.k) + ", " +
           std::string(name_of(problem.order)) + ", " + outputs;
}

}  // namespace detail

}  // namespace hk
