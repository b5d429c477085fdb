#include "compiler/embed_device_code.h"

#include <iostream>

#include "compiler/device_code.h"
#include "compiler/pack.h"
#include "compiler/tools.h"

using namespace Halide;

namespace hk::compiler {

namespace {

// Compute capabilities that get finished code, where the PTX allows them.
constexpr int chips[] = {80, 90};

int capability_of(const std::string &ptx) {
    return std::stoi(ptx.substr(ptx.find(".target sm_") + 11));
}

std::string fatbin(const std::string &ptx, const CudaTools &tools, const std::string &base,
                   bool pack, const Budget &budget, std::vector<Resources> &kernels) {
    write_file(base + ".ptx", ptx);
    const int oldest = capability_of(ptx);
    std::vector<std::string> bind = {tools.fatbinary, "-64", "--create=" + base + ".fatbin"};
    // The oldest of the compressed formats, which every driver with sm_80 reads.
    if (pack)
        bind.push_back("--compress-mode=none");
    else
        bind.insert(bind.end(), {"--compress-all", "--compress-mode=speed"});
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
    const std::string code = read_file(base + ".fatbin");
    return pack ? compiler::pack(code) : code;
}

}  // namespace

CudaTools CudaTools::find() {
    return {find_program("HK_PTXAS", "ptxas"), find_program("HK_FATBINARY", "fatbinary")};
}

Module embed_device_code(const Module &module, const CudaTools &tools, bool pack,
                         const std::string &folder, const Budget &budget,
                         std::vector<Resources> &kernels) {
    return replace_device_code(module, [&](DeviceCode kind, const std::string &text) {
        // Without the zero byte at its end.
        if (kind == DeviceCode::opencl) return pack ? compiler::pack(text.c_str()) : text;
        if (tools.complete())
            return fatbin(text.c_str(), tools, folder + "/" + module.name(), pack, budget, kernels);
        std::cerr << "Warning: " << module.name() << ": no ptxas and fatbinary (HK_PTXAS, "
                  << "HK_FATBINARY, PATH): CUDA code stays PTX, compiled at the first call; its "
                     "registers are not known\n";
        return text;
    });
}

}  // namespace hk::compiler
