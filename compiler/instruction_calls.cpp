#include "compiler/instruction_calls.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "Halide.h"

using namespace Halide;

namespace hk::compiler {

namespace {

struct Function {
    enum class Kind : uint8_t { product, matrices, pair, word, copy, commit, wait, store, round };

    const char *name;
    Kind kind;
    size_t arguments;
    const char *instruction;

    // Each is a function of its name, _ and a number.
    size_t results() const {
        if (kind == Kind::pair) return 2;
        return kind == Kind::product || kind == Kind::matrices ? 4 : 1;
    }
    bool loads() const { return kind == Kind::pair || kind == Kind::word; }
};

constexpr Function kFunctions[] = {
    {"hk_mma_f16", Function::Kind::product, 10,
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
    {"hk_mma_tf32", Function::Kind::product, 10,
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"},
    {"hk_mma_bf16", Function::Kind::product, 10,
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"},
    {"hk_mma_u8s8", Function::Kind::product, 10, "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"},
    {"hk_mma_s8s8", Function::Kind::product, 10, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"},
    // Names that others begin with come after those.
    {"hk_ldmatrix_trans", Function::Kind::matrices, 1,
     "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"},
    {"hk_ldmatrix", Function::Kind::matrices, 1, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"},
    {"hk_load_pair", Function::Kind::pair, 2, "ld.shared.v2.b32"},
    {"hk_load_word", Function::Kind::word, 2, "ld.shared.b32"},
    {"hk_cvt_bf16x2", Function::Kind::round, 2, "cvt.rn.bf16x2.f32"},
    {"hk_cvt_f16x2", Function::Kind::round, 2, "cvt.rn.f16x2.f32"},
    {"hk_st_shared", Function::Kind::store, 2, "st.shared.v4.b32"},
    {"hk_cp_async_copy", Function::Kind::copy, 6, "cp.async.cg.shared.global"},
    {"hk_cp_async_pair", Function::Kind::copy, 4, "cp.async.ca.shared.global"},
    {"hk_cp_async_word", Function::Kind::copy, 3, "cp.async.ca.shared.global"},
    {"hk_cp_async_commit", Function::Kind::commit, 0, "cp.async.commit_group"},
    {"hk_cp_async_wait", Function::Kind::wait, 0, "cp.async.wait_group"},
};

bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

const Function *function_in(const std::string &text) {
    for (const Function &function : kFunctions)
        if (has(text, function.name)) return &function;
    return nullptr;
}

std::string between(const std::string &line, const std::string &start, const std::string &end) {
    const size_t at = line.find(start);
    if (at == std::string::npos) return "";
    const size_t from = at + start.size(), until = line.find(end, from);
    return line.substr(from, until == std::string::npos ? until : until - from);
}

struct Call {
    const Function *function = nullptr;
    std::string number;  // behind its name
    std::vector<std::string> arguments;
    std::string result;
};

// Of the lines from { to } of a call; nothing where it is another function's.
std::optional<Call> call_of(const std::vector<std::string> &lines) {
    Call call;
    for (const std::string &line : lines) {
        if (has(line, "st.param.b32")) {
            call.arguments.push_back(between(line, "], ", ";"));
        } else if (has(line, "ld.param.b32")) {
            call.result = between(line, "ld.param.b32 \t", ",");
        } else if (const Function *function = function_in(line)) {
            call.function = function;
            call.number = between(line, std::string(function->name) + "_", ",");
        }
    }
    if (!call.function) return std::nullopt;
    return call;
}

[[noreturn]] void reject(const std::string &what, const std::string &line) {
    throw CompileError("instructions as calls: " + what + ": " + line + "\n");
}

std::string vector_of(const std::vector<std::string> &of, size_t first, size_t count) {
    std::string text = "{";
    for (size_t i = first; i < first + count; i++) text += (i > first ? ", " : "") + of.at(i);
    return text + "}";
}

// Numbers among operands get registers, which instructions ask for.
struct Operands {
    std::vector<std::string> of;
    std::string before, after;

    explicit Operands(std::vector<std::string> arguments) : of(std::move(arguments)) {
        int numbers = 0;
        for (std::string &argument : of) {
            if (argument[0] == '%') continue;
            const std::string name = "%number" + std::to_string(numbers++);
            before += " mov.b32 \t" + name + ", " + argument + ";";
            argument = name;
        }
        if (numbers == 0) return;
        // On one line: Halide's page takes one that begins with a brace for a function's end.
        before = "\t{ .reg .b32 \t%number<" + std::to_string(numbers) + ">;" + before;
        after = " }";
    }
};

class MakeInstructions {
public:
    std::string run(const std::string &ptx) {
        std::istringstream lines(ptx);
        for (std::string line; std::getline(lines, line);) {
            if (has(line, ".extern .func") && function_in(line)) {
                while (!has(line, ";") && std::getline(lines, line)) {
                }
            } else if (has(line, "{ // callseq")) {
                take(line, lines);
            } else {
                if (!calls_.empty()) reject("calls of one are not one after the other", line);
                note_load(line);
                lines_.push_back(line);
                if (line == "}") end_function();
            }
        }
        std::string text;
        for (size_t i = 0; i < lines_.size(); i++)
            if (!dropped_.count(i)) text += lines_[i] + "\n";
        return text;
    }

private:
    struct Loaded {
        size_t line;
        std::vector<std::string> words;
        std::string address;
    };

    std::vector<std::string> lines_;
    std::vector<Call> calls_;              // of one instruction, so far
    std::map<std::string, Loaded> loads_;  // by the first word, of this function
    std::set<std::string> copied_;         // words that are nowhere in this function
    std::map<size_t, std::string> sums_;   // lines of this function, whose results may be unused
    std::set<size_t> dropped_;
    size_t function_ = 0;  // its first line

    void take(std::string line, std::istringstream &lines) {
        std::vector<std::string> all = {line};
        while (!has(line, "} // callseq") && std::getline(lines, line)) all.push_back(line);
        const std::optional<Call> call = call_of(all);
        if (!call) {
            if (!calls_.empty()) reject("calls of one are not one after the other", all.front());
            lines_.insert(lines_.end(), all.begin(), all.end());
            return;
        }
        const size_t results = call->function->results();
        if (call->arguments.size() != call->function->arguments)
            reject("it has other arguments", all.front());
        if (results > 1 && call->number != std::to_string(calls_.size()))
            reject("calls of one are not one after the other", all.front());
        if (!calls_.empty() &&
            (call->function != calls_[0].function || call->arguments != calls_[0].arguments))
            reject("calls of one have other arguments", all.front());
        calls_.push_back(*call);
        if (calls_.size() < results) return;
        lines_.push_back(instruction());
        calls_.clear();
    }

    std::string instruction() {
        const Call &call = calls_[0];
        const std::string name = std::string("\t") + call.function->instruction;
        using Kind = Function::Kind;
        if (call.function->kind == Kind::commit) return name + ";";
        if (call.function->kind == Kind::wait) return name + " \t" + call.number + ";";
        if (call.function->kind == Kind::copy) return copy(call, name);
        std::vector<std::string> to;
        for (const Call &one : calls_) to.push_back(one.result);
        if (call.function->loads()) return load(call, name, to);
        std::vector<std::string> arguments = call.arguments;
        if (call.function->kind == Kind::matrices) arguments[0] = with_number(arguments[0]);
        const Operands operands(arguments);
        const std::vector<std::string> &of = operands.of;
        if (call.function->kind == Kind::store)
            return operands.before + name + " \t[" + of[0] + "], " +
                   vector_of({of[1], of[1], of[1], of[1]}, 0, 4) + ";" + operands.after;
        if (call.function->kind == Kind::round)
            return operands.before + name + " \t" + to[0] + ", " + of[0] + ", " + of[1] + ";" +
                   operands.after;
        const std::string text = operands.before + name + " \t" + vector_of(to, 0, 4) + ", ";
        if (call.function->kind == Kind::matrices)
            return text + "[" + of[0] + "];" + operands.after;
        return text + vector_of(of, 0, 4) + ", " + vector_of(of, 4, 2) + ", " +
               vector_of(of, 6, 4) + ";" + operands.after;
    }

    // An address that was made here of a register and a number, `add.s32 	%r2, %r1, 1024;`, is
    // those: %r1+1024.
    std::string with_number(const std::string &address) {
        const std::string made = "\tadd.s32 \t" + address + ", ";
        for (size_t i = lines_.size(); i > function_ && lines_[i - 1][0] != '$'; i--) {
            const std::string &line = lines_[i - 1];
            if (!sets(line, address)) continue;
            const std::string base = between(line, made, ", "),
                              number = between(line, base + ", ", ";");
            if (line.rfind(made, 0) != 0 || number[0] == '%') return address;
            for (size_t j = i; j < lines_.size(); j++)
                if (sets(lines_[j], base)) return address;
            sums_[i - 1] = address;
            return base + "+" + number;
        }
        return address;
    }

    // From a register and a number.
    static std::string load(const Call &call, const std::string &name,
                            const std::vector<std::string> &to) {
        const std::string &offset = call.arguments[1];
        if (offset[0] == '%') reject("what is added to its address is no number", offset);
        const Operands operands({call.arguments[0]});
        const std::string results = to.size() == 1 ? to[0] : vector_of(to, 0, to.size());
        return operands.before + name + " \t" + results + ", [" + operands.of[0] + "+" + offset +
               "];" + operands.after;
    }

    //	ld.global.nc.v4.b32 	{%r1, %r2, %r3, %r4}, [%rd5+16];
    //	ld.global.nc.b32 	%r1, [%rd5+16];
    void note_load(const std::string &line) {
        if (!has(line, "\tld.global") || !has(line, ".b32 \t")) return;
        Loaded load{lines_.size(), {}, between(line, "[", "]")};
        const bool several = has(line, "{");
        std::istringstream words(several ? between(line, "{", "}")
                                         : between(line, ".b32 \t", ", ["));
        for (std::string word; std::getline(words, word, ',');)
            load.words.push_back(word.substr(word.find('%')));
        loads_[load.words.at(0)] = load;
    }

    // From where its words were loaded, which they are not any more.
    std::string copy(const Call &call, const std::string &name) {
        const std::vector<std::string> words(call.arguments.begin() + 1, call.arguments.end() - 1);
        const auto found = loads_.find(words[0]);
        if (found == loads_.end() || found->second.words != words)
            reject("what is copied was not loaded so", words[0]);
        const Loaded &load = found->second;
        const std::string base = load.address.substr(0, load.address.find('+'));
        for (size_t i = load.line + 1; i < lines_.size(); i++)
            if (sets(lines_[i], base)) reject("an address changes before it is copied from", base);
        lines_[load.line].clear();
        dropped_.insert(load.line);
        copied_.insert(words.begin(), words.end());
        const std::string all = std::to_string(4 * words.size());
        std::vector<std::string> numbers = {with_number(call.arguments.front())};
        if (const std::string &read = call.arguments.back(); read != all) numbers.push_back(read);
        const Operands operands(numbers);
        const std::vector<std::string> &of = operands.of;
        return operands.before + name + " \t[" + of[0] + "], [" + load.address + "], " + all +
               (of.size() > 1 ? ", " + of[1] : "") + ";" + operands.after;
    }

    //	opcode 	to, of …;
    static bool sets(const std::string &line, const std::string &name) {
        const size_t to = line.rfind('\t');
        if (to == std::string::npos) return false;
        const std::string operands = line.substr(to + 1);
        const bool several = operands[0] == '{';
        const std::string first = operands.substr(0, operands.find(several ? '}' : ','));
        const size_t at = first.find(name);
        return at != std::string::npos &&
               !std::isdigit(static_cast<unsigned char>(first[at + name.size()]));
    }

    void end_function() {
        std::map<std::string, int> places;  // of registers, with that which sets them
        for (size_t i = function_; i < lines_.size(); i++) {
            const std::string &line = lines_[i];
            for (size_t at = 0; (at = line.find("%r", at)) != std::string::npos; at++) {
                size_t end = at + 2;
                while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])))
                    end++;
                const std::string name = line.substr(at, end - at);
                if (copied_.count(name)) reject("what is copied is used elsewhere", line);
                places[name]++;
            }
        }
        for (const auto &[line, name] : sums_)
            if (places[name] == 1) dropped_.insert(line);
        sums_.clear();
        loads_.clear();
        copied_.clear();
        function_ = lines_.size();
    }
};

}  // namespace

std::string make_instructions(const std::string &ptx) {
    return function_in(ptx) ? MakeInstructions().run(ptx) : ptx;
}

}  // namespace hk::compiler
