// Instructions on matrices, which a whole warp executes together.
#include "software_cuda/ptx/matrix.h"

#include <algorithm>

#include "software_cuda/ptx/parser.h"

namespace software_cuda {

namespace {

constexpr uint32_t kProductTarget = 80, kLoadTarget = 75;

const std::pair<MatrixElement, MatrixElement> *elements_of_product(std::string_view name) {
    using enum MatrixElement;
    static const std::map<std::string_view, std::pair<MatrixElement, MatrixElement>> forms{
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {kF16, kF16}},
        {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", {kBf16, kBf16}},
        {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", {kTf32, kTf32}},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", {kS8, kS8}},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", {kS8, kU8}},
        {"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", {kU8, kS8}},
        {"mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", {kU8, kU8}}};
    const auto form = forms.find(name);
    return form == forms.end() ? nullptr : &form->second;
}

}  // namespace

void BodyParser::require_target(const Statement &s, uint32_t target) const {
    if (target_ < target) refuse(s, "needs .target sm_" + std::to_string(target));
}

// A vector of registers of 32 bits.
template<size_t n>
std::array<uint32_t, n> BodyParser::fragment(const Statement &s, const Operand &operand) {
    if (operand.kind != Operand::kVector || operand.words.size() != n)
        refuse(s, "with another number of registers");
    std::array<uint32_t, n> registers;
    std::transform(
        operand.words.begin(), operand.words.end(), registers.begin(),
        [&](std::string_view word) { return destination({.words = {word}}, Width::kNarrow); });
    return registers;
}

void BodyParser::matrix_product(Statement &s) {
    const auto *const types = elements_of_product(s.name);
    if (!types) refuse(s);
    require_target(s, kProductTarget);
    if (s.operands.size() != 4) refuse(s, "with another number of operands");
    Instruction &i = s.instruction;
    i.op = Op::matrix_product;
    i.kind = InstructionClass::kTensor;
    i.d = fragment<4>(s, s.operands[0]);
    i.members = builder_.constant(Width::kNarrow, ~uint32_t{0});
    builder_.add_product(i, {.a_type = types->first,
                             .b_type = types->second,
                             .a = fragment<4>(s, s.operands[1]),
                             .c = fragment<4>(s, s.operands[3]),
                             .b = fragment<2>(s, s.operands[2])});
}

void BodyParser::load_matrix(Statement &s) {
    std::string_view rest = s.name;
    const auto take = [&](std::string_view part) {
        const bool taken = rest.starts_with(part);
        if (taken) rest.remove_prefix(part.size());
        return taken;
    };
    Instruction &i = s.instruction;
    if (!take("ldmatrix.sync.aligned.m8n8")) refuse(s);
    const uint32_t count = take(".x1") ? 1 : take(".x2") ? 2 : take(".x4") ? 4 : 0;
    i.transposed = take(".trans");
    if (rest == ".b16") refuse(s, "without a state space is not known");
    if (!count || (rest != ".shared.b16" && rest != ".shared::cta.b16")) refuse(s);
    require_target(s, kLoadTarget);
    if (s.operands.size() != 2) refuse(s, "with another number of operands");
    i.op = Op::load_matrix;
    i.kind = InstructionClass::kSharedLoad;
    i.space = Space::kShared;
    i.bytes = 16;  // a row
    i.matrices = static_cast<uint8_t>(count);
    const auto fill = [&](const auto &registers) {
        std::copy(registers.begin(), registers.end(), i.d.begin());
    };
    if (count == 1)
        fill(fragment<1>(s, s.operands[0]));
    else if (count == 2)
        fill(fragment<2>(s, s.operands[0]));
    else
        fill(fragment<4>(s, s.operands[0]));
    set_address(s, s.operands[1]);
    i.members = builder_.constant(Width::kNarrow, ~uint32_t{0});
    builder_.add(i);
}

}  // namespace software_cuda
