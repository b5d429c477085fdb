#include "compiler/resources.h"

#include <algorithm>
#include <regex>
#include <sstream>
#include <utility>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// halide_DEVICE_run(state, kernel, blocks x y z, threads x y z, shared bytes, …)
class Launches : public IRVisitor {
public:
    std::vector<Resources> found;

private:
    using IRVisitor::visit;

    std::map<std::string, Expr> values_;

    int constant(const Expr &value) const {
        const Expr inlined = simplify(substitute(values_, value));
        const auto number = as_const_int(inlined);
        return number ? static_cast<int>(*number) : Resources::dynamic;
    }

    void visit(const LetStmt *op) override {
        op->value.accept(this);
        if (op->value.type().is_int()) values_[op->name] = simplify(substitute(values_, op->value));
        op->body.accept(this);
        values_.erase(op->name);
    }

    void visit(const Call *op) override {
        if (op->name == "halide_cuda_run" || op->name == "halide_opencl_run") {
            Resources kernel;
            kernel.name = op->args[1].as<StringImm>()->value;
            kernel.threads = 1;
            for (int d = 5; d < 8; d++) {
                const int extent = constant(op->args[d]);
                const bool known = extent >= 0 && kernel.threads >= 0;
                kernel.threads = known ? kernel.threads * extent : Resources::dynamic;
            }
            kernel.shared_dynamic = constant(op->args[8]);
            found.push_back(kernel);
        }
        IRVisitor::visit(op);
    }
};

void raise(int &figure, int to) { figure = std::max(figure, to); }

void check_figure(const std::string &where, int figure, const char *what, int budget) {
    if (budget != Budget::not_stated && figure > budget)
        throw CompileError(where + " uses " + std::to_string(figure) + " " + what +
                           "; its budget is " + std::to_string(budget));
}

}  // namespace

std::span<const Resources::Field> Resources::fields() {
    static constexpr Field all[] = {
        {"registers", &Resources::registers},
        {"stack_bytes", &Resources::stack_bytes},
        {"spill_bytes", &Resources::spill_bytes},
        {"shared_static", &Resources::shared_static},
        {"shared_dynamic", &Resources::shared_dynamic},
        {"threads", &Resources::threads},
    };
    return all;
}

int Resources::shared_bytes() const {
    return shared_dynamic < 0 ? -1 : std::max(shared_static, 0) + shared_dynamic;
}

std::vector<Resources> launches(const Module &module) {
    Launches visitor;
    for (const LoweredFunc &function : module.functions()) function.body.accept(&visitor);
    return visitor.found;
}

void add_ptxas_report(const std::string &report, std::vector<Resources> &kernels) {
    static const std::regex named(
        "Compiling entry function '([^']+)'|Function properties for (\\S+)");
    static const std::regex memory(
        "(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
    static const std::regex used("Used (\\d+) registers(?:.*, (\\d+) bytes smem)?");
    std::istringstream lines(report);
    Resources *kernel = nullptr;
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_search(line, match, named)) {
            const std::string name = match[1].matched ? match[1] : match[2];
            const auto found = std::find_if(kernels.begin(), kernels.end(),
                                            [&](const Resources &k) { return k.name == name; });
            kernel = found == kernels.end() ? nullptr : &*found;
        } else if (kernel && std::regex_search(line, match, memory)) {
            raise(kernel->stack_bytes, std::stoi(match[1]));
            raise(kernel->spill_bytes, std::max(std::stoi(match[2]), std::stoi(match[3])));
        } else if (kernel && std::regex_search(line, match, used)) {
            raise(kernel->registers, std::stoi(match[1]));
            raise(kernel->shared_static, match[2].matched ? std::stoi(match[2]) : 0);
        }
    }
}

void check(const std::string &function, const std::vector<Resources> &kernels,
           const Budget &budget) {
    for (const Resources &kernel : kernels) {
        const std::string where = function + ": kernel " + kernel.name;
        if (kernel.stack_bytes > 0 && !budget.allow_stack)
            throw CompileError(where + " has a stack frame of " +
                               std::to_string(kernel.stack_bytes) +
                               " bytes a thread; its budget is 0 (--allow=stack lifts it)");
        if (kernel.spill_bytes > 0 && !budget.allow_spills)
            throw CompileError(
                where + " spills " + std::to_string(kernel.spill_bytes) +
                " bytes of registers a thread; its budget is 0 (--allow=spills lifts it)");
        if (kernel.shared_dynamic == Resources::dynamic && !budget.allow_dynamic_shared)
            throw CompileError(where +
                               " asks for a number of shared bytes that is not a constant "
                               "(--allow=dynamic_shared lifts it)");
        check_figure(where, kernel.shared_bytes(), "bytes of shared memory a block",
                     budget.shared_bytes);
        check_figure(where, kernel.registers, "registers a thread", budget.registers);
    }
}

Resources largest(const std::string &function, const std::vector<Resources> &kernels) {
    Resources result;
    result.name = function;
    for (const auto &[name, field] : Resources::fields()) {
        for (const Resources &kernel : kernels) raise(result.*field, kernel.*field);
        for (const Resources &kernel : kernels)
            if (kernel.*field == Resources::dynamic) result.*field = -1;
    }
    return result;
}

}  // namespace hk::compiler
