#include "operand_check.h"

#include <algorithm>

#include "hk/error.h"
#include "shape.h"

namespace hk::detail {

namespace {

[[noreturn]] void fail(const char *operation, const std::string &what) {
    throw InvalidArgument(std::string(operation) + ": " + what);
}

}  // namespace

void check_device(const char *operation, const Operand &operand, const Operand &first) {
    if (!operand.tensor.defined() || operand.tensor.device() == first.tensor.device()) return;
    fail(operation, std::string(operand.name) + " is on " + operand.tensor.device().name() + ", " +
                        first.name + " is on " + first.tensor.device().name());
}

void check_type(const char *operation, const Operand &operand, const Operand &first) {
    if (!operand.tensor.defined() || operand.tensor.type() == first.tensor.type()) return;
    fail(operation, std::string(operand.name) + " is " +
                        std::string(name_of(operand.tensor.type())) + ", " + first.name + " is " +
                        std::string(name_of(first.tensor.type())));
}

void check_shape(const char *operation, const Operand &operand, std::span<const int64_t> shape) {
    if (!operand.tensor.defined() || std::ranges::equal(operand.tensor.shape(), shape)) return;
    fail(operation, std::string(operand.name) + " has shape " +
                        hk::to_string(operand.tensor.shape()) + ", it must have " +
                        hk::to_string(Shape(shape.begin(), shape.end())));
}

void check_apart(const char *operation, const Operand &operand, const Operand &output) {
    if (!operand.tensor.defined() || !output.tensor.overlaps(operand.tensor)) return;
    const auto place = [](const Operand &of) {
        return hk::to_string(of.tensor.shape()) + " at element " +
               std::to_string(of.tensor.offset());
    };
    fail(operation, std::string(output.name) + " and " + operand.name + " overlap: " + output.name +
                        " has shape " + place(output) + ", " + operand.name + " " + place(operand));
}

void check_elements_apart(const char *operation, const Operand &output) {
    const Tensor &tensor = output.tensor;
    if (!overlaps_itself(tensor.shape(), tensor.strides())) return;
    fail(operation, std::string("elements of the ") + output.name + " overlap: shape " +
                        hk::to_string(tensor.shape()) + ", strides " +
                        hk::to_string(tensor.strides()));
}

}  // namespace hk::detail
