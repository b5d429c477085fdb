#include "operand_check.h"

#include <algorithm>
#include <cstdlib>

#include "hk/error.h"
#include "shape.h"
#include "storage.h"

namespace hk::detail {

namespace {

[[noreturn]] void fail(const char *operation, const std::string &what) {
    throw InvalidArgument(std::string(operation) + ": " + what);
}

bool same_view(const Tensor &a, const Tensor &b) {
    using Access = Tensor::Access;
    return a.defined() && b.defined() && a.device() == b.device() &&
           Access::storage(a).memory == Access::storage(b).memory &&
           Access::byte_offset(a) == Access::byte_offset(b) && a.type() == b.type() &&
           a.shape() == b.shape() && a.strides() == b.strides();
}

// The first element's place among tensors that overlap: those in a cl_mem, which is no address, are
// in one.
int64_t start_of(const Tensor &tensor) {
    return reinterpret_cast<intptr_t>(Tensor::Access::storage(tensor).memory) +
           Tensor::Access::byte_offset(tensor);
}

std::string names_of(std::span<const Input> inputs) {
    std::string names;
    for (const Input &input : inputs) {
        if (input.may_alias_output)
            names += (names.empty() ? "" : " or ") + std::string(input.operand.name);
    }
    return names;
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

void check_disjoint(const char *operation, const Operand &operand, const Operand &output) {
    if (!operand.tensor.defined() || !output.tensor.overlaps(operand.tensor)) return;
    const auto view = [](const Operand &of) {
        return std::string(of.name) + " has shape " + hk::to_string(of.tensor.shape()) +
               ", strides " + hk::to_string(of.tensor.strides());
    };
    const int64_t bytes = start_of(operand.tensor) - start_of(output.tensor);
    const std::string place = bytes == 0 ? std::string("where ") + output.name + " does"
                                         : std::to_string(std::abs(bytes)) + " bytes " +
                                               (bytes < 0 ? "before " : "after ") + output.name;
    fail(operation, std::string(output.name) + " and " + operand.name + " overlap: " +
                        view(output) + "; " + view(operand) + ", and begins " + place);
}

void check_output(const char *operation, const char *name, const Output &output,
                  std::span<const Input> inputs) {
    bool taken = false;
    for (const auto &[operand, may_alias_output] : inputs) {
        if (output.is_inplace() && may_alias_output && same_view(operand.tensor, output.tensor())) {
            taken = true;
        } else {
            check_disjoint(operation, operand, {name, output.tensor()});
        }
    }
    if (output.is_inplace() && !taken) {
        fail(operation, std::string(name) + " is inplace(), but it is not the same view as " +
                            names_of(inputs));
    }
}

void check_elements_disjoint(const char *operation, const Operand &output) {
    const Tensor &tensor = output.tensor;
    if (!overlaps_itself(tensor.shape(), tensor.strides())) return;
    fail(operation, std::string("elements of the ") + output.name + " overlap: shape " +
                        hk::to_string(tensor.shape()) + ", strides " +
                        hk::to_string(tensor.strides()));
}

void check_innermost(const char *operation, const Operand &operand, const char *elements) {
    const Tensor &tensor = operand.tensor;
    if (!tensor.defined() || tensor.shape().back() == 1 || tensor.strides().back() == 1) return;
    fail(operation, std::string(operand.name) + "'s " + elements + " have the stride " +
                        std::to_string(tensor.strides().back()) +
                        ", no kernel takes another than 1");
}

const char *innermost_elements(Layout layout) {
    return layout == Layout::nhwc ? "channels" : "columns";
}

void check_float(const char *operation, DataType type) {
    if (type != DataType::f32 && type != DataType::f16 && type != DataType::bf16) {
        fail(operation,
             "the type is " + std::string(name_of(type)) + ", it must be f32, f16 or bf16");
    }
}

}  // namespace hk::detail
