// Every bit pattern of f16 and bf16 through OpenCL, and of f16 on a CPU without F16C, against the
// runtime's own conversions.

#include "compiler/half_as_bits.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "compiler/lowering.h"
#include "hk/data_type.h"

namespace {

using namespace Halide;

const Target target{"host-opencl"};
const Target plain_cpu{"x86-64-linux"};

struct Format {
    const char *name;
    Target target;
    Type type;
    float (*decode)(uint16_t);
    uint16_t (*encode)(float);
};

void PrintTo(const Format &format, std::ostream *out) { *out << format.name; }

class HalfAsBits : public testing::TestWithParam<Format> {
protected:
    static float value(int i) { return static_cast<float>(i - 32) / 4; }

    // out(x) = formula(values, x) of 64 values, value(x), on the device.
    template<typename Formula>
    static Buffer<> compute(Formula formula) {
        Buffer<> in(GetParam().type, 64);
        auto *bits = static_cast<uint16_t *>(in.data());
        for (int i = 0; i < 64; i++) bits[i] = GetParam().encode(value(i));
        Func out("out");
        Var x("x"), xi("xi");
        ImageParam values(GetParam().type, 1, "values");
        out(x) = formula(values, x);
        if (GetParam().target.has_gpu_feature()) out.gpu_tile(x, xi, 64);
        Pipeline pipeline(out);
        hk::compiler::add_lowering_passes(pipeline, GetParam().target);
        in.set_host_dirty();
        values.set(in);
        return pipeline.realize({64}, GetParam().target);
    }

protected:
    // out(x) = cast<to>(in(x)), on the device.
    static Buffer<> convert(const Buffer<> &in, Type to) {
        Func out("out");
        Var x("x"), xi("xi");
        ImageParam values(in.type(), 1, "values");
        out(x) = cast(to, values(x));
        if (GetParam().target.has_gpu_feature())
            out.gpu_tile(x, xi, 64, TailStrategy::GuardWithIf);
        else
            out.vectorize(x, 8, TailStrategy::GuardWithIf);
        Pipeline pipeline(out);
        hk::compiler::add_lowering_passes(pipeline, GetParam().target);
        Buffer<> filled = in;
        filled.set_host_dirty();
        values.set(filled);
        return pipeline.realize({in.dim(0).extent()}, GetParam().target);
    }

    static Buffer<> narrow(const std::vector<float> &values) {
        return convert(
            Buffer<float>(const_cast<float *>(values.data()), static_cast<int>(values.size())),
            GetParam().type);
    }
};

constexpr int patterns = 65536;

TEST_P(HalfAsBits, WidensEveryPattern) {
    Buffer<> in(GetParam().type, patterns);
    auto *bits = static_cast<uint16_t *>(in.data());
    for (int i = 0; i < patterns; i++) bits[i] = static_cast<uint16_t>(i);
    const Buffer<float> out = convert(in, Float(32));
    for (int i = 0; i < patterns; i++) {
        const float wanted = GetParam().decode(static_cast<uint16_t>(i));
        if (std::isnan(wanted))
            ASSERT_TRUE(std::isnan(out(i))) << "pattern " << i;
        else
            ASSERT_EQ(std::bit_cast<uint32_t>(out(i)), std::bit_cast<uint32_t>(wanted))
                << "pattern " << i;
    }
}

// Every value of the type, the midpoint to its neighbour, and what lies next to each of them in
// f32.
TEST_P(HalfAsBits, RoundsToNearestEven) {
    std::vector<float> values;
    for (int i = 0; i < patterns; i++) {
        const float value = GetParam().decode(static_cast<uint16_t>(i));
        const float next =
            GetParam().decode(static_cast<uint16_t>((i & 0x8000) | ((i + 1) & 0x7fff)));
        for (const float base : {value, value / 2 + next / 2}) {
            const auto bits = std::bit_cast<uint32_t>(base);
            for (const uint32_t near : {bits - 1, bits, bits + 1})
                values.push_back(std::bit_cast<float>(near));
        }
    }
    for (const uint32_t nan : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
        values.push_back(std::bit_cast<float>(nan));

    const Buffer<> out = narrow(values);
    const auto *bits = static_cast<const uint16_t *>(out.data());
    for (size_t i = 0; i < values.size(); i++) {
        if (std::isnan(values[i]))
            ASSERT_TRUE(std::isnan(GetParam().decode(bits[i])))
                << std::bit_cast<uint32_t>(values[i]);
        else
            ASSERT_EQ(bits[i], GetParam().encode(values[i])) << values[i];
    }
}

// Values that stay in the type: select, let and comparison.
TEST_P(HalfAsBits, PassesValuesOn) {
    const Buffer<> got = compute([](const ImageParam &values, const Var &x) {
        const Expr zero = cast(GetParam().type, 0);
        return select(values(x) < zero, zero, values(x) + values(63 - x));
    });
    for (int i = 0; i < 64; i++) {
        const float wanted = i < 32 ? 0.f : value(i) + value(63 - i);
        EXPECT_EQ(GetParam().decode(static_cast<const uint16_t *>(got.data())[i]), wanted) << i;
    }
}

// And those of which a condition says which one is read.
TEST_P(HalfAsBits, ReadsUnderConditions) {
    const Buffer<> got = compute([](const ImageParam &values, const Var &x) {
        return Internal::Call::make(GetParam().type, Internal::Call::if_then_else,
                                    {x % 3 == 0, values(x), values(63 - x)},
                                    Internal::Call::PureIntrinsic);
    });
    for (int i = 0; i < 64; i++) {
        const float wanted = value(i % 3 == 0 ? i : 63 - i);
        EXPECT_EQ(GetParam().decode(static_cast<const uint16_t *>(got.data())[i]), wanted) << i;
    }
}

// Of two values that are cast Halide makes one operation that widens.
TEST_P(HalfAsBits, WidensOperandsOfOneOperation) {
    const Buffer<float> got = compute([](const ImageParam &values, const Var &x) {
        const Expr a = cast<float>(values(x)), b = cast<float>(values(63 - x));
        return select(x % 4 == 0, -a, x % 4 == 1, a + b, x % 4 == 2, a - b, a * b);
    });
    for (int i = 0; i < 64; i++) {
        const float a = value(i), b = value(63 - i);
        const float wanted[] = {-a, a + b, a - b, a * b};
        EXPECT_EQ(got(i), wanted[i % 4]) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Types, HalfAsBits,
    testing::Values(Format{"f16_opencl", target, Float(16), hk::f32_from_f16, hk::f16_from_f32},
                    Format{"bf16_opencl", target, BFloat(16), hk::f32_from_bf16, hk::bf16_from_f32},
                    Format{"f16_plain_cpu", plain_cpu, Float(16), hk::f32_from_f16,
                           hk::f16_from_f32}),
    [](const auto &info) { return std::string(info.param.name); });

// Halide computes those of bf16 in f32 by itself.
TEST(HalfAsBitsOfCalls, RefuseFunctionsOfF16) {
    Func out("out");
    Var x("x"), xi("xi");
    ImageParam values(Float(16), 1, "values");
    out(x) = sqrt(values(x));
    out.gpu_tile(x, xi, 64);
    Pipeline pipeline(out);
    hk::compiler::add_lowering_passes(pipeline, target);
    EXPECT_THROW(pipeline.compile_to_module({values}, "out", target), CompileError);
}

}  // namespace
