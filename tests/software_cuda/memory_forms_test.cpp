// Loads, stores and atomic operations in all their forms, on every instruction set of the host that
// this CPU runs.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "software_cuda/ptx/module.h"
#include "tests/software_cuda/form_runner.h"
#include "tests/software_cuda/machine_case.h"
#include "tests/software_cuda/operand_values.h"

namespace software_cuda::tests {

namespace {

constexpr uint32_t kThreads = 64, kBytes = 1024;  // of memory, as many as the kernel's shared ones
constexpr const char *kTypes[] = {"u8",  "s8",  "b8",  "u16", "s16", "b16", "u32",
                                  "s32", "b32", "f32", "u64", "s64", "b64", "f64"};

unsigned bits_of(const std::string &type) {
    return float_format(type) ? (type == "f64" ? 64 : 32) : integer_type(type).bits;
}

std::vector<uint8_t> random_bytes(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(count);
    for (uint8_t &byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
}

uint64_t read(const std::vector<uint8_t> &bytes, size_t at, unsigned bits) {
    uint64_t value = 0;
    std::memcpy(&value, &bytes[at], bits / 8);
    return value;
}

// Where a thread's access is.
enum class Places : uint8_t { kDense, kSame, kScattered };
uint32_t place_of(Places places, uint32_t thread, uint32_t bytes) {
    return places == Places::kDense  ? thread * bytes
           : places == Places::kSame ? 0
                                     : thread * 37 % kThreads * bytes;
}
std::string place_text(Places places, uint32_t bytes) {
    const std::string size = std::to_string(bytes);
    switch (places) {
        case Places::kDense:
            return "mul.lo.u32 %r20, %r0, " + size + ";\n";
        case Places::kSame:
            return "mov.u32 %r20, 0;\n";
        default:
            return "mul.lo.u32 %r20, %r0, 37; and.b32 %r20, %r20, 63; mul.lo.u32 %r20, %r20, " +
                   size + ";\n";
    }
}

struct AccessForm {
    std::string space, type;
    unsigned vector;
    std::string registers;  // %h, %r or %rd
    Places places;
    bool guarded;

    unsigned bits() const { return bits_of(type); }
    uint32_t bytes() const { return bits() / 8 * vector; }
    unsigned register_bits() const { return registers == "%h" ? 16 : registers == "%r" ? 32 : 64; }
    std::string text(const char *name) const {
        return std::string(guarded ? "@%p1 " : "") + name + "." + space +
               (vector > 1 ? ".v" + std::to_string(vector) : "") + "." + type;
    }
    std::string values() const {
        std::string text;
        for (unsigned v = 0; v < vector; v++)
            text += (v ? ", " : "") + registers + std::to_string(8 + v);
        return vector > 1 ? "{" + text + "}" : text;
    }
    std::string address() const { return space == "shared" ? "[%r20]" : "[%rd20]"; }
};

std::vector<AccessForm> access_forms() {
    std::vector<AccessForm> forms;
    for (const char *space : {"global", "shared"}) {
        for (const char *type : kTypes) {
            for (const unsigned vector : {1u, 2u, 4u}) {
                for (const char *registers : {"%h", "%r", "%rd"}) {
                    for (const Places places :
                         {Places::kDense, Places::kSame, Places::kScattered}) {
                        for (const bool guarded : {false, true}) {
                            const AccessForm f{space, type, vector, registers, places, guarded};
                            if (f.bytes() <= 16 && f.bits() <= f.register_bits())
                                forms.push_back(f);
                        }
                    }
                }
            }
        }
    }
    return forms;
}

// %r20 and %rd20: the place; %p1: all but every third thread.
std::string begin(const AccessForm &form) {
    return place_text(form.places, form.bytes()) +
           "cvt.u64.u32 %rd20, %r20; add.s64 %rd20, %rd20, %rd0;\n"
           "rem.u32 %r21, %r0, 3; setp.ne.u32 %p1, %r21, 0;\n"
           "mul.wide.u32 %rd21, %r0, 32; add.s64 %rd21, %rd21, %rd1;\n";
}

// All shared memory from p0, or to it.
std::string copy(const char *from, const char *to) {
    return "mul.lo.u32 %r22, %r0, 16; cvt.u64.u32 %rd22, %r22; add.s64 %rd22, %rd22, %rd0;\n"
           "bar.sync 0;\nld." +
           std::string(from) + ".v4.b32 {%r24, %r25, %r26, %r27}, " +
           (from == std::string("shared") ? "[%r22]" : "[%rd22]") + ";\nst." + to + ".v4.b32 " +
           (to == std::string("shared") ? "[%r22]" : "[%rd22]") +
           ", {%r24, %r25, %r26, %r27};\nbar.sync 0;\n";
}

// A kernel over `memory` at p0 and what it wrote to 32 bytes a thread at p1.
struct Run {
    std::vector<uint8_t> memory, results;
};
Run run(const std::string &instructions, const std::vector<uint8_t> &memory, InstructionSet set) {
    MachineCase c;
    c.settings.instruction_set = set;
    c.block.x = kThreads;
    c.p0 = c.memory.allocate(memory.size());
    c.p1 = c.memory.allocate(32 * kThreads);
    Run result{memory, std::vector<uint8_t>(32 * kThreads)};
    EXPECT_TRUE(c.memory.write(c.p0, memory.data(), memory.size()));
    EXPECT_TRUE(c.memory.write(c.p1, result.results.data(), result.results.size()));
    const Outcome outcome = c.run(instructions);
    EXPECT_EQ(outcome.status, Outcome::kDone);
    for (const Finding &finding : outcome.findings) ADD_FAILURE() << finding.message;
    EXPECT_TRUE(c.memory.read(result.memory.data(), c.p0, memory.size()));
    EXPECT_TRUE(c.memory.read(result.results.data(), c.p1, result.results.size()));
    return result;
}

uint64_t extended(uint64_t value, const AccessForm &form) {
    const IntegerType type = integer_type(form.type);
    if (type.is_signed && value >> (type.bits - 1))
        value |= type.bits < 64 ? ~uint64_t{0} << type.bits : 0;
    return value & (~uint64_t{0} >> (64 - form.register_bits()));
}

void check_load(const AccessForm &form, InstructionSet set) {
    const std::vector<uint8_t> memory = random_bytes(kBytes, 1);
    const std::string width = std::to_string(form.register_bits());
    std::string text = form.space == "shared" ? copy("global", "shared") : "";
    text += begin(form);
    for (unsigned v = 0; v < form.vector; v++)
        text += "mov.b" + width + " " + form.registers + std::to_string(8 + v) + ", 77;\n";
    text += form.text("ld") + " " + form.values() + ", " + form.address() + ";\n";
    for (unsigned v = 0; v < form.vector; v++)
        text += "st.global.b" + width + " [%rd21+" + std::to_string(8 * v) + "], " +
                form.registers + std::to_string(8 + v) + ";\n";
    const Run result = run(text, memory, set);
    for (uint32_t thread = 0; thread < kThreads; thread++) {
        for (unsigned v = 0; v < form.vector; v++) {
            const uint32_t at = place_of(form.places, thread, form.bytes()) + v * form.bits() / 8;
            const bool skipped = form.guarded && thread % 3 == 0;
            const uint64_t wanted = skipped ? 77 : extended(read(memory, at, form.bits()), form);
            ASSERT_EQ(read(result.results, 32 * thread + 8 * v, 64), wanted)
                << form.text("ld") << " " << form.registers << ", thread " << thread << ", value "
                << v << ", " << name_of(set);
        }
    }
}

TEST(MemoryForms, Loads) {
    for (const AccessForm &form : access_forms()) {
        for (const InstructionSet set : instruction_sets()) check_load(form, set);
        if (HasFailure()) return;
    }
}

// A thread stores other bytes than those that lie there.
uint64_t stored_by(uint32_t thread, unsigned v) {
    return (uint64_t{thread} * 0x9e3779b97f4a7c15 + 0x0123456789abcdef) ^ v * 0x1111111111111111u;
}

void check_store(const AccessForm &form, InstructionSet set) {
    std::vector<uint8_t> wanted = random_bytes(kBytes, 2);
    std::string text = form.space == "shared" ? copy("global", "shared") : "";
    text += begin(form) +
            "cvt.u64.u32 %rd23, %r0; mad.lo.u64 %rd23, %rd23, 0x9e3779b97f4a7c15, "
            "0x0123456789abcdef;\n";
    for (unsigned v = 0; v < form.vector; v++) {
        text += "xor.b64 %rd24, %rd23, " + std::to_string(v * 0x1111111111111111u) + ";\n" +
                (form.registers == "%rd"  ? "mov.b64 "
                 : form.registers == "%r" ? "cvt.u32.u64 "
                                          : "cvt.u16.u64 ") +
                form.registers + std::to_string(8 + v) + ", %rd24;\n";
    }
    text += form.text("st") + " " + form.address() + ", " + form.values() + ";\n";
    if (form.space == "shared") text += copy("shared", "global");
    const Run result = run(text, wanted, set);
    for (uint32_t thread = 0; thread < kThreads; thread++) {
        if (form.guarded && thread % 3 == 0) continue;
        for (unsigned v = 0; v < form.vector; v++) {
            const uint64_t value = stored_by(thread, v);
            std::memcpy(&wanted[place_of(form.places, thread, form.bytes()) + v * form.bits() / 8],
                        &value, form.bits() / 8);
        }
    }
    ASSERT_EQ(result.memory, wanted)
        << form.text("st") << " " << form.registers << ", " << name_of(set);
}

TEST(MemoryForms, Stores) {
    for (const AccessForm &form : access_forms()) {
        if (form.places == Places::kSame) continue;  // which thread's value remains is open
        for (const InstructionSet set : instruction_sets()) check_store(form, set);
        if (HasFailure()) return;
    }
}

}  // namespace

}  // namespace software_cuda::tests
