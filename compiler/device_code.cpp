#include "compiler/device_code.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "compiler/module_like.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

std::optional<DeviceCode> kind_of(const std::string &text) {
    if (text.find(".version ") != std::string::npos &&
        text.find(".target sm_") != std::string::npos)
        return DeviceCode::ptx;
    constexpr std::string_view opencl = "/*OpenCL C";
    if (text.size() > opencl.size() && text.starts_with(opencl)) return DeviceCode::opencl;
    return std::nullopt;
}

Buffer<uint8_t> buffer_of(const std::string &bytes, const std::string &name) {
    Buffer<uint8_t> buffer(static_cast<int>(bytes.size()), name);
    std::copy(bytes.begin(), bytes.end(), buffer.data());
    return buffer;
}

// halide_cuda_initialize_kernels(state, code, size) and its like: the size was the text's.
class SetCodeSize : public IRMutator {
public:
    explicit SetCodeSize(const std::map<std::string, int> &sizes) : sizes_(sizes) {}

private:
    using IRMutator::visit;

    const std::map<std::string, int> &sizes_;  // by function

    Expr visit(const Call *op) override {
        const auto size = sizes_.find(op->name);
        if (size == sizes_.end()) return IRMutator::visit(op);
        std::vector<Expr> arguments = op->args;
        arguments[2] = make_const(arguments[2].type(), size->second);
        return Call::make(op->type, op->name, arguments, op->call_type);
    }
};

}  // namespace

Module replace_device_code(
    const Module &module,
    const std::function<std::string(DeviceCode, const std::string &text)> &replace) {
    Module result = module_like(module);
    std::map<std::string, int> sizes;
    for (const Buffer<void> &buffer : module.buffers()) {
        const std::string text(static_cast<const char *>(buffer.data()), buffer.size_in_bytes());
        const std::optional<DeviceCode> kind = kind_of(text);
        const std::string code = kind ? replace(*kind, text) : text;
        if (code == text) {
            result.append(buffer);
            continue;
        }
        sizes[*kind == DeviceCode::ptx ? "halide_cuda_initialize_kernels"
                                       : "halide_opencl_initialize_kernels"] =
            static_cast<int>(code.size());
        result.append(buffer_of(code, buffer.name()));
    }
    for (LoweredFunc function : module.functions()) {
        function.body = SetCodeSize(sizes).mutate(function.body);
        result.append(function);
    }
    return result;
}

}  // namespace hk::compiler
