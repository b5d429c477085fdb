#include "compiler/embed_device_code.h"

#include <algorithm>
#include <iostream>

#include "compiler/tools.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// Compute capabilities that get finished code, where the PTX allows them.
constexpr int chips[] = {80, 90};

int capability_of(const std::string &ptx) { return std::stoi(ptx.substr(ptx.find(".target sm_") + 11)); }

bool is_ptx(const Buffer<void> &buffer) {
    const std::string text(static_cast<const char *>(buffer.data()), buffer.size_in_bytes());
    return text.find(".version ") != std::string::npos && text.find(".target sm_") != std::string::npos;
}

// halide_cuda_initialize_kernels(state, code, size): the size was the PTX's.
class SetCodeSize : public IRMutator {
public:
    explicit SetCodeSize(int size) : size_(size) {}

private:
    using IRMutator::visit;

    const int size_;

    Expr visit(const Call *op) override {
        if (op->name != "halide_cuda_initialize_kernels") return IRMutator::visit(op);
        std::vector<Expr> arguments = op->args;
        arguments[2] = make_const(arguments[2].type(), size_);
        return Call::make(op->type, op->name, arguments, op->call_type);
    }
};

std::string fatbin(const std::string &ptx, const CudaTools &tools, const std::string &base,
                   std::vector<Resources> &kernels) {
    write_file(base + ".ptx", ptx);
    const int oldest = capability_of(ptx);
    // The oldest of the compressed formats, which every driver with sm_80 reads.
    std::vector<std::string> bind = {tools.fatbinary, "-64", "--compress-all", "--compress-mode=speed",
                                     "--create=" + base + ".fatbin"};
    for (const int chip : chips) {
        if (chip < oldest) continue;
        const std::string sm = std::to_string(chip), cubin = base + "." + sm + ".cubin";
        add_ptxas_report(run_program({tools.ptxas, "-v", "-arch=sm_" + sm, base + ".ptx", "-o", cubin}), kernels);
        bind.push_back("--image3=kind=elf,sm=" + sm + ",file=" + cubin);
    }
    bind.push_back("--image3=kind=ptx,sm=" + std::to_string(oldest) + ",file=" + base + ".ptx");
    run_program(bind);
    return read_file(base + ".fatbin");
}

}  // namespace

CudaTools CudaTools::find() {
    return {find_program("HK_PTXAS", "ptxas"), find_program("HK_FATBINARY", "fatbinary")};
}

Module embed_device_code(const Module &module, const CudaTools &tools, const std::string &folder,
                         std::vector<Resources> &kernels) {
    const auto &buffers = module.buffers();
    if (std::none_of(buffers.begin(), buffers.end(), is_ptx)) return module;
    if (!tools.complete()) {
        std::cerr << "Warning: " << module.name() << ": no ptxas and fatbinary (HK_PTXAS, HK_FATBINARY, PATH): "
                  << "CUDA code stays PTX, compiled at the first call; its registers are not known\n";
        return module;
    }
    Module result(module.name(), module.target(), module.get_metadata_name_map());
    result.set_any_strict_float(module.any_strict_float());
    int size = 0;
    for (const Buffer<void> &buffer : buffers) {
        if (!is_ptx(buffer)) {
            result.append(buffer);
            continue;
        }
        const std::string ptx(static_cast<const char *>(buffer.data()));  // ends in a zero byte
        const std::string code = fatbin(ptx, tools, folder + "/" + module.name(), kernels);
        size = static_cast<int>(code.size());
        Buffer<uint8_t> replacement(size, buffer.name());
        std::copy(code.begin(), code.end(), replacement.data());
        result.append(replacement);
    }
    for (LoweredFunc function : module.functions()) {
        function.body = SetCodeSize(size).mutate(function.body);
        result.append(function);
    }
    return result;
}

}  // namespace hk::compiler
