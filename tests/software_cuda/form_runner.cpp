#include "tests/software_cuda/form_runner.h"

#include <cstring>
#include <ostream>
#include <stdexcept>

namespace software_cuda::tests {

namespace {

constexpr uint32_t kThreads = 128;
struct Slot {
    uint64_t a, b, c, unused;
};

// Registers of the four classes: predicates, and 16, 32 and 64 bits.
char class_of(std::string_view type) {
    if (type == "pred") return 'p';
    if (type == "f16_of_f64") return 'h';
    const unsigned bits = integer_type(type).bits;
    if (bits == 64 || type == "f64") return 'd';
    return bits == 16 || type == "f16" || type == "bf16" ? 'h' : 'r';  // of 8 bits in one of 32
}

// "%h1" or "%d0".
std::string register_of(char kind, int number) {
    return std::string("%") + kind + std::to_string(number);
}

struct Shape {
    char result, a, b, c;  // classes; ' ': without
};

Shape shape_of(const FormCase &form, Use use) {
    const auto kind = [](const std::string &type) { return type == "none" ? ' ' : class_of(type); };
    if (use == Use::kWide) return {'d', 'd', ' ', ' '};
    return {kind(form.result), kind(form.a), kind(form.b), kind(form.c)};
}

// Loads what lies at %d9 plus `offset`. What a register has beyond the type's bits is not zero.
std::string load(char kind, int number, int offset) {
    const std::string place = "[%d9+" + std::to_string(offset) + "];\n",
                      to = register_of(kind, number);
    switch (kind) {
        case 'p':
            return "ld.global.u8 %r9, " + place + "setp.ne.u32 " + to + ", %r9, 0;\n";
        case 'h':
            return "ld.global.s16 " + to + ", " + place;
        case 'r':
            return "ld.global.u32 " + to + ", " + place;
        case 'd':
            return "ld.global.u64 " + to + ", " + place;
        default:
            return "";
    }
}

std::string store(char kind, const std::string &from) {
    switch (kind) {
        case 'p':
            return "selp.u32 %r9, 1, 0, " + from + ";\nst.global.u32 [%d8], %r9;\n";
        case 'h':
            return "st.global.u16 [%d8], " + from + ";\n";
        case 'r':
            return "st.global.u32 [%d8], " + from + ";\n";
        default:
            return "st.global.u64 [%d8], " + from + ";\n";
    }
}

// mov with a vector is named by what it does.
std::string usual_text(const FormCase &form) {
    const std::string whole = form.name.find("b64") != std::string::npos ? "mov.b64 " : "mov.b32 ";
    if (form.name.starts_with("(pack")) return whole + "$d, {$a, $b};";
    if (form.name.starts_with("(low")) return whole + "{$d, _}, $a;";
    if (form.name.starts_with("(high")) return whole + "{_, $d}, $a;";
    return form.name + " $d, $a" + (form.b == "none" ? "" : ", $b") +
           (form.c == "none" ? ";" : ", $c;");
}

std::string text_of(const FormCase &form, const Shape &shape, const std::string &to) {
    const std::string text = form.text.empty() ? usual_text(form) : form.text;
    std::string result;
    for (size_t n = 0; n < text.size(); n++) {
        if (text[n] != '$') {
            result += text[n];
            continue;
        }
        const char operand = text[++n];
        result += operand == 'd'   ? to
                  : operand == 'a' ? register_of(shape.a, 1)
                  : operand == 'b' ? register_of(shape.b, 2)
                                   : register_of(shape.c, 3);
    }
    return result + "\n";
}

std::string kernel_of(const FormCase &form, Use use) {
    const Shape shape = shape_of(form, use);
    const std::string to =
        use == Use::kInPlace ? register_of(shape.a, 1) : register_of(shape.result, 0);
    std::string text = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry form(.param .u64 operands, .param .u64 results)
{
.reg .pred %p<10>;
.reg .b16 %h<10>;
.reg .b32 %r<10>;
.reg .b64 %d<10>;
ld.param.u64 %d9, [operands];
ld.param.u64 %d8, [results];
mov.u32 %r8, %ctaid.x;
mov.u32 %r7, %tid.x;
mad.lo.s32 %r8, %r8, 128, %r7;
mad.wide.u32 %d9, %r8, 32, %d9;
mad.wide.u32 %d8, %r8, 8, %d8;
)";
    text += load(shape.a, 1, 0) + load(shape.b, 2, 8) + load(shape.c, 3, 16);
    if (use == Use::kGuarded) {
        text += "rem.u32 %r7, %r7, 3;\nsetp.eq.u32 %p9, %r7, 0;\nmov.u64 %d7, " +
                std::to_string(kUntouched) + ";\n";
        const char *const from = shape.result == 'd' ? "mov.u64 " : "cvt.u32.u64 ";
        if (shape.result == 'p')
            text += "setp.ne.u64 " + to + ", %d7, 0;\n";
        else if (shape.result == 'h')
            text += "cvt.u16.u64 " + to + ", %d7;\n";
        else
            text += from + to + ", %d7;\n";
        text += "@!%p9 ";
    }
    return text + text_of(form, shape, to) + store(shape.result, to) + "ret;\n}\n";
}

}  // namespace

void PrintTo(const FormCase &form, std::ostream *out) { *out << form.name; }

bool takes(const FormCase &form, Use use) {
    const Shape shape = shape_of(form, Use::kPlain);
    if (use == Use::kInPlace) return shape.result == shape.a && shape.a != 'p';
    if (use != Use::kWide) return true;
    // Floats of 16 bits stand in registers of their own width.
    const auto is_narrow = [](const std::string &type) {
        return integer_type(type).bits != 0 && integer_type(type).bits < 64;
    };
    return form.name.starts_with("cvt.") && is_narrow(form.result) && is_narrow(form.a);
}

unsigned register_bits(const FormCase &form, Use use) {
    switch (shape_of(form, use).result) {
        case 'p':
            return 1;
        case 'h':
            return 16;
        case 'r':
            return 32;
        default:
            return 64;
    }
}

std::vector<uint64_t> results_of(const FormCase &form, Use use,
                                 const std::vector<Operands> &operands, InstructionSet set) {
    const size_t blocks = (operands.size() + kThreads - 1) / kThreads;
    std::vector<Slot> slots(blocks * kThreads);
    // What an instruction does not read of a wider register.
    const auto with_rest = [](uint64_t bits, const std::string &type) {
        const unsigned width = integer_type(type).bits;
        return width == 0 || width == 64 ? bits : bits | 0xc3a5c3a5c3a5c3a5 << width;
    };
    for (size_t n = 0; n < operands.size(); n++) {
        slots[n] = {with_rest(operands[n].a, form.a), with_rest(operands[n].b, form.b),
                    with_rest(operands[n].c, form.c), 0};
    }
    Memory memory(uint64_t{64} << 20);
    const uint64_t from = memory.allocate(slots.size() * sizeof(Slot)),
                   to = memory.allocate(slots.size() * sizeof(uint64_t));
    memory.write(from, slots.data(), slots.size() * sizeof(Slot));
    std::vector<uint64_t> results(slots.size());
    memory.write(to, results.data(), results.size() * sizeof(uint64_t));
    const Module module = parse_module(kernel_of(form, use).c_str(), 80);
    Launch launch{&module.entries.at(0),
                  {static_cast<uint32_t>(blocks)},
                  {kThreads},
                  0,
                  std::vector<uint8_t>(16)};
    std::memcpy(launch.parameters.data(), &from, sizeof from);
    std::memcpy(launch.parameters.data() + 8, &to, sizeof to);
    const Outcome outcome = run(launch, memory, {.threads = 1, .instruction_set = set});
    if (outcome.status != Outcome::kDone) throw std::runtime_error(form.name + " failed");
    memory.read(results.data(), to, results.size() * sizeof(uint64_t));
    results.resize(operands.size());
    return results;
}

std::vector<InstructionSet> instruction_sets() {
    std::vector<InstructionSet> sets{InstructionSet::kBaseline};
    for (const InstructionSet set : {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
        if (host_has(set)) sets.push_back(set);
    }
    return sets;
}

const char *name_of(InstructionSet set) {
    return set == InstructionSet::kAvx512 ? "AVX-512"
           : set == InstructionSet::kAvx2 ? "AVX2"
                                          : "baseline";
}

}  // namespace software_cuda::tests
