// Asynchronous copies from global to shared memory: PTX ISA, section "cp.async".
#include <algorithm>

#include "software_cuda/ptx/parser.h"

namespace software_cuda {

namespace {

constexpr uint32_t kCopyTarget = 80;

bool is_prefetch(std::string_view part) {
    return part == "L2::64B" || part == "L2::128B" || part == "L2::256B";
}

}  // namespace

uint64_t BodyParser::literal(const Statement &s, size_t n) const {
    const Operand &operand = operand_of(s, n);
    uint64_t value = 0;
    if (operand.kind != Operand::kWord || operand.negative || operand.negated ||
        operand.words.size() != 1 || !parse_number(operand.words[0], value))
        refuse(s, "without a number");
    return value;
}

void BodyParser::async_copy(Statement &s) {
    Instruction &i = s.instruction;
    i.kind = InstructionClass::kBarrier;
    const auto expect_operands = [&](size_t count) {
        require_target(s, kCopyTarget);
        if (s.operands.size() != count) refuse(s, "with another number of operands");
    };
    if (s.name == "cp.async.commit_group") {
        expect_operands(0);
        i.op = Op::commit_copies;
        builder_.add(i);
    } else if (s.name == "cp.async.wait_group") {
        expect_operands(1);
        i.op = Op::wait_copies;
        i.target = static_cast<uint32_t>(std::min<uint64_t>(literal(s, 0), kNone - 1));
        builder_.add(i);
    } else if (s.name == "cp.async.wait_all") {
        expect_operands(0);
        i.op = Op::wait_copies;
        i.target = kNone;
        builder_.add(i);
    } else {
        copy(s);
    }
}

// cp.async.{ca,cg}.shared.global [to], [from], bytes{, bytes that are read};
void BodyParser::copy(Statement &s) {
    const auto &parts = s.parts;
    const bool known = (parts.size() == 5 || (parts.size() == 6 && is_prefetch(parts[5]))) &&
                       parts[1] == "async" && (parts[2] == "ca" || parts[2] == "cg") &&
                       (parts[3] == "shared" || parts[3] == "shared::cta") && parts[4] == "global";
    if (!known) refuse(s);
    require_target(s, kCopyTarget);
    if (s.operands.size() != 3 && s.operands.size() != 4)
        refuse(s, "with another number of operands");
    const uint64_t bytes = literal(s, 2);
    if (bytes != 16 && (parts[2] == "cg" || (bytes != 4 && bytes != 8)))
        refuse(s, "of " + std::to_string(bytes) + " bytes is not known");
    const Instruction copy = s.instruction;
    const auto access = [&](Op op, Space space, const Operand &address) {
        s.instruction = {.op = op, .space = space, .line = copy.line};
        s.instruction.bytes = static_cast<uint8_t>(bytes);
        set_address(s, address);
        return s.instruction;
    };
    AsyncCopy accesses{access(Op::load, Space::kGlobal, s.operands[1]),
                       access(Op::store, Space::kShared, s.operands[0])};
    accesses.load.past_first_cache = parts[2] == "cg";
    s.instruction = copy;
    Instruction &i = s.instruction;
    i.op = Op::copy;
    i.kind = InstructionClass::kGlobalLoad;
    i.bytes = static_cast<uint8_t>(bytes);
    i.a = accesses.load.a;
    i.b = accesses.store.a;
    if (s.operands.size() == 4) i.c = copy_size(s, bytes);
    builder_.add_copy(i, accesses);
}

uint32_t BodyParser::copy_size(const Statement &s, uint64_t most) {
    const Operand &operand = s.operands[3];
    uint64_t number = 0;
    if (operand.kind == Operand::kWord && parse_number(operand.words[0], number) &&
        (number > most || operand.negative))
        refuse(s, "reads more than its " + std::to_string(most) + " bytes");
    const uint32_t size = value_of(operand, Type::u32);
    if (builder_.width(size) != Width::kNarrow) refuse(s, "with a size that is not of 32 bits");
    return size;
}

}  // namespace software_cuda
