#include "compiler/compact_checks.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/module_like.h"
#include "runtime/src/buffer_checks.h"

using namespace Halide;
using namespace Halide::Internal;

namespace hk::compiler {

namespace {

// The call of halide_error_… that an assertion ends in, with what stands around it put in.
const Call *failure_of(const AssertStmt *op, Expr &holder) {
    holder = op->message;
    while (const Let *let = holder.as<Let>()) holder = substitute(let->name, let->value, let->body);
    return holder.as<Call>();
}

std::string text(const Expr &argument) { return argument.as<StringImm>()->value; }

std::string short_name(const std::string &name) { return name.substr(name.rfind(' ') + 1); }

// A constraint on a field: "weight.stride.1", its value, "16", 16.
std::optional<detail::BufferField> field_of(const Call &failure) {
    const std::string variable = text(failure.args[0]);
    const auto value = as_const_int(failure.args[3]);
    const size_t dot = variable.rfind('.'),
                 before = dot == variable.npos || dot == 0 ? dot : variable.rfind('.', dot - 1);
    if (!value || before == variable.npos) return std::nullopt;
    const std::map<std::string, int32_t> kinds = {{"min", detail::kBufferMin},
                                                  {"extent", detail::kBufferExtent},
                                                  {"stride", detail::kBufferStride}};
    const auto kind = kinds.find(variable.substr(before + 1, dot - before - 1));
    if (kind == kinds.end()) return std::nullopt;
    const int32_t d = std::stoi(variable.substr(dot + 1));
    return detail::BufferField{detail::kFieldsOfDimension * d + kind->second,
                               static_cast<int32_t>(*value)};
}

// What is asked of a buffer, gathered from the assertions.
struct Checks {
    std::string name;  // "Input buffer weight"
    std::optional<uint32_t> type;
    bool has_null_check = false;
    int32_t dimensions = 0, checks = 0;
    std::vector<detail::BufferField> fields;
    std::map<int64_t, std::pair<Expr, Expr>> touched;  // first and last, by dimension

    // An argument, whose checks begin with one for null, where ours go.
    bool is_argument() const { return type && has_null_check; }
    bool has_all_places() const {
        return dimensions > 0 && touched.size() == static_cast<size_t>(dimensions);
    }
};

class Gather : public IRVisitor {
public:
    std::map<std::string, Checks> buffers;  // by short name

private:
    using IRVisitor::visit;

    void visit(const AssertStmt *op) override {
        Expr holder;
        if (const Call *failure = failure_of(op, holder)) gather(*failure);
    }

    void gather(const Call &failure) {
        const std::vector<Expr> &args = failure.args;
        const auto named = [&]() -> Checks & {
            Checks &checks = buffers[short_name(text(args[0]))];
            checks.name = text(args[0]);
            return checks;
        };
        if (failure.name == "halide_error_buffer_argument_is_null") {
            buffers[text(args[0])].has_null_check = true;
        } else if (failure.name == "halide_error_bad_type") {
            if (const auto type = as_const_uint(args[2]))
                named().type = static_cast<uint32_t>(*type);
        } else if (failure.name == "halide_error_bad_dimensions") {
            if (const auto count = as_const_int(args[2]))
                named().dimensions = static_cast<int32_t>(*count);
        } else if (failure.name == "halide_error_device_dirty_with_no_device_support") {
            named().checks |= detail::kBufferOnHost;
        } else if (failure.name == "halide_error_access_out_of_bounds") {
            if (const auto d = as_const_int(args[1])) named().touched[*d] = {args[2], args[3]};
        } else if (failure.name == "halide_error_buffer_allocation_too_large" ||
                   failure.name == "halide_error_buffer_extents_too_large") {
            buffers[text(args[0])].checks |= detail::kBufferIsCounted;
        } else if (failure.name == "halide_error_constraint_violated") {
            const std::string variable = text(args[0]);
            const auto field = field_of(failure);
            if (field) buffers[variable.substr(0, variable.find('.'))].fields.push_back(*field);
        }
    }
};

class HasBoundsQuery : public IRVisitor {
public:
    bool found = false;

private:
    using IRVisitor::visit;

    void visit(const Call *op) override {
        found |= op->name == Call::buffer_is_bounds_query;
        IRVisitor::visit(op);
    }
};

class Compact : public IRMutator {
public:
    Compact(std::map<std::string, Checks> buffers, Expr user_context)
        : buffers_(std::move(buffers)), user_context_(std::move(user_context)) {}

private:
    using IRMutator::visit;

    const std::map<std::string, Checks> buffers_;
    const Expr user_context_;
    std::set<std::string> regions_done_;

    Stmt visit(const AssertStmt *op) override {
        HasBoundsQuery query;
        op->condition.accept(&query);
        if (query.found) return Evaluate::make(0);
        Expr holder;
        const Call *failure = failure_of(op, holder);
        if (!failure || failure->args.empty() || !failure->args[0].as<StringImm>()) return op;
        std::string name = short_name(text(failure->args[0]));
        if (failure->name == "halide_error_constraint_violated") {
            if (!field_of(*failure)) return op;
            name = name.substr(0, name.find('.'));
        }
        const auto found = buffers_.find(name);
        if (found == buffers_.end() || !found->second.is_argument()) return op;
        const Checks &checks = found->second;
        if (failure->name == "halide_error_buffer_argument_is_null") return check_buffer(checks);
        if (checks.has_all_places()) {
            if (failure->name == "halide_error_buffer_extents_negative") return Evaluate::make(0);
            if (failure->name == "halide_error_access_out_of_bounds")
                return regions_done_.insert(name).second ? check_region(checks) : Evaluate::make(0);
        }
        static const std::set<std::string> covered = {
            "halide_error_bad_type",
            "halide_error_bad_dimensions",
            "halide_error_constraint_violated",
            "halide_error_buffer_allocation_too_large",
            "halide_error_buffer_extents_too_large",
            "halide_error_device_dirty_with_no_device_support"};
        return covered.count(failure->name) ? Evaluate::make(0) : Stmt(op);
    }

    Stmt check(const std::string &function, const Checks &checks, std::vector<Expr> arguments) {
        const std::string buffer = short_name(checks.name) + ".buffer";
        arguments.insert(arguments.begin(),
                         {user_context_, Variable::make(type_of<halide_buffer_t *>(), buffer),
                          StringImm::make(checks.name)});
        const std::string status = unique_name("status");
        const Expr value = Variable::make(Int(32), status);
        return LetStmt::make(status, Call::make(Int(32), function, arguments, Call::Extern),
                             AssertStmt::make(value == 0, value));
    }

    static Expr made_struct(const std::vector<Expr> &members) {
        return Call::make(type_of<void *>(), Call::make_struct, members, Call::Intrinsic);
    }

    // As hk::detail::BufferRequirements.
    Stmt check_buffer(const Checks &checks) {
        std::vector<Expr> members = {static_cast<int32_t>(*checks.type), checks.dimensions,
                                     checks.checks, static_cast<int32_t>(checks.fields.size())};
        for (const detail::BufferField &field : checks.fields) {
            members.emplace_back(field.field);
            members.emplace_back(field.value);
        }
        return check("hk_check_buffer", checks, {made_struct(members)});
    }

    Stmt check_region(const Checks &checks) {
        std::vector<Expr> touched;
        for (const auto &[d, ends] : checks.touched) {
            touched.push_back(ends.first);
            touched.push_back(ends.second);
        }
        return check("hk_check_region", checks, {checks.dimensions, made_struct(touched)});
    }
};

}  // namespace

Module compact_checks(const Module &module) {
    // A query is answered before the buffers are checked.
    if (!module.target().has_feature(Target::NoBoundsQuery)) return module;
    Module result = module_like(module);
    for (const Buffer<void> &buffer : module.buffers()) result.append(buffer);
    const Expr user_context = module.target().has_feature(Target::UserContext)
                                  ? Variable::make(type_of<void *>(), "__user_context")
                                  : reinterpret(type_of<void *>(), make_zero(UInt(64)));
    for (LoweredFunc function : module.functions()) {
        Gather gather;
        function.body.accept(&gather);
        function.body = Compact(std::move(gather.buffers), user_context).mutate(function.body);
        result.append(function);
    }
    return result;
}

}  // namespace hk::compiler
