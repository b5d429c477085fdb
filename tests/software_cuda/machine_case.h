// Runs small PTX kernels on the machine, without a driver.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "software_cuda/machine/machine.h"

namespace software_cuda {

// A kernel of these instructions, with the parameters p0 and p1 in %rd0 and %rd1, %tid.x in %r0, %ctaid.x in %r1,
// four times %tid.x in %r2 and in %rd2, and 1024 bytes of shared memory, s.
inline std::string kernel_of(const std::string &instructions) {
    return R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 p0, .param .u64 p1)
{
    .reg .pred %p<8>;
    .reg .b16 %h<16>;
    .reg .b32 %r<32>;
    .reg .b64 %rd<32>;
    .shared .align 16 .b8 s[1024];
    ld.param.u64 %rd0, [p0];
    ld.param.u64 %rd1, [p1];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    shl.b32 %r2, %r0, 2;
    cvt.u64.u32 %rd2, %r2;
)" + instructions + "\n    ret;\n}\n";
}

struct MachineCase {
    Memory memory{uint64_t{64} << 20};
    Settings settings{.check = Check::kAll, .threads = 1};
    Dim3 grid, block{32, 1, 1};
    uint64_t p0 = 0, p1 = 0;

    Outcome run(const std::string &instructions) {
        const Module module = parse_module(kernel_of(instructions), 80);
        Launch launch{&module.entries.at(0), grid, block, 0, std::vector<uint8_t>(16)};
        std::memcpy(launch.parameters.data(), &p0, sizeof p0);
        std::memcpy(launch.parameters.data() + 8, &p1, sizeof p1);
        return software_cuda::run(launch, memory, settings);
    }
};

}  // namespace software_cuda
