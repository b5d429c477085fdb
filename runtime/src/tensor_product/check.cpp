#include <array>

#include "hk/error.h"
#include "operand_check.h"
#include "shape.h"
#include "tensor_product/operands.h"

namespace hk {

namespace {

using detail::Operand;

constexpr const char *kOperation = "tensor_product";
constexpr std::array<std::string_view, 2> kSummations{"deterministic", "atomic"};  // as Summation

[[noreturn]] void fail(const std::string &what) {
    throw InvalidArgument(std::string(kOperation) + ": " + what);
}

void check_rank(const char *name, const Shape &shape, size_t rank) {
    if (shape.size() == rank) return;
    fail(std::string(name) + " has shape " + to_string(shape) + ", it must have " +
         std::to_string(rank) + " dimensions");
}

void check_equal(const std::string &what, int64_t a, const std::string &other, int64_t b) {
    if (a != b) fail(what + " " + std::to_string(a) + ", " + other + " " + std::to_string(b));
}

void check_float(DataType type) {
    for (const DataType known : {DataType::f32, DataType::f16, DataType::bf16, DataType::f64}) {
        if (type == known) return;
    }
    fail("input is " + std::string(name_of(type)) + ", not f32, f16, bf16 or f64");
}

void check_index_type(const char *name, const Tensor &tensor) {
    if (tensor.type() == DataType::s32 || tensor.type() == DataType::s64) return;
    fail(std::string(name) + " is " + std::string(name_of(tensor.type())) + ", not s32 or s64");
}

void check_groups(const TensorProductProblem &problem) {
    const int64_t groups = problem.groups;
    if (groups < 1) fail("there are " + std::to_string(groups) + " groups, at least 1 are needed");
    for (const auto &[what, channels] : {std::pair{"input", problem.input_channels},
                                         std::pair{"output", problem.output_channels}}) {
        if (channels % groups == 0) continue;
        fail(std::string(what) + " has " + std::to_string(channels) + " channels, which " +
             std::to_string(groups) + " groups don't divide");
    }
}

void check_types(const detail::TensorProductTensors &t) {
    const Operand input{"input", t.input};
    check_float(t.input.type());
    for (const Operand &operand : {Operand{"weight", t.weight}, Operand{"output", t.output}})
        detail::check_type(kOperation, operand, input);
    check_index_type("imap", t.imap);
    check_index_type("omap", t.omap);
    detail::check_type(kOperation, {"omap", t.omap}, {"imap", t.imap});
}

void check_starts(const Tensor &starts, int64_t offsets) {
    check_index_type("starts", starts);
    detail::check_shape(kOperation, {"starts", starts}, std::array{offsets + 1});
}

}  // namespace

std::string_view name_of(Summation summation) noexcept {
    return kSummations[static_cast<size_t>(summation)];
}

Summation summation_of(std::string_view name) {
    for (size_t i = 0; i < kSummations.size(); i++) {
        if (kSummations[i] == name) return static_cast<Summation>(i);
    }
    throw InvalidArgument("summation is \"" + std::string(name) +
                          "\", not deterministic or atomic");
}

TensorProductProblem TensorProductProblem::from_shapes(const Shape &input, const Shape &weight,
                                                       const Shape &imap, const Shape &output,
                                                       DataType type,
                                                       const TensorProductOptions &options) {
    check_float(type);
    check_rank("input", input, 2);
    check_rank("weight", weight, 3);
    check_rank("output", output, 2);
    check_rank("imap", imap, options.starts.defined() ? 1 : 2);
    for (const Shape *shape : {&input, &weight, &output, &imap})
        detail::checked_elements(kOperation, *shape, type);
    TensorProductProblem problem;
    problem.type = type;
    problem.input_rows = input[0];
    problem.output_rows = output[0];
    problem.offsets = weight[0];
    problem.pairs = imap.size() == 1 ? imap[0] : imap[0] * imap[1];
    problem.input_channels = input[1];
    problem.output_channels = output[1];
    problem.groups = options.groups;
    problem.summation = options.summation;
    check_groups(problem);
    problem.input_channels /= problem.groups;
    problem.output_channels /= problem.groups;
    check_equal("weight has input channels", weight[1],
                problem.groups > 1 ? "a group of the input has" : "input has",
                problem.input_channels);
    check_equal("weight has output channels", weight[2], "output has", output[1]);
    if (imap.size() == 2) check_equal("imap has offsets", imap[0], "weight has", weight[0]);
    return problem;
}

namespace detail {

TensorProductProblem check_tensor_product(const TensorProductTensors &tensors,
                                          const TensorProductOptions &options) {
    const Operand input{"input", tensors.input}, weight{"weight", tensors.weight},
        imap{"imap", tensors.imap}, omap{"omap", tensors.omap}, output{"output", tensors.output},
        starts{"starts", options.starts};
    for (const Operand &operand : {input, weight, imap, omap, output}) {
        if (!operand.tensor.defined()) fail(std::string(operand.name) + " is undefined");
        check_device(kOperation, operand, input);
    }
    check_device(kOperation, starts, input);
    if (options.summation != Summation::deterministic && options.summation != Summation::atomic) {
        fail("summation " + std::to_string(static_cast<int>(options.summation)) +
             " does not exist");
    }
    check_types(tensors);
    TensorProductProblem problem = TensorProductProblem::from_shapes(
        tensors.input.shape(), tensors.weight.shape(), tensors.imap.shape(), tensors.output.shape(),
        tensors.input.type(), options);
    check_shape(kOperation, omap, tensors.imap.shape());
    if (options.starts.defined()) check_starts(options.starts, problem.offsets);
    const auto adjacent = [](const Tensor &tensor) {
        return tensor.shape()[1] <= 1 || tensor.strides()[1] == 1;
    };
    problem.adjacent = adjacent(tensors.input) && adjacent(tensors.output);
    check_elements_apart(kOperation, output);
    for (const Operand &operand : {input, weight, imap, omap, starts})
        check_apart(kOperation, operand, output);
    return problem;
}

std::string to_string(const TensorProductProblem &problem) {
    const auto of = [](int64_t number, const char *what) {
        return std::to_string(number) + " " + what;
    };
    return std::string(kOperation) + " " + std::string(name_of(problem.type)) + ", " +
           of(problem.offsets, "offsets, ") + of(problem.pairs, "pairs, ") +
           of(problem.input_channels, "to ") + of(problem.output_channels, "channels, ") +
           of(problem.input_rows, "to ") + of(problem.output_rows, "rows") +
           (problem.groups > 1 ? ", " + of(problem.groups, "groups") : "") +
           (problem.adjacent ? "" : ", channels apart") + ", " +
           std::string(name_of(problem.summation));
}

}  // namespace detail

}  // namespace hk
