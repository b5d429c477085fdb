// What a kernel tells of bad buffers is what Halide's own checks tell: the same pipeline with
// and without compact_checks, called with the same faults.

#include "compiler/compact_checks.h"

#include <gtest/gtest.h>

#include <functional>

#include "runtime/src/buffer_checks.h"
#include "runtime/src/call_context.h"

namespace hk::compiler {
namespace {

using namespace Halide;
using Halide::Internal::JITModule;

constexpr const char *kFunction = "checked";

// output(x, y) = input(x + 1, y) + vector(x), of rows of 8 that lie next to each other.
Module checked_module(bool answers_queries = false) {
    ImageParam input(Float(32), 2, "input"), vector(Float(32), 1, "vector");
    Param<int> shift("shift");
    Var x("x"), y("y");
    Func output("output");
    output(x, y) = input(x + shift, y) + vector(x);
    vector.dim(0).set_stride(Expr());
    input.dim(0).set_min(0).set_stride(1);
    input.dim(1).set_min(0).set_stride(9);
    output.output_buffer().dim(0).set_bounds(0, 8);
    output.output_buffer().dim(1).set_min(0);
    Target target = get_host_target().with_feature(Target::UserContext);
    if (!answers_queries) target.set_feature(Target::NoBoundsQuery);
    return Pipeline(output).compile_to_module({input, vector, shift}, kFunction, target,
                                              LinkageType::ExternalPlusArgv);
}

// The runtime of the library, which keeps messages in the call's context.
JITModule library() {
    JITModule ours;
    const auto add = [&](const char *name, auto *function) {
        ours.add_symbol_for_export(name, JITModule::Symbol(reinterpret_cast<void *>(function)));
    };
#define HK_ADD(name) add(#name, &name)
    HK_ADD(halide_error_access_out_of_bounds);
    HK_ADD(halide_error_bad_dimensions);
    HK_ADD(halide_error_bad_type);
    HK_ADD(halide_error_buffer_allocation_too_large);
    HK_ADD(halide_error_buffer_argument_is_null);
    HK_ADD(halide_error_buffer_extents_negative);
    HK_ADD(halide_error_buffer_extents_too_large);
    HK_ADD(halide_error_constraint_violated);
    HK_ADD(halide_error_device_dirty_with_no_device_support);
    HK_ADD(halide_error_host_is_null);
#undef HK_ADD
    add("hk_check_buffer", &detail::hk_check_buffer);
    add("hk_check_region", &detail::hk_check_region);
    return ours;
}

struct Arguments {
    std::vector<float> in = std::vector<float>(9 * 4, 1), out = std::vector<float>(8 * 4);
    halide_dimension_t input_dims[2] = {{0, 9, 1}, {0, 4, 9}}, vector_dims[1] = {{0, 8, 1}},
                       output_dims[2] = {{0, 8, 1}, {0, 4, 8}};
    halide_buffer_t input = buffer(in, input_dims, 2), vector = buffer(in, vector_dims, 1),
                    output = buffer(out, output_dims, 2);
    halide_buffer_t *input_argument = &input;
    int shift = 1;

    static halide_buffer_t buffer(std::vector<float> &data, halide_dimension_t *dims, int count) {
        halide_buffer_t made{};
        made.host = reinterpret_cast<uint8_t *>(data.data());
        made.type = halide_type_t(halide_type_float, 32);
        made.dimensions = count;
        made.dim = dims;
        return made;
    }
};

class CountAssertions : public Internal::IRVisitor {
public:
    int count = 0;

private:
    using IRVisitor::visit;
    void visit(const Internal::AssertStmt *op) override {
        count++;
        IRVisitor::visit(op);
    }
};

int assertions(const Module &module) {
    CountAssertions found;
    for (const auto &function : module.functions()) function.body.accept(&found);
    return found.count;
}

struct Outcome {
    int status;
    std::string message;
    bool operator==(const Outcome &) const = default;
};

class CompactChecks : public testing::Test {
protected:
    using Spoil = std::function<void(Arguments &)>;

    static Outcome call(const JITModule &code, const Spoil &spoil) {
        Arguments arguments;
        spoil(arguments);
        detail::CallContext context(Device::cpu());
        void *user_context = &context;
        void *argv[] = {&user_context, arguments.input_argument, &arguments.vector,
                        &arguments.shift, &arguments.output};
        const int status = code.argv_function()(argv);
        if (status == 0) {
            EXPECT_EQ(arguments.out, std::vector<float>(8 * 4, 2));
        }
        return {status, std::string(context.message())};
    }

    // The message, which both tell.
    static std::string told(const Spoil &spoil) {
        static const Module plain = checked_module(), compact = compact_checks(plain);
        static const JITModule of_halide(plain, plain.get_function_by_name(kFunction), {library()}),
            ours(compact, compact.get_function_by_name(kFunction), {library()});
        const Outcome wanted = call(of_halide, spoil), got = call(ours, spoil);
        EXPECT_EQ(got.status, wanted.status);
        EXPECT_EQ(got.message, wanted.message);
        return got.message;
    }
};

TEST_F(CompactChecks, RightCallsRun) {
    EXPECT_EQ(told([](Arguments &) {}), "");
}

TEST_F(CompactChecks, TellWhatHalideTells) {
    const std::pair<const char *, Spoil> faults[] = {
        {"input", [](Arguments &a) { a.input_argument = nullptr; }},
        {"type", [](Arguments &a) { a.input.type = halide_type_t(halide_type_int, 32); }},
        {"dimensions", [](Arguments &a) { a.output.dimensions = 1; }},
        {"accessed", [](Arguments &a) { a.vector_dims[0].extent = -1; }},
        {"negative", [](Arguments &a) { a.output_dims[1].extent = a.input_dims[1].extent = -1; }},
        {"input.stride.0", [](Arguments &a) { a.input_dims[0].stride = 2; }},
        {"input.stride.1", [](Arguments &a) { a.input_dims[1].stride = 10; }},
        {"accessed", [](Arguments &a) { a.shift = 2; }},
        {"accessed", [](Arguments &a) { a.input_dims[1].extent = 3; }},
        {"accessed", [](Arguments &a) { a.vector_dims[0].min = 1; }},
        {"exceed", [](Arguments &a) { a.output_dims[1].stride = 1 << 30; }},
        {"exceed", [](Arguments &a) { a.vector_dims[0].stride = 1 << 30; }},
        {"exceed", [](Arguments &a) { a.input_dims[1].extent = 1 << 28; }},
        {"device", [](Arguments &a) { a.input.set_device_dirty(); }},
        {"host", [](Arguments &a) { a.output.host = nullptr; }},
    };
    for (const auto &[part, spoil] : faults) {
        const std::string message = told(spoil);
        EXPECT_NE(message.find(part), std::string::npos) << part << ": " << message;
    }
}

TEST_F(CompactChecks, LeaveModulesThatAnswerQueries) {
    const Module plain = checked_module(true);
    EXPECT_EQ(assertions(compact_checks(plain)), assertions(plain));
}

TEST(BufferChecks, ElementsThatAreRepeatedCount) {
    halide_dimension_t dims[2] = {{0, 1 << 20, 1}, {0, 1 << 20, 0}};
    halide_buffer_t buffer{};
    buffer.type = halide_type_t(halide_type_float, 32);
    buffer.dimensions = 2;
    buffer.dim = dims;
    const detail::BufferRequirements counted{buffer.type.as_u32(), 2, detail::kBufferIsCounted, 0};
    detail::CallContext context(Device::cpu());
    EXPECT_EQ(detail::hk_check_buffer(&context, &buffer, "Input buffer input", &counted),
              halide_error_code_buffer_extents_too_large);
    EXPECT_NE(context.message().find("input"), std::string_view::npos) << context.message();
}

TEST_F(CompactChecks, LeaveThreeAssertionsABuffer) {
    const Module plain = checked_module();
    const int all = assertions(plain), left = assertions(compact_checks(plain));
    EXPECT_GT(all, 30);
    EXPECT_LE(left, 3 * 3);  // the buffer, its region, and its host pointer
}

}  // namespace
}  // namespace hk::compiler
