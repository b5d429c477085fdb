#include "compiler/embed_device_code.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <string_view>

#include "compiler/pack_text.h"
#include "compiler/tools.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// Compute capabilities that get finished code, where the PTX allows them.
constexpr int chips[] = {80, 90};

int capability_of(const std::string &ptx) {
    return std::stoi(ptx.substr(ptx.find(".target sm_") + 11));
}

bool is_ptx(const Buffer<void> &buffer) {
    const std::string text(static_cast<const char *>(buffer.data()), buffer.size_in_bytes());
    return text.find(".version ") != std::string::npos &&
           text.find(".target sm_") != std::string::npos;
}

bool is_opencl(const Buffer<void> &buffer) {
    constexpr std::string_view start = "/*OpenCL C";
    return buffer.size_in_bytes() > start.size() &&
           std::string_view(static_cast<const char *>(buffer.data()), start.size()) == start;
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

std::string fatbin(const std::string &ptx, const CudaTools &tools, const std::string &base,
                   const Budget &budget, std::vector<Resources> &kernels) {
    write_file(base + ".ptx", ptx);
    const int oldest = capability_of(ptx);
    // The oldest of the compressed formats, which every driver with sm_80 reads.
    std::vector<std::string> bind = {tools.fatbinary, "-64", "--compress-all",
                                     "--compress-mode=speed", "--create=" + base + ".fatbin"};
    for (const int chip : chips) {
        if (chip < oldest) continue;
        const std::string sm = std::to_string(chip), cubin = base + "." + sm + ".cubin";
        std::vector<std::string> assemble = {tools.ptxas, "-v",   "-arch=sm_" + sm,
                                             base + ".ptx", "-o", cubin};
        if (budget.registers != Budget::not_stated)
            assemble.push_back("--maxrregcount=" + std::to_string(budget.registers));
        add_ptxas_report(run_program(assemble), kernels);
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

Module embed_device_code(const Module &module, const CudaTools &tools, bool pack,
                         const std::string &folder, const Budget &budget,
                         std::vector<Resources> &kernels) {
    Module result(module.name(), module.target(), module.get_metadata_name_map());
    result.set_any_strict_float(module.any_strict_float());
    std::map<std::string, int> sizes;
    for (const Buffer<void> &buffer : module.buffers()) {
        const std::string text(static_cast<const char *>(buffer.data()), buffer.size_in_bytes());
        if (pack && is_opencl(buffer)) {
            const std::string code = pack_text(text.c_str());  // without the zero byte at its end
            sizes["halide_opencl_initialize_kernels"] = static_cast<int>(code.size());
            result.append(buffer_of(code, buffer.name()));
        } else if (is_ptx(buffer) && tools.complete()) {
            const std::string code =
                fatbin(text.c_str(), tools, folder + "/" + module.name(), budget, kernels);
            sizes["halide_cuda_initialize_kernels"] = static_cast<int>(code.size());
            result.append(buffer_of(code, buffer.name()));
        } else {
            if (is_ptx(buffer)) {
                std::cerr << "Warning: " << module.name()
                          << ": no ptxas and fatbinary (HK_PTXAS, HK_FATBINARY, "
                          << "PATH): CUDA code stays PTX, compiled at the first call; its "
                             "registers are not known\n";
            }
            result.append(buffer);
        }
    }
    for (LoweredFunc function : module.functions()) {
        function.body = SetCodeSize(sizes).mutate(function.body);
        result.append(function);
    }
    return result;
}

}  // namespace hk::compiler
