#include <array>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "compiler/tensor_cores.h"

using namespace Halide;

namespace hk::compiler {

namespace {

constexpr int kResults = 4;

// Of a function's four results, which are functions of its name, _ and a number.
struct Function {
    const char *name, *instruction;
    std::vector<size_t> vectors;  // its arguments are in vectors of so many; none: an address
};
const std::vector<Function> kFunctions = {
    {"hk_mma_f16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {4, 2, 4}},
    {"hk_mma_bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", {4, 2, 4}},
    {"hk_ldmatrix", "ldmatrix.sync.aligned.m8n8.x4.shared.b16", {}},
};

const Function *function_in(const std::string &line) {
    for (const Function &function : kFunctions)
        if (line.find(std::string(function.name) + "_") != std::string::npos) return &function;
    return nullptr;
}

struct Call {
    const Function *function = nullptr;
    int result = 0;
    std::vector<std::string> arguments;
    std::string to;
};

std::string between(const std::string &line, const std::string &start, const std::string &end) {
    const size_t at = line.find(start);
    if (at == std::string::npos) return "";
    const size_t from = at + start.size(), until = line.find(end, from);
    return line.substr(from, until == std::string::npos ? until : until - from);
}

// Of the lines from { to } of a call; nothing where it is another function's.
std::optional<Call> call_of(const std::vector<std::string> &lines) {
    Call call;
    for (const std::string &line : lines) {
        if (line.find("st.param.b32") != std::string::npos)
            call.arguments.push_back(between(line, "], ", ";"));
        else if (line.find("ld.param.b32") != std::string::npos)
            call.to = between(line, "ld.param.b32 \t", ",");
        else if (const Function *function = function_in(line)) {
            call.function = function;
            call.result = between(line, std::string(function->name) + "_", ",")[0] - '0';
        }
    }
    if (!call.function) return std::nullopt;
    return call;
}

[[noreturn]] void reject(const std::string &line) {
    throw CompileError("calls for the results of an instruction are not one after the other, with "
                       "the same arguments: " + line + "\n");
}

// Numbers are not allowed as operands.
std::string instruction(const std::array<Call, kResults> &calls) {
    std::ostringstream text, moves;
    std::vector<std::string> of = calls[0].arguments;
    int numbers = 0;
    for (std::string &argument : of) {
        if (argument[0] == '%') continue;
        const std::string name = "%product" + std::to_string(numbers++);
        moves << "\tmov.b32 \t" << name << ", " << argument << ";\n";
        argument = name;
    }
    if (numbers) text << "\t{\n\t.reg .b32 \t%product<" << numbers << ">;\n" << moves.str();
    text << "\t" << calls[0].function->instruction << " \t";
    const char *before = "{";
    for (const Call &call : calls) text << std::exchange(before, ", ") << call.to;
    text << "}";
    size_t next = 0;
    for (const size_t count : calls[0].function->vectors) {
        before = ", {";
        for (size_t i = 0; i < count; i++) text << std::exchange(before, ", ") << of.at(next++);
        text << "}";
    }
    if (next == 0) text << ", [" << of.at(next++) << "]";
    text << ";\n";
    if (numbers) text << "\t}\n";
    return text.str();
}

class JoinProducts {
public:
    std::string run(const std::string &ptx) {
        std::istringstream lines(ptx);
        for (std::string line; std::getline(lines, line);) {
            const bool declares = line.find(".extern .func") != std::string::npos &&
                                  function_in(line);
            if (declares)
                while (line.find(';') == std::string::npos && std::getline(lines, line)) {}
            else if (line.find("{ // callseq") != std::string::npos)
                take(line, lines);
            else if (joined_ > 0)
                reject(line);
            else
                result_ << line << "\n";
        }
        return result_.str();
    }

private:
    std::ostringstream result_;
    std::array<Call, kResults> calls_;
    int joined_ = 0;

    void take(std::string line, std::istringstream &lines) {
        std::vector<std::string> all = {line};
        while (line.find("} // callseq") == std::string::npos && std::getline(lines, line))
            all.push_back(line);
        const std::optional<Call> call = call_of(all);
        if (!call) {
            if (joined_ > 0) reject(all.front());
            for (const std::string &one : all) result_ << one << "\n";
            return;
        }
        const bool follows = joined_ == 0 || (call->function == calls_[0].function &&
                                              call->arguments == calls_[0].arguments);
        if (!follows || call->result != joined_) reject(all.front());
        calls_[joined_++] = *call;
        if (joined_ < kResults) return;
        joined_ = 0;
        result_ << instruction(calls_);
    }
};

}  // namespace

std::string join_products(const std::string &ptx) {
    return function_in(ptx) ? JoinProducts().run(ptx) : ptx;
}

}  // namespace hk::compiler
