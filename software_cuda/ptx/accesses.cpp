// Instructions that access memory.
#include <algorithm>

#include "software_cuda/ptx/forms.h"
#include "software_cuda/ptx/parser.h"

namespace software_cuda {

namespace {

// Of caches, orders and scopes: memory has no caches here, and is sequentially consistent.
bool is_hint(std::string_view part) {
    constexpr std::string_view hints[] = {
        "nc",   "ca",      "cg",      "cs",      "lu",      "cv",  "wb",      "wt",  "volatile",
        "weak", "relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys"};
    return std::find(std::begin(hints), std::end(hints), part) != std::end(hints) ||
           part.starts_with("L1::") || part.starts_with("L2::");
}

// Sections "atom" and "red", of 32 and 64 bits.
bool takes(AtomicOp operation, Type type) {
    using enum Type;
    const auto is = [&](std::initializer_list<Type> types) {
        return std::find(types.begin(), types.end(), type) != types.end();
    };
    switch (operation) {
        case AtomicOp::kAdd:
            return is({u32, s32, u64, f32, f64});
        case AtomicOp::kMin:
        case AtomicOp::kMax:
            return is({u32, s32, u64, s64});
        case AtomicOp::kIncrement:
        case AtomicOp::kDecrement:
            return is({u32});
        default:
            return is({b32, b64});
    }
}

}  // namespace

void BodyParser::set_space(Statement &s, std::string_view part) {
    s.instruction.space = part.starts_with("shared") ? Space::kShared : Space::kGlobal;
}

void BodyParser::set_address(Statement &s, const Operand &operand) {
    if (operand.kind != Operand::kAddress) refuse(s, "without an address");
    Instruction &i = s.instruction;
    // An address in shared memory may be a register of 32 bits.
    i.a = value_of_word(operand.words[0], false, Type::b64);
    i.wide_address = builder_.width(i.a) == Width::kWide;
    if (builder_.width(i.a) == Width::kPredicate ||
        (!i.wide_address && i.space == Space::kGlobal)) {
        refuse(s, "with an address of another width");
    }
    i.offset = operand.offset;
}

void BodyParser::access(Statement &s) {
    Instruction &i = s.instruction;
    const bool store = s.parts[0] == "st";
    i.op = store ? Op::store : Op::load;
    bool is_parameter = false, has_space = false;
    for (size_t n = 1; n + 1 < s.parts.size(); n++) {
        const std::string_view part = s.parts[n];
        if (part == "v2" || part == "v4") {
            i.vector = static_cast<uint8_t>(part[1] - '0');
        } else if (part == "global" || part == "shared" || part == "shared::cta") {
            set_space(s, part);
            has_space = true;
        } else if (part == "param" && !store) {
            has_space = is_parameter = true;
        } else if (!is_hint(part)) {
            refuse(s);
        }
        i.read_only |= part == "nc";
    }
    const auto type = type_named(s.parts.back());
    if (!type || *type == Type::pred) refuse(s);
    if (!has_space) refuse(s, "without a state space is not known");
    if (s.operands.size() != 2) refuse(s, "with another number of operands");
    i.bytes = static_cast<uint8_t>(bytes_of(*type));
    i.is_signed = is_signed(*type);
    if (i.bytes * i.vector > 16) refuse(s);
    const Operand &values = s.operands[store ? 1 : 0];
    if ((values.kind == Operand::kVector) != (i.vector > 1) || values.words.size() != i.vector) {
        refuse(s, "with another number of values");
    }
    std::vector<uint32_t> registers;
    for (const std::string_view word : values.words) {
        if (word == "_" && !store) {
            registers.push_back(builder_.add_value(width_of(*type)));
            continue;
        }
        registers.push_back(value_of_word(word, values.negative, *type));
        if (!store && register_named(word) == kNone) fail("no register " + std::string(word));
    }
    i.wide_value = builder_.width(registers[0]) == Width::kWide;
    for (const uint32_t r : registers) {
        const Width width = builder_.width(r);
        if (width == Width::kPredicate || (width == Width::kWide) != i.wide_value ||
            (i.bytes == 8 && !i.wide_value)) {
            refuse(s, "with registers of another width");
        }
    }
    if (is_parameter) return load_parameter(s, *type, registers);
    std::copy(registers.begin(), registers.end(), i.d.begin());
    set_address(s, s.operands[store ? 0 : 1]);
    const bool shared = i.space == Space::kShared;
    i.kind = store ? (shared ? InstructionClass::kSharedStore : InstructionClass::kGlobalStore)
                   : (shared ? InstructionClass::kSharedLoad : InstructionClass::kGlobalLoad);
    builder_.add(i);
}

// A parameter is a row that all warps share.
void BodyParser::load_parameter(const Statement &s, Type type,
                                const std::vector<uint32_t> &values) {
    const Operand &place = s.operands[1];
    const auto parameter =
        place.kind == Operand::kAddress ? parameters_.find(place.words[0]) : parameters_.end();
    if (parameter == parameters_.end()) refuse(s, "of a parameter that there is not");
    const uint32_t bytes = bytes_of(type);
    for (size_t n = 0; n < values.size(); n++) {
        const int64_t offset = place.offset + static_cast<int64_t>(n * bytes);
        if (offset < 0 || offset + bytes > parameter->second.bytes || offset % bytes)
            refuse(s, "beyond its parameter");
        const Width width = builder_.width(values[n]);
        const uint32_t row =
            builder_.parameter(width, parameter->second.offset + static_cast<uint32_t>(offset),
                               bytes, is_signed(type));
        Instruction i = s.instruction;
        i.op = width == Width::kWide ? Op::mov_b64 : Op::mov_b32;
        i.kind = InstructionClass::kMove;
        i.d[0] = values[n];
        i.a = row;
        builder_.add(i);
    }
}

void BodyParser::atomic(Statement &s) {
    static const std::map<std::string_view, AtomicOp> operations{
        {"add", AtomicOp::kAdd},       {"min", AtomicOp::kMin},
        {"max", AtomicOp::kMax},       {"and", AtomicOp::kAnd},
        {"or", AtomicOp::kOr},         {"xor", AtomicOp::kXor},
        {"exch", AtomicOp::kExchange}, {"cas", AtomicOp::kCompareAndSwap},
        {"inc", AtomicOp::kIncrement}, {"dec", AtomicOp::kDecrement}};
    Instruction &i = s.instruction;
    const bool returns = s.parts[0] == "atom";
    const auto type = type_named(s.parts.back());
    bool has_space = false, has_operation = false;
    for (size_t n = 1; n + 1 < s.parts.size(); n++) {
        const std::string_view part = s.parts[n];
        if (part == "global" || part == "shared" || part == "shared::cta") {
            set_space(s, part);
            has_space = true;
        } else if (const auto operation = operations.find(part); operation != operations.end()) {
            i.mode = static_cast<uint8_t>(operation->second);
            has_operation = true;
        } else if (!is_hint(part)) {
            refuse(s);
        }
    }
    const auto mode = static_cast<AtomicOp>(i.mode);
    if (!type || !has_space || !has_operation || !takes(mode, *type)) refuse(s);
    if (!returns && (mode == AtomicOp::kExchange || mode == AtomicOp::kCompareAndSwap)) refuse(s);
    const bool swap = mode == AtomicOp::kCompareAndSwap;
    if (s.operands.size() != (returns ? 1u : 0u) + (swap ? 3 : 2))
        refuse(s, "with another number of operands");
    i.op = Op::atomic;
    i.kind = InstructionClass::kAtomic;
    i.type = *type;
    i.bytes = static_cast<uint8_t>(bytes_of(*type));
    i.wide_value = i.bytes == 8;
    size_t n = 0;
    if (returns && s.operands[0].words[0] != "_")
        i.d[0] = destination(s.operands[0], width_of(*type));
    n += returns;
    set_address(s, s.operands[n]);
    i.b = value_of(s.operands[n + 1], *type);
    if (swap) i.c = value_of(s.operands[n + 2], *type);
    for (const uint32_t v : {i.b, swap ? i.c : i.b}) {
        if (builder_.width(v) != width_of(*type)) refuse(s, "with registers of another width");
    }
    builder_.add(i);
}

}  // namespace software_cuda
