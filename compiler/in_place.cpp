#include "compiler/in_place.h"

#include <algorithm>
#include <cctype>
#include <sstream>

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// halide_cuda_run(state, kernel, blocks, threads, shared bytes, sizes, arguments, …)
class Launches : public IRVisitor {
public:
    Launches(const std::set<std::string> &inputs, const std::set<std::string> &outputs)
        : inputs_(inputs), outputs_(outputs) {}

    std::map<std::string, std::set<int>> found;

private:
    using IRVisitor::visit;

    const std::set<std::string> &inputs_, &outputs_;

    void visit(const Call *op) override {
        if (op->name == "halide_cuda_run") note(op->args[1], op->args[10]);
        IRVisitor::visit(op);
    }

    void note(const Expr &kernel, const Expr &arguments) {
        const auto one_of = [](const Expr &argument, const std::set<std::string> &names) {
            for (const std::string &name : names)
                if (expr_uses_var(argument, name + ".buffer")) return true;
            return false;
        };
        std::set<int> places;
        bool writes = false;
        const std::vector<Expr> &all = arguments.as<Call>()->args;
        for (size_t i = 0; i < all.size(); i++) {
            if (one_of(all[i], inputs_)) places.insert(static_cast<int>(i));
            writes |= one_of(all[i], outputs_);
        }
        if (writes && !places.empty()) found[kernel.as<StringImm>()->value] = places;
    }
};

bool is_of_name(char c) {
    return c == '%' || c == '_' || std::isalnum(static_cast<unsigned char>(c));
}

// Registers of one kernel that hold addresses made of these parameters.
class Addresses {
public:
    Addresses(const std::string &kernel, const std::set<int> &places) {
        for (const int place : places) sources_.insert(kernel + "_param_" + std::to_string(place));
    }

    // Of the line `opcode to, operands;`: whether `to` is one that was none before.
    bool add(const std::string &line) {
        const size_t to = line.find("\t%rd"), end = line.find(',', to);
        const bool loads = line.starts_with("\tld.") && !line.starts_with("\tld.param.");
        return to != std::string::npos && end != std::string::npos && !loads &&
               has_source(line.substr(end)) &&
               sources_.insert(line.substr(to + 1, end - to - 1)).second;
    }

    bool are_read(const std::string &line) const {
        return line.find("ld.global.nc.") != std::string::npos &&
               has_source(line.substr(line.find('[')));
    }

private:
    std::set<std::string> sources_;  // parameters and registers

    bool has_source(const std::string &operands) const {
        for (auto at = operands.begin(); at != operands.end();) {
            const auto name = std::find_if(at, operands.end(), is_of_name);
            at = std::find_if_not(name, operands.end(), is_of_name);
            if (sources_.count(std::string(name, at))) return true;
        }
        return false;
    }
};

}  // namespace

std::map<std::string, std::set<int>> parameters_in_place(const Module &module,
                                                         const std::set<std::string> &inputs) {
    std::set<std::string> outputs;
    for (const LoweredFunc &function : module.functions())
        for (const LoweredArgument &argument : function.args)
            if (argument.is_output()) outputs.insert(argument.name);
    Launches launches(inputs, outputs);
    for (const LoweredFunc &function : module.functions()) function.body.accept(&launches);
    return launches.found;
}

std::string without_read_only_loads(const std::string &ptx,
                                    const std::map<std::string, std::set<int>> &parameters) {
    std::istringstream in(ptx);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    for (const auto &[kernel, places] : parameters) {
        const auto entry = std::find(lines.begin(), lines.end(), ".visible .entry " + kernel + "(");
        const auto end = std::find(entry, lines.end(), "}");
        Addresses addresses(kernel, places);
        // What a loop adds to an address comes from below.
        for (bool more = true; more;) {
            more = false;
            for (auto line = entry; line != end; ++line) more |= addresses.add(*line);
        }
        for (auto line = entry; line != end; ++line)
            if (addresses.are_read(*line)) line->erase(line->find(".nc."), 3);
    }
    std::string text;
    for (const std::string &line : lines) text += line + "\n";
    return text;
}

}  // namespace hk::compiler
