// Instructions that compute, move and branch.
#include "software_cuda/ptx/forms.h"
#include "software_cuda/ptx/parser.h"

namespace software_cuda {

void BodyParser::instruction(Statement &s) {
    const std::string_view base = s.parts[0];
    if (base == "ld" || base == "st" || base == "ldu") return access(s);
    if (base == "atom" || base == "red") return atomic(s);
    if (base == "shfl") return shuffle(s);
    if (base == "mma") return matrix_product(s);
    if (base == "ldmatrix") return load_matrix(s);
    if (base == "cp") return async_copy(s);
    if (base == "vote" || base == "activemask") return vote(s);
    if (base == "redux") return reduce(s);
    if (control(s)) return;
    if (base == "mov") return move(s);
    if (base == "setp") return compare(s);
    arithmetic(s);
}

bool BodyParser::control(Statement &s) {
    const std::string_view base = s.parts[0];
    Instruction &i = s.instruction;
    i.kind = InstructionClass::kBranch;
    if (base == "bra") {
        i.op = Op::branch;
        builder_.add_branch(i, std::string(operand_of(s, 0).words[0]));
    } else if (base == "ret" || base == "exit") {
        i.op = Op::exit;
        builder_.add(i);
    } else if (s.name == "bar.warp.sync") {
        i.op = Op::warp_barrier;
        i.kind = InstructionClass::kWarp;
        i.members = narrow(s, 0);
        builder_.add(i);
    } else if (base == "bar" || base == "barrier") {
        if (s.parts.size() < 2 || s.parts.back() == "arrive" || s.name.find(".red.") != s.name.npos)
            refuse(s);
        if (s.operands.size() != 1 || s.operands[0].words[0] != "0")
            refuse(s, "is known for all threads and barrier 0 only");
        i.op = Op::barrier;
        i.kind = InstructionClass::kBarrier;
        builder_.add(i);
    } else if (base == "membar" || base == "fence") {
        i.op = Op::nothing;
        i.kind = InstructionClass::kBarrier;
        builder_.add(i);
    } else {
        return false;
    }
    return true;
}

void BodyParser::add_form(const Statement &s, const Form &form,
                          const std::vector<uint32_t> &values) {
    Instruction i = s.instruction;
    i.op = form.op;
    i.kind = class_of(s.name);
    i.d[0] = values[0];
    if (values.size() > 1) i.a = values[1];
    if (values.size() > 2) i.b = values[2];
    if (values.size() > 3) i.c = values[3];
    const auto fits = [&](uint32_t value, Type type) {
        return type == Type::none || builder_.width(value) == width_of(type);
    };
    if (!fits(i.d[0], form.result) || !fits(i.a, form.a) || !fits(i.b, form.b) ||
        !fits(i.c, form.c)) {
        refuse(s, "with registers of another width");
    }
    builder_.add(i);
}

void BodyParser::arithmetic(Statement &s) {
    const auto form = find_form(s.name);
    if (!form) refuse(s);
    if (s.operands.size() != form->operands()) refuse(s, "with another number of operands");
    std::vector<uint32_t> values{destination(s.operands[0], [&] {
        // The result of a conversion may be narrower than its register.
        const uint32_t value =
            s.operands[0].kind == Operand::kWord ? register_named(s.operands[0].words[0]) : kNone;
        return s.parts[0] == "cvt" && value != kNone ? builder_.width(value)
                                                     : width_of(form->result);
    }())};
    Type types[] = {form->a, form->b, form->c};
    // Numbers are of the type that the name has: mov.f32 and selp.f32 move bits.
    const auto named = type_named(s.parts.back());
    if (named && (s.parts[0] == "mov" || s.parts[0] == "selp")) {
        for (Type &type : types) {
            if (type != Type::none && type != Type::pred) type = *named;
        }
    }
    for (size_t n = 1; n < s.operands.size(); n++)
        values.push_back(value_of(s.operands[n], types[n - 1]));
    if (s.parts[0] == "cvt" && width_of(form->a) == Width::kNarrow)
        values[1] = narrowed(values[1], s.instruction);
    if (builder_.width(values[0]) == Width::kWide && width_of(form->result) == Width::kNarrow) {
        const uint32_t wide = values[0];
        values[0] = builder_.add_value(Width::kNarrow);
        add_form(s, *form, values);
        const bool sign = is_signed(form->result);
        add_form(s, *find_form(sign ? "cvt.s64.s32" : "cvt.u64.u32"), {wide, values[0]});
    } else {
        add_form(s, *form, values);
    }
}

// Plain moves, and vectors of halves to and from a register.
void BodyParser::move(Statement &s) {
    if (s.operands.size() != 2) refuse(s, "with another number of operands");
    const bool wide = s.parts.back() == "b64";
    const Type whole = wide ? Type::b64 : Type::b32, half = wide ? Type::b32 : Type::b16;
    const auto part = [&](const char *b32, const char *b64) {
        return *find_form(wide ? b64 : b32);
    };
    const auto halves = [&](const Operand &o) {
        if (o.words.size() != 2 || (s.parts.back() != "b64" && s.parts.back() != "b32"))
            refuse(s, "with this vector");
    };
    if (s.operands[1].kind == Operand::kVector) {
        halves(s.operands[1]);
        add_form(s, part("(pack.b32)", "(pack.b64)"),
                 {destination(s.operands[0], width_of(whole)),
                  value_of_word(s.operands[1].words[0], false, half),
                  value_of_word(s.operands[1].words[1], false, half)});
    } else if (s.operands[0].kind == Operand::kVector) {
        halves(s.operands[0]);
        const uint32_t from = value_of(s.operands[1], whole);
        const uint32_t copy = builder_.add_value(width_of(whole));  // a half may be what is read
        add_form(s, part("mov.b32", "mov.b64"), {copy, from});
        const auto to = [&](size_t n) {
            return destination({.words = {s.operands[0].words[n]}}, width_of(half));
        };
        if (s.operands[0].words[0] != "_")
            add_form(s, part("(low.b32)", "(low.b64)"), {to(0), copy});
        if (s.operands[0].words[1] != "_")
            add_form(s, part("(high.b32)", "(high.b64)"), {to(1), copy});
    } else {
        arithmetic(s);
    }
}

// setp.lt.s32 p, a, b, and setp.lt.and.s32 p|q, a, b, c: p = (a < b) && c, q = !(a < b) && c.
void BodyParser::compare(Statement &s) {
    std::string name(s.name);
    const char *logic = nullptr;
    for (const char *word : {"and", "or", "xor"}) {
        const std::string part = "." + std::string(word) + ".";
        if (const size_t at = name.find(part); at != name.npos) {
            name.replace(at, part.size(), ".");
            logic = word;
        }
    }
    const Operand &result = operand_of(s, 0);
    if (!logic && result.words.size() == 1) return arithmetic(s);
    const auto form = find_form(name);
    if (!form) refuse(s);
    if (s.operands.size() != (logic ? 4 : 3)) refuse(s, "with another number of operands");
    const uint32_t compared = builder_.add_value(Width::kPredicate);
    add_form(s, *form,
             {compared, value_of(s.operands[1], form->a), value_of(s.operands[2], form->b)});
    uint32_t other = kNone;
    if (logic) {
        other = value_of({.words = operand_of(s, 3).words}, Type::pred);
        if (s.operands[3].negated) {
            const uint32_t negated = builder_.add_value(Width::kPredicate);
            add_form(s, *find_form("not.pred"), {negated, other});
            other = negated;
        }
    }
    const auto give = [&](std::string_view word, uint32_t value) {
        if (word == "_") return;
        const uint32_t to = destination({.words = {word}}, Width::kPredicate);
        if (logic)
            add_form(s, *find_form(std::string(logic) + ".pred"), {to, value, other});
        else
            add_form(s, *find_form("mov.pred"), {to, value});
    };
    // The second result is of the operands as they were.
    uint32_t opposite = kNone;
    if (result.words.size() == 2) {
        opposite = builder_.add_value(Width::kPredicate);
        add_form(s, *find_form("not.pred"), {opposite, compared});
        if (logic) {
            const uint32_t copy = builder_.add_value(Width::kPredicate);
            add_form(s, *find_form("mov.pred"), {copy, other});
            other = copy;
        }
    }
    give(result.words[0], compared);
    if (result.words.size() == 2) give(result.words[1], opposite);
}

uint32_t BodyParser::narrow(const Statement &s, size_t n) {
    const uint32_t value = value_of(operand_of(s, n), Type::b32);
    if (builder_.width(value) != Width::kNarrow) refuse(s, "with registers of another width");
    return value;
}

void BodyParser::shuffle(Statement &s) {
    static const std::map<std::string_view, ShuffleMode> modes{{"up", ShuffleMode::kUp},
                                                               {"down", ShuffleMode::kDown},
                                                               {"bfly", ShuffleMode::kButterfly},
                                                               {"idx", ShuffleMode::kIndex}};
    const auto mode =
        s.parts.size() == 4 && s.parts[1] == "sync" ? modes.find(s.parts[2]) : modes.end();
    if (mode == modes.end() || s.parts[3] != "b32" || s.operands.size() != 5) refuse(s);
    Instruction &i = s.instruction;
    i.op = Op::shuffle;
    i.kind = InstructionClass::kWarp;
    i.mode = static_cast<uint8_t>(mode->second);
    i.d[0] = destination(s.operands[0], Width::kNarrow);
    if (s.operands[0].words.size() == 2)
        i.d[1] = destination({.words = {s.operands[0].words[1]}}, Width::kPredicate);
    i.a = narrow(s, 1);
    i.b = narrow(s, 2);
    i.c = narrow(s, 3);
    i.members = narrow(s, 4);
    builder_.add(i);
}

void BodyParser::vote(Statement &s) {
    static const std::map<std::string_view, VoteMode> modes{
        {"vote.sync.all.pred", VoteMode::kAll},
        {"vote.sync.any.pred", VoteMode::kAny},
        {"vote.sync.uni.pred", VoteMode::kUniform},
        {"vote.sync.ballot.b32", VoteMode::kBallot}};
    Instruction &i = s.instruction;
    i.kind = InstructionClass::kWarp;
    if (s.name == "activemask.b32") {
        i.op = Op::active_mask;
        i.d[0] = destination(operand_of(s, 0), Width::kNarrow);
        return builder_.add(i);
    }
    const auto mode = modes.find(s.name);
    if (mode == modes.end() || s.operands.size() != 3) refuse(s);
    uint32_t vote = value_of({.words = s.operands[1].words}, Type::pred);
    if (builder_.width(vote) != Width::kPredicate) refuse(s, "of a register of another width");
    if (s.operands[1].negated) {
        const uint32_t negated = builder_.add_value(Width::kPredicate);
        add_form(s, *find_form("not.pred"), {negated, vote});
        vote = negated;
    }
    i.op = Op::vote;
    i.mode = static_cast<uint8_t>(mode->second);
    i.d[0] = destination(s.operands[0],
                         mode->second == VoteMode::kBallot ? Width::kNarrow : Width::kPredicate);
    i.a = vote;
    i.members = narrow(s, 2);
    builder_.add(i);
}

void BodyParser::reduce(Statement &s) {
    struct Mode {
        AtomicOp op;
        bool is_signed;
    };
    static const std::map<std::string_view, Mode> modes{
        {"redux.sync.add.u32", {AtomicOp::kAdd, false}},
        {"redux.sync.add.s32", {AtomicOp::kAdd, true}},
        {"redux.sync.min.u32", {AtomicOp::kMin, false}},
        {"redux.sync.min.s32", {AtomicOp::kMin, true}},
        {"redux.sync.max.u32", {AtomicOp::kMax, false}},
        {"redux.sync.max.s32", {AtomicOp::kMax, true}},
        {"redux.sync.and.b32", {AtomicOp::kAnd, false}},
        {"redux.sync.or.b32", {AtomicOp::kOr, false}},
        {"redux.sync.xor.b32", {AtomicOp::kXor, false}}};
    constexpr uint32_t kTarget = 80;
    require_target(s, kTarget);
    const auto mode = modes.find(s.name);
    if (mode == modes.end() || s.operands.size() != 3) refuse(s);
    Instruction &i = s.instruction;
    i.op = Op::reduce;
    i.kind = InstructionClass::kWarp;
    i.mode = static_cast<uint8_t>(mode->second.op);
    i.is_signed = mode->second.is_signed;
    i.d[0] = destination(s.operands[0], Width::kNarrow);
    i.a = narrow(s, 1);
    i.members = narrow(s, 2);
    builder_.add(i);
}

}  // namespace software_cuda
