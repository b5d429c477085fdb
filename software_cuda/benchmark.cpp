// How many instructions of threads a core of the host executes a second, of a loop like those that
// convolutions have: tiles of 4 by 4 sums that are fed from shared memory.

#include <cstdio>
#include <cstring>
#include <string>

#include "software_cuda/machine/machine.h"

namespace {

using namespace software_cuda;

std::string sums() {
    std::string text;
    for (int row = 0; row < 4; row++) {
        for (int column = 0; column < 4; column++) {
            const std::string sum = "%f" + std::to_string(8 + 4 * row + column);
            text += "fma.rn.f32 " + sum + ", %f" + std::to_string(row) + ", %f" +
                    std::to_string(4 + column) + ", " + sum + ";\n";
        }
    }
    return text;
}

std::string kernel() {
    std::string text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry tile(.param .u64 output)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<32>;
    .shared .align 16 .b8 s[8192];
    ld.param.u64 %rd0, [output];
    mov.u32 %r0, %tid.x;
    cvt.rn.f32.u32 %f0, %r0;
    shl.b32 %r1, %r0, 4;
    and.b32 %r2, %r1, 4095;
    st.shared.v4.f32 [%r2], {%f0, %f0, %f0, %f0};
    st.shared.v4.f32 [%r2+4096], {%f0, %f0, %f0, %f0};
    bar.sync 0;
    mov.u32 %r3, 0;
)";
    for (int sum = 8; sum < 24; sum++)
        text += "mov.f32 %f" + std::to_string(sum) + ", 0f00000000;\n";
    text +=
        "next:\nld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%r2];\n"
        "ld.shared.v4.f32 {%f4, %f5, %f6, %f7}, [%r2+4096];\n" +
        sums() +
        "add.s32 %r3, %r3, 1;\nsetp.lt.s32 %p0, %r3, 256;\n@%p0 bra next;\n"
        "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
        "st.global.f32 [%rd2], %f8;\nret;\n}\n";
    return text;
}

void measure(const char *name, Check check, bool count) {
    const Module module = parse_module(kernel().c_str(), 80);
    Memory memory(uint64_t{1} << 24);
    const uint64_t output = memory.allocate(1024);
    Launch launch{&module.entries.at(0), {64, 1, 1}, {256, 1, 1}, 0, std::vector<uint8_t>(8)};
    std::memcpy(launch.parameters.data(), &output, sizeof output);
    Settings settings;
    settings.check = check;
    settings.count = count;
    settings.threads = 1;
    double best = 0;
    for (int round = 0; round < 5; round++) {
        const Counts counts = run(launch, memory, settings).counts;
        const double rate = static_cast<double>(counts.all_thread_instructions()) / counts.seconds;
        best = rate > best ? rate : best;
    }
    std::printf("%-32s %6.2f thread instructions a ns\n", name, best * 1e-9);
}

}  // namespace

int main() {
    measure("bounds and alignment", Check::kNone, false);
    measure("and memory that nobody wrote", Check::kMemory, false);
    measure("and races", Check::kAll, false);
    measure("bounds, sectors and wavefronts", Check::kNone, true);
}
