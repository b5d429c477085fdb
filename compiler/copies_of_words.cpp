#include "compiler/copies_of_words.h"

#include <optional>
#include <sstream>
#include <utility>

#include "compiler/unclamped.h"
#include "compiler/wide_vectors.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

constexpr int kWords = 4, kPair = 2, kWordBytes = 4;  // of a copy of a vector, or half; of a word

[[noreturn]] void reject(const std::string &loop, const std::string &what) {
    throw CompileError("stages of " + loop + ": " + what + "\n");
}

// Copies of vectors of four words, or of one, which begin here.
class BeginCopies : public IRMutator {
public:
    std::string memory;  // they are to

    BeginCopies(std::string loop, const CopyContext &context)
        : loop_(std::move(loop)),
          place_(context.place),
          lets_(context.lets),
          of_kernel_(context.of_kernel) {}

private:
    using IRMutator::visit;

    const std::string loop_;
    const Expr place_;
    Lets lets_, of_kernel_;

    Stmt visit(const LetStmt *op) override {
        lets_[op->name] = of_kernel_[op->name] = op->value;
        return IRMutator::visit(op);
    }

    // What the condition leaves out is not read: clamps that say the same are idle.
    Expr read(const Load *load, const Expr &condition) const {
        const Ramp *ramp = load->index.as<Ramp>();
        const Expr first = unclamped(ramp ? ramp->base : load->index, condition, lets_);
        return Load::make(load->type, load->name,
                          ramp ? Ramp::make(first, ramp->stride, ramp->lanes) : first, load->image,
                          load->param, load->predicate, load->alignment);
    }

    // What is loaded where the condition holds, if there is one, else a word in all lanes; or of
    // which so many bytes are loaded.
    struct Source {
        const Load *load;
        Expr condition, otherwise, bytes;
    };
    static std::optional<Source> source(const Expr &value) {
        if (const Load *load = value.as<Load>()) return Source{load, {}, {}, {}};
        if (const Call *first = value.as<Call>(); first && first->name == kFirstBytes)
            if (const Load *load = first->args[0].as<Load>()) {
                const int all = load->type.bytes() * load->type.lanes();
                return Source{load, {}, {}, cast<uint32_t>(clamp(first->args[1], 0, all))};
            }
        const Select *choice = value.as<Select>();
        if (!choice) return std::nullopt;
        const bool negated = choice->false_value.as<Load>();
        const Load *load = (negated ? choice->false_value : choice->true_value).as<Load>();
        const Expr condition = of_all_lanes(choice->condition),
                   word = of_all_lanes(negated ? choice->true_value : choice->false_value);
        if (!load || !condition.defined() || !word.defined()) return std::nullopt;
        return Source{load, negated ? simplify(!condition) : condition, word, {}};
    }

    // Undefined where they are not all the same.
    static Expr of_all_lanes(const Expr &value) {
        if (value.type().is_scalar()) return value;
        const Broadcast *all = value.as<Broadcast>();
        return all ? all->value : Expr();
    }

    Stmt visit(const Store *op) override {
        const Ramp *vector = op->index.as<Ramp>();
        const Expr to = vector ? vector->base : op->index;
        const Type type = op->value.type();
        const std::optional<Source> from = source(op->value);
        const bool is_word = type == Float(32);
        const bool is_vector = type == UInt(32, kWords) || type == UInt(32, kPair);
        if (!from || (!is_word && (!vector || !is_vector)) ||
            (!memory.empty() && memory != op->name)) {
            std::ostringstream message;
            message << "this is no copy of 16 bytes, or 8, or one word, to one memory: "
                    << Stmt(op);
            reject(loop_, message.str());
        }
        memory = op->name;
        const auto &[load, condition, otherwise, bytes] = *from;
        const Expr all = make_const(UInt(32), type.lanes() * kWordBytes);
        if (!condition.defined()) return copy(to, load, bytes.defined() ? bytes : all);
        const Expr value = read(load, condition);
        if (is_const_zero(otherwise))
            return copy(to, value, select(one_comparison(condition), all, make_zero(UInt(32))));
        if (type.lanes() != kWords) reject(loop_, "words that are not copied are other than zeros");
        // The unit fills with zeros alone. Others are stored, to be there when the stage is.
        return IfThenElse::make(condition, copy(to, value, all),
                                call_instruction("hk_st_shared", {address(to), otherwise}));
    }

    // place + number < end && others: number < (others ? end - place : none), as the words of a
    // thread have all but the number in common.
    Expr one_comparison(const Expr &condition) const {
        std::vector<Expr> all = {condition};
        Expr others = const_true();
        const LT *first = nullptr;
        for (size_t i = 0; i < all.size(); i++) {
            const Expr one = all[i];
            if (const And *both = one.as<And>()) {
                all.push_back(both->a);
                all.push_back(both->b);
            } else if (const LT *less = one.as<LT>(); less && !first && less->a.type() == Int(32)) {
                first = less;
            } else {
                others = others && one;
            }
        }
        if (!first) return condition;
        const Expr value = simplify(with_values(first->a, of_kernel_));
        const Add *sum = value.as<Add>();
        const bool has_number = sum && is_const(sum->b);
        const Expr number = has_number ? sum->b : make_zero(Int(32));
        const Expr end = first->b - (has_number ? sum->a : value);
        return number < select(others, end, Int(32).min());
    }

    Expr address(const Expr &to) const { return cast<uint32_t>(to * kWordBytes + place_); }

    // Of 16, 8 or 4 bytes, of which the first are loaded, the others zeros.
    Stmt copy(const Expr &to, const Expr &value, const Expr &bytes) const {
        const Load *load = value.as<Load>();
        const int count = load->type.lanes();
        const Expr loaded = Load::make(UInt(32, count), load->name, load->index, load->image,
                                       load->param, load->predicate, load->alignment);
        const std::string words = unique_name("copied");
        const Expr all = Variable::make(loaded.type(), words);
        std::vector<Expr> arguments = {address(to)};
        for (int i = 0; i < count; i++)
            arguments.push_back(count == 1 ? all : Shuffle::make_extract_element(all, i));
        arguments.push_back(bytes);
        const char *const copies[] = {"hk_cp_async_word", "hk_cp_async_pair", "hk_cp_async_copy"};
        return LetStmt::make(words, loaded, call_instruction(copies[count / 2], arguments));
    }
};

}  // namespace

Stmt call_instruction(const std::string &function, const std::vector<Expr> &arguments) {
    return Evaluate::make(Call::make(UInt(32), function, arguments, Call::Extern));
}

Begun begin_copies(const std::string &loop, const Stmt &copies, const CopyContext &context) {
    BeginCopies begin(loop, context);
    const Stmt begun = begin.mutate(copies);
    return {begun, begin.memory};
}

}  // namespace hk::compiler
