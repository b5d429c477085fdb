#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "hk/error.h"
#include "names.h"
#include "operand_check.h"
#include "shape.h"
#include "tensor_product/maps.h"
#include "tensor_product/operands.h"

namespace hk {

namespace {

using detail::Operand;
using detail::TensorProductTensors;

constexpr std::array<std::string_view, 2> kSummations{"deterministic", "atomic"};  // as Summation

[[noreturn]] void fail(const char *operation, const std::string &what) {
    throw InvalidArgument(std::string(operation) + ": " + what);
}

void check_rank(const char *operation, const char *name, const Shape &shape, size_t rank) {
    if (shape.size() == rank) return;
    fail(operation, std::string(name) + " has shape " + to_string(shape) + ", it must have " +
                        std::to_string(rank) + " dimensions");
}

// "weight has 64 input channels, input has 128"
void check_equal(const char *operation, const std::string &one, int64_t a, const char *what,
                 const std::string &other, int64_t b) {
    if (a == b) return;
    fail(operation,
         one + " " + std::to_string(a) + " " + what + ", " + other + " " + std::to_string(b));
}

void check_float(const char *operation, const char *name, DataType type) {
    for (const DataType known : {DataType::f32, DataType::f16, DataType::bf16, DataType::f64}) {
        if (type == known) return;
    }
    fail(operation,
         std::string(name) + " is " + std::string(name_of(type)) + ", not f32, f16, bf16 or f64");
}

// The shapes of a product's tensors, with their names.
struct Shapes {
    const char *operation;
    std::pair<const char *, const Shape &> input, weight, output;
};

void divide_channels(TensorProductProblem &problem, const Shapes &shapes) {
    const int64_t groups = problem.groups;
    if (groups < 1) {
        fail(shapes.operation,
             "there are " + std::to_string(groups) + " groups, at least 1 are needed");
    }
    for (const auto &[name, channels] :
         {std::pair{shapes.input.first, &problem.input_channels},
          std::pair{shapes.output.first, &problem.output_channels}}) {
        if (*channels % groups != 0) {
            fail(shapes.operation, std::string(name) + " has " + std::to_string(*channels) +
                                       " channels, which " + std::to_string(groups) +
                                       " groups don't divide");
        }
        *channels /= groups;
    }
}

TensorProductProblem problem_of(const Shapes &shapes, int64_t pairs, DataType type,
                                const TensorProductOptions &options) {
    const char *operation = shapes.operation;
    const auto &[input_name, input] = shapes.input;
    const auto &[weight_name, weight] = shapes.weight;
    const auto &[output_name, output] = shapes.output;
    check_float(operation, input_name, type);
    check_rank(operation, input_name, input, 2);
    check_rank(operation, weight_name, weight, 3);
    check_rank(operation, output_name, output, 2);
    for (const Shape *shape : {&input, &weight, &output})
        detail::checked_elements(operation, *shape, type);
    TensorProductProblem problem;
    problem.type = type;
    problem.input_rows = input[0];
    problem.output_rows = output[0];
    problem.offsets = weight[0];
    problem.pairs = pairs;
    problem.input_channels = input[1];
    problem.output_channels = output[1];
    problem.groups = options.groups;
    problem.summation = options.summation;
    divide_channels(problem, shapes);
    const std::string has = std::string(weight_name) + " has";
    check_equal(operation, has, weight[1], "input channels",
                (problem.groups > 1 ? "a group of the " : "") + std::string(input_name) + " has",
                problem.input_channels);
    check_equal(operation, has, weight[2], "output channels", std::string(output_name) + " has",
                output[1]);
    return problem;
}

void check_tensors(const TensorProductTensors &t) {
    for (const Operand *operand : {&t.input, &t.weight, &t.output}) {
        if (!operand->tensor.defined())
            fail(t.operation, std::string(operand->name) + " is undefined");
        detail::check_device(t.operation, *operand, t.input);
    }
    check_float(t.operation, t.input.name, t.input.tensor.type());
    for (const Operand *operand : {&t.weight, &t.output})
        detail::check_type(t.operation, *operand, t.input);
}

void check_maps(const TensorProductTensors &t, const TensorProductMaps &maps) {
    const auto check = [&](const char *what, int64_t of_maps, const Operand &operand) {
        check_equal(t.operation, "the maps have", of_maps, what, std::string(operand.name) + " has",
                    operand.tensor.shape()[0]);
    };
    check("offsets", maps.offsets(), t.weight);
    check("input rows", maps.input_rows(), t.input);
    check("output rows", maps.output_rows(), t.output);
}

// Whether a row's channels, in this dimension, are vectors of 16 bytes next to each other.
bool has_vectors(const Tensor &tensor, size_t channels) {
    constexpr int64_t bytes = 16;
    if (!detail::begins_at_multiple(detail::BufferView(tensor, {}), bytes)) return false;
    for (size_t d = 0; d < tensor.shape().size(); d++) {
        const int64_t stride = tensor.strides()[d];
        const bool fits =
            d == channels ? stride == 1
                          : tensor.shape()[d] == 1 || stride * size_of(tensor.type()) % bytes == 0;
        if (!fits) return false;
    }
    return true;
}

// What the problem says of how tensors lie in memory.
void look_at_memory(TensorProductProblem &problem, const TensorProductTensors &t) {
    const auto adjacent = [](const Tensor &tensor) {
        return tensor.shape()[1] <= 1 || tensor.strides()[1] == 1;
    };
    const Tensor &input = t.input.tensor, &weight = t.weight.tensor, &output = t.output.tensor;
    problem.adjacent = adjacent(input) && adjacent(output);
    problem.transposed = weight.strides()[2] != 1 && weight.strides()[1] == 1;
    problem.aligned = has_vectors(input, 1) && has_vectors(weight, problem.transposed ? 1 : 2) &&
                      has_vectors(output, 1);
}

}  // namespace

std::string_view name_of(Summation summation) noexcept {
    return detail::name_in(kSummations, summation);
}

Summation summation_of(std::string_view name) {
    return detail::value_in<Summation>(kSummations, "summation", name);
}

TensorProductProblem TensorProductProblem::from_shapes(const Shape &input, const Shape &weight,
                                                       int64_t pairs, const Shape &output,
                                                       DataType type,
                                                       const TensorProductOptions &options) {
    return problem_of({"tensor_product", {"input", input}, {"weight", weight}, {"output", output}},
                      pairs, type, options);
}

namespace detail {

int64_t rows_of(const char *operation, const Operand &operand) {
    if (!operand.tensor.defined()) fail(operation, std::string(operand.name) + " is undefined");
    check_rank(operation, operand.name, operand.tensor.shape(), 2);
    return operand.tensor.shape()[0];
}

TensorProductProblem check_tensor_product(const TensorProductTensors &t,
                                          const TensorProductMaps &maps,
                                          const TensorProductOptions &options) {
    check_tensors(t);
    if (options.summation != Summation::deterministic && options.summation != Summation::atomic) {
        fail(t.operation, "summation " + std::to_string(static_cast<int>(options.summation)) +
                              " does not exist");
    }
    TensorProductProblem problem = problem_of({t.operation,
                                               {t.input.name, t.input.tensor.shape()},
                                               {t.weight.name, t.weight.tensor.shape()},
                                               {t.output.name, t.output.tensor.shape()}},
                                              maps.places(), t.input.tensor.type(), options);
    check_maps(t, maps);
    look_at_memory(problem, t);
    const Operand &result = t.*t.result;
    check_elements_disjoint(t.operation, result);
    for (const Operand *operand : {&t.input, &t.weight, &t.output}) {
        if (operand != &result) detail::check_disjoint(t.operation, *operand, result);
    }
    maps.impl()->check_disjoint(t.operation, result);
    return problem;
}

void check_filled_weight(const TensorProductTensors &tensors, const TensorProductProblem &problem,
                         int64_t input_block, int64_t output_block) {
    const auto whole = [](__int128 size, int64_t of) { return (size + of - 1) / of * of; };
    const __int128 bytes = whole(problem.input_channels, input_block) *
                           whole(problem.output_channels, output_block) * problem.offsets *
                           (problem.type == DataType::f64 ? 8 : 4);
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (bytes <= kMost) return;
    const auto told = std::min<__int128>(bytes, std::numeric_limits<int64_t>::max());
    fail(tensors.operation, std::string(tensors.weight.name) + " fills " +
                                std::to_string(static_cast<int64_t>(told)) +
                                " bytes, a kernel takes at most " + std::to_string(kMost));
}

std::string to_string(const TensorProductProblem &problem) {
    const auto of = [](int64_t number, const char *what) {
        return std::to_string(number) + " " + what;
    };
    return std::string(name_of(problem.type)) + ", " + of(problem.offsets, "offsets, ") +
           of(problem.pairs, "pairs, ") + of(problem.input_channels, "to ") +
           of(problem.output_channels, "channels, ") + of(problem.input_rows, "to ") +
           of(problem.output_rows, "rows") +
           (problem.groups > 1 ? ", " + of(problem.groups, "groups") : "") +
           (problem.adjacent ? "" : ", channels apart") + ", " +
           std::string(name_of(problem.summation));
}

}  // namespace detail

}  // namespace hk
