// Products of matrices, on every instruction set of the host that this CPU runs and any number of
// lanes at once, against a computation an element at a time.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/software_cuda/form_runner.h"
#include "tests/software_cuda/machine_case.h"
#include "tests/software_cuda/matrix_reference.h"

namespace software_cuda::tests {

namespace {

constexpr ProductForm kF16{"m16n8k16.row.col.f32.f16.f16.f32", "f16", "f16", 16, 8};
constexpr ProductForm kBf16{"m16n8k16.row.col.f32.bf16.bf16.f32", "bf16", "bf16", 16, 8};
constexpr ProductForm kTf32{"m16n8k8.row.col.f32.tf32.tf32.f32", "tf32", "tf32", 8, 4};
constexpr ProductForm kFloats[] = {kF16, kBf16, kTf32};
constexpr ProductForm kIntegers[] = {{"m16n8k32.row.col.s32.s8.s8.s32", "s8", "s8", 32, 32},
                                     {"m16n8k32.row.col.s32.s8.u8.s32", "s8", "u8", 32, 32},
                                     {"m16n8k32.row.col.s32.u8.s8.s32", "u8", "s8", 32, 32},
                                     {"m16n8k32.row.col.s32.u8.u8.s32", "u8", "u8", 32, 32}};

// Section "mma", the figures of the fragments: what a lane's registers hold, A's then B's then C's.
struct Fragment {
    uint32_t words[10] = {};
};
Fragment fragment_of(const ProductForm &form, const Matrices &m, int lane) {
    const int group = lane >> 2, in_group = lane % 4;
    const int side_by_side = form.depth / 8;  // elements of a register
    Fragment result;
    for (int i = 0; i < 4 * side_by_side; i++) {
        const int in_register = i % side_by_side, r = i / side_by_side;
        const int row = r == 0 || r == 2 ? group : group + 8;
        const int column = in_group * side_by_side + in_register + (r < 2 ? 0 : form.depth / 2);
        result.words[r] |= m.a[row][column] << (form.bits() * static_cast<unsigned>(in_register));
    }
    for (int i = 0; i < 2 * side_by_side; i++) {
        const int in_register = i % side_by_side, r = i / side_by_side;
        const int row = in_group * side_by_side + in_register + (r == 0 ? 0 : form.depth / 2);
        result.words[4 + r] |= m.b[row][group]
                               << (form.bits() * static_cast<unsigned>(in_register));
    }
    for (int i = 0; i < 4; i++)
        result.words[6 + i] = m.c[i < 2 ? group : group + 8][in_group * 2 + (i & 1)];
    return result;
}

// Which registers the instruction has for D.
enum class Result : uint8_t { kOther, kC, kA, kF32 };

std::string product_text(const ProductForm &form, Result result) {
    std::string text =
        ".reg .f32 %f<8>;\n"
        "mad.lo.u32 %r3, %r1, 32, %r0; mul.wide.u32 %rd3, %r3, 40; add.s64 %rd3, %rd3, %rd0;\n"
        "mul.wide.u32 %rd4, %r3, 16; add.s64 %rd4, %rd4, %rd1;\n";
    for (int n = 0; n < 10; n++)
        text += "ld.global.b32 %r" + std::to_string(10 + n) + ", [%rd3+" + std::to_string(4 * n) +
                "];\n";
    std::string c = "{%r16, %r17, %r18, %r19}", d = "{%r20, %r21, %r22, %r23}";
    if (result == Result::kC) d = c;
    if (result == Result::kA) d = "{%r10, %r11, %r12, %r13}";
    if (result == Result::kF32) {
        text += "mov.b32 %f0, %r16; mov.b32 %f1, %r17; mov.b32 %f2, %r18; mov.b32 %f3, %r19;\n";
        c = "{%f0, %f1, %f2, %f3}";
        d = "{%f4, %f5, %f6, %f7}";
    }
    return text + "mma.sync.aligned." + form.name + " " + d +
           ", {%r10, %r11, %r12, %r13}, {%r14, %r15}, " + c + ";\nst.global.v4.b32 [%rd4], " + d +
           ";\n";
}

// D of each, row by row.
std::vector<std::vector<uint32_t>> products_of(const ProductForm &form,
                                               const std::vector<Matrices> &all,
                                               const Settings &settings, Result result) {
    std::vector<Fragment> fragments;
    for (const Matrices &m : all) {
        for (int lane = 0; lane < 32; lane++) fragments.push_back(fragment_of(form, m, lane));
    }
    MachineCase c;
    c.settings = settings;
    c.settings.check = Check::kAll;
    c.settings.threads = 1;
    c.grid.x = static_cast<uint32_t>(all.size());
    std::vector<uint32_t> words(4 * fragments.size());
    c.p0 = c.memory.allocate(fragments.size() * sizeof(Fragment));
    c.p1 = c.memory.allocate(words.size() * 4);
    EXPECT_TRUE(c.memory.write(c.p0, fragments.data(), fragments.size() * sizeof(Fragment)));
    const Outcome outcome = c.run(product_text(form, result));
    EXPECT_EQ(outcome.status, Outcome::kDone);
    for (const Finding &finding : outcome.findings) ADD_FAILURE() << finding.message;
    EXPECT_TRUE(c.memory.read(words.data(), c.p1, words.size() * 4));
    std::vector<std::vector<uint32_t>> results(all.size(), std::vector<uint32_t>(16 * 8));
    for (size_t n = 0; n < all.size(); n++) {
        for (size_t lane = 0; lane < 32; lane++) {
            for (size_t i = 0; i < 4; i++)
                results[n][(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] =
                    words[(32 * n + lane) * 4 + i];
        }
    }
    return results;
}

void check_products(const ProductForm &form, const std::vector<Matrices> &all,
                    const Settings &settings, Result result) {
    const auto results = products_of(form, all, settings, result);
    for (size_t n = 0; n < all.size(); n++) {
        for (int row = 0; row < 16; row++) {
            for (int column = 0; column < 8; column++) {
                const uint32_t wanted = product_of(form, all[n], row, column);
                ASSERT_EQ(results[n][static_cast<size_t>(row * 8 + column)], wanted)
                    << form.name << ", product " << n << ", row " << row << ", column " << column
                    << ", " << name_of(settings.instruction_set) << ", " << settings.lanes
                    << " lanes, " << float_of(wanted);
            }
        }
    }
}

void check_everywhere(const ProductForm &form, const std::vector<Matrices> &all) {
    for (const InstructionSet set : instruction_sets()) {
        for (const Result result : {Result::kOther, Result::kC, Result::kA, Result::kF32}) {
            if (result == Result::kF32 && !form.is_float()) continue;
            check_products(form, all, {.instruction_set = set}, result);
            if (testing::Test::HasFailure()) return;
        }
    }
    for (const unsigned lanes : {1u, 16u}) check_products(form, all, {.lanes = lanes}, Result::kC);
}

template<typename A, typename B, typename C>
Matrices filled(const ProductForm &form, A a, B b, C c) {
    Matrices m;
    for (int k = 0; k < form.depth; k++) {
        for (auto &row : m.a) row[k] = a();
        for (uint32_t &x : m.b[k]) x = b();
    }
    for (auto &row : m.c) {
        for (uint32_t &x : row) x = c();
    }
    return m;
}

// Exponents that differ by at most `spread` from the middle of the format; 0: any bits.
uint32_t random_float(const std::string &type, std::mt19937 &random, unsigned spread) {
    const auto bits = static_cast<uint32_t>(random());
    if (spread == 0) return type == "f16" || type == "bf16" ? bits & 0xffff : bits;
    const auto exponent = static_cast<uint32_t>(random() % (2 * spread + 1)) - spread;
    if (type == "f16") return (bits & 0x83ff) | (15 + exponent) << 10;
    if (type == "bf16") return (bits & 0x807f) | (127 + exponent) << 7;
    return (bits & 0x807fffff) | (127 + exponent) << 23;
}

TEST(MatrixForms, ProductsOfFloats) {
    std::mt19937 random(1);
    for (const ProductForm &form : kFloats) {
        std::vector<Matrices> all;
        for (const unsigned spread : {1u, 4u, 12u, 14u}) {
            const auto element = [&] { return random_float(form.a_type, random, spread); };
            for (int n = 0; n < 20; n++)
                all.push_back(filled(form, element, element,
                                     [&] { return random_float("f32", random, spread + n); }));
        }
        check_everywhere(form, all);
        if (HasFailure()) return;
    }
}

// Also infinities, NaN and subnormals; zeros, so that some sums have only one summand.
TEST(MatrixForms, ProductsOfAnyBits) {
    std::mt19937 random(2);
    for (const ProductForm &form : kFloats) {
        std::vector<Matrices> all;
        for (const unsigned one_in : {1u, 2u, 8u, 24u}) {
            const auto element = [&] {
                return random() % one_in ? 0 : random_float(form.a_type, random, 0);
            };
            for (int n = 0; n < 30; n++)
                all.push_back(filled(form, element, element,
                                     [&] { return random_float("f32", random, 0) >> n % 3 * 4; }));
        }
        check_everywhere(form, all);
        if (HasFailure()) return;
    }
}

// On both sides of the magnitudes from which on the machine computes in double
// (software_cuda/machine/matrix_lines.h), and C far from all products. Every second one is inside
// of them in each element: one element outside takes the whole product to doubles.
TEST(MatrixForms, ProductsOfFarMagnitudes) {
    std::mt19937 random(4);
    using Exponents = std::initializer_list<int>;
    const auto near = [&](unsigned field_bits, const Exponents &exponents, int margin) {
        const int exponent = *(exponents.begin() + random() % exponents.size()) +
                             static_cast<int>(random() % (2 * margin + 1)) - margin;
        const auto fraction = static_cast<uint32_t>(random()) & (random() % 2 ? ~0u : 0u);
        const auto bits = static_cast<uint32_t>(127 + exponent) << 23 | (fraction & 0x807fffff);
        return random() % 8 == 0 ? 0u : bits >> (32 - field_bits);
    };
    static constexpr Exponents kOutside[] = {{28, 0}, {-28, 0}, {-30, 30}},
                               kInside[] = {{29, 0}, {-30, -27}, {-30, 29}};
    for (const ProductForm &form : {kBf16, kTf32}) {
        const unsigned bits = form.bits() == 16 ? 16 : 32;
        std::vector<Matrices> all;
        for (const int margin : {0, 1, 2}) {
            for (int n = 0; n < 30; n++) {
                const bool inside = n % 2 == 0;
                const auto element = [&] {
                    return inside ? near(bits, kInside[n % 3], 0)
                                  : near(bits, kOutside[n % 3], margin);
                };
                all.push_back(filled(form, element, element, [&] {
                    return inside ? near(32, {-125, -84, -60, 0, 60, 97}, margin)
                                  : near(32, {-125, -84, -60, 0, 60, 98, 100, 125}, margin);
                }));
            }
        }
        check_everywhere(form, all);
        if (HasFailure()) return;
    }
}

TEST(MatrixForms, ProductsOfIntegers) {
    std::mt19937 random(3);
    const auto any = [&] { return static_cast<uint32_t>(random()); };
    const auto byte = [&] { return static_cast<uint32_t>(random()) & 255; };
    const auto edge = [&] { return std::array{0u, 1u, 127u, 128u, 255u}[random() % 5]; };
    for (const ProductForm &form : kIntegers) {
        std::vector<Matrices> all;
        for (int n = 0; n < 10; n++) {
            all.push_back(filled(form, byte, byte, any));
            all.push_back(filled(form, edge, edge, any));
        }
        for (const uint32_t x : {127u, 128u, 255u}) {
            const auto same = [&] { return x; };
            all.push_back(filled(form, same, same, [] { return 0x7fffffffu; }));
            all.push_back(filled(
                form, same, [] { return 255u; }, [] { return 0x80000000u; }));
        }
        check_everywhere(form, all);
        if (HasFailure()) return;
    }
}

// A row of A times ones, and C: D's first element, as its value is known.
struct Sum {
    std::vector<double> a;  // values of the format
    double c, wanted;
};
uint32_t bits_as(const std::string &type, double value) {
    const uint32_t bits = bits_of_float(static_cast<float>(value));
    if (type == "tf32") return bits;
    if (type == "bf16") return bits >> 16;
    if (std::isinf(value)) return value < 0 ? 0xfc00 : 0x7c00;
    if (value == 0) return bits >> 16;
    if (std::fabs(value) < 0x1p-14)  // a subnormal
        return (bits >> 16 & 0x8000) | static_cast<uint32_t>(std::ldexp(std::fabs(value), 24));
    return (bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023);
}

void check_sums(const ProductForm &form, const std::vector<Sum> &sums) {
    for (const Sum &sum : sums) {
        Matrices m = filled(
            form, [] { return 0u; }, [&] { return bits_as(form.b_type, 1); }, [] { return 0u; });
        for (size_t k = 0; k < sum.a.size(); k++) m.a[0][k] = bits_as(form.a_type, sum.a[k]);
        m.c[0][0] = bits_of_float(static_cast<float>(sum.c));
        const uint32_t result = products_of(form, {m}, {}, Result::kC)[0][0];
        const uint32_t wanted =
            std::isnan(sum.wanted) ? 0x7fffffff : bits_of_float(static_cast<float>(sum.wanted));
        EXPECT_EQ(result, wanted) << form.name << ", sum " << &sum - sums.data() << ": "
                                  << float_of(result) << " for " << sum.wanted;
    }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(MatrixForms, SumsAreCutOff) {
    for (const ProductForm &form : kFloats) {
        check_sums(form,
                   {// 24 bits of 2^24 end at 2: each one is lost, and of 2^23 they end at 1.
                    {{1, 1, 1, 1}, 0x1p24, 0x1p24},
                    {{1, 1, 1, 1}, 0x1p23, 0x1p23 + 4},
                    {{-1, -1, -1, -1}, 0x1p24, 0x1p24},
                    {{3, 3, 3, 3}, 0x1p24, 0x1p24 + 8},
                    {{1, 1, 1, 1}, -0x1p24, -0x1p24},
                    // Towards zero, on both sides of it.
                    {{1.5, 1.5}, 0x1p23, 0x1p23 + 2},
                    {{-1.5, -1.5}, -0x1p23, -0x1p23 - 2},
                    {{-0.5}, 0x1p23, 0x1p23},
                    // The sum has 25 bits.
                    {{1, 1}, 0x1p24 - 1, 0x1p24},
                    {{2, 2}, 0x1p24 - 1, 0x1p24 + 2},
                    {{-2, -2}, -0x1p24 + 1, -0x1p24 - 2},
                    // What cancels takes the small ones with it.
                    {{0x1p13, -0x1p13, 0x1p-11}, 0, 0},
                    {{0x1p13, -0x1p13, 0x1p-10}, 0, 0x1p-10},
                    {{0x1p10, 0x1p-14}, -0x1p10, 0},
                    // A summand that is zero has no exponent.
                    {{0, 0, 0x1p-14}, 0, 0x1p-14},
                    {{}, -0.0, 0}});
    }
}

// One step after the other: what the first adds up to, the second does not lose.
TEST(MatrixForms, SumsHaveTwoSteps) {
    for (const ProductForm &form : {kF16, kBf16})
        check_sums(form, {{{1, 1, 0, 0, 0, 0, 0, 0, 0x1p12, 0, 0, 0, 0, 0, 0, -0x1p12}, 0, 2},
                          {{0x1p-12, 0, 0, 0, 0, 0, 0, 0, 0x1p12}, 0, 0x1p12},
                          {{0x1p12, 0, 0, 0, -0x1p12, 0, 0, 0, 0x1p-12}, 0, 0x1p-12},
                          {{0x1p12, 0, 0, 0, 0, 0, 0, -0x1p12, 0, 0x1p-12}, 0, 0x1p-12},
                          {{0x1p12, 0, 0, 0, 0, 0, 0, 0x1p-12, -0x1p12}, 0, 0}});
    check_sums(kTf32, {{{0x1p12, 0, 0, -0x1p12, 0x1p-12}, 0, 0x1p-12},
                       {{0x1p12, 0, 0, 0x1p-12, -0x1p12}, 0, 0},
                       {{0x1p12, 0, 0x1p-12, -0x1p12}, 0, 0}});
}

TEST(MatrixForms, SumsOfSpecialValues) {
    for (const ProductForm &form : kFloats) {
        check_sums(form, {{{kInfinity, 1}, 1, kInfinity},
                          {{-kInfinity, 1}, 1, -kInfinity},
                          {{kInfinity, -kInfinity}, 0, kNan},
                          {{kInfinity}, -kInfinity, kNan},
                          {{1}, kInfinity, kInfinity},
                          {{1}, kNan, kNan},
                          {{0x1p-24}, 0x1p-24, 0x1p-23},
                          {{}, 0x1p-149, 0x1p-149},
                          {{}, 0x1.fffffep127, 0x1.fffffep127}});
    }
    // Beyond f32.
    check_sums(kBf16, {{{0x1.fep127, 0x1.fep127}, 0, kInfinity},
                       {{-0x1.fep127}, -0x1.fep127, -kInfinity},
                       {{0x1.fep127, 0x1.fep127, -0x1.fep127}, 0, 0x1.fep127}});
    // Bits below those of TF32 are ignored.
    check_sums(kTf32, {{{0x1.002p0}, 0, 1}, {{-0x1.003ffep0}, 0, -1}, {{0x1.004p0}, 0, 0x1.004p0}});
}

}  // namespace

}  // namespace software_cuda::tests
