// Bad input of softmax cross-entropy: refused before any kernel runs, with both values in the
// message.

#include <cstring>
#include <numeric>

#include "hk/softmax_cross_entropy.h"
#include "tests/support/refused.h"

namespace hk {
namespace {

Tensor made(const Shape &shape, DataType type = DataType::f32) {
    return Tensor::zeros(shape, type);
}

// A call that is right, to be spoilt in one place.
struct Arguments {
    Tensor logits = made({3, 10}), labels = made({3}, DataType::s32), loss = made({3});
    Tensor gradient = made({3, 10});

    static constexpr const char *kPrefix = "softmax_cross_entropy: ";
    void run() const { softmax_cross_entropy(logits, labels, loss, gradient); }
};

TEST(SoftmaxInput, TheUnspoiltCallRuns) {
    Arguments arguments;
    arguments.run();
    arguments.loss = {};
    arguments.run();
    arguments.loss = made({3});
    arguments.gradient = {};
    arguments.run();
}

TEST(SoftmaxInput, UndefinedTensors) {
    EXPECT_REFUSED("logits are undefined", a.logits = {});
    EXPECT_REFUSED("labels are undefined", a.labels = {});
    EXPECT_REFUSED("loss and gradient are both undefined", a.loss = a.gradient = {});
    const Arguments a;
    const Tensor none;
    EXPECT_INVALID("gradient is inplace() of an undefined tensor",
                   softmax_cross_entropy(a.logits, a.labels, a.loss, inplace(none)));
}

TEST(SoftmaxInput, ShapesAndTypes) {
    EXPECT_REFUSED("logits have 1 dimensions, [30], they need 2", a.logits = made({30}));
    EXPECT_REFUSED("logits have 0 classes", {
        a.logits = made({3, 0});
        a.gradient = made({3, 0});
    });
    EXPECT_REFUSED("labels has shape [4], it must have [3]", a.labels = made({4}, DataType::s32));
    EXPECT_REFUSED("loss has shape [3, 1], it must have [3]", a.loss = made({3, 1}));
    EXPECT_REFUSED("gradient has shape [10, 3], it must have [3, 10]", a.gradient = made({10, 3}));
    EXPECT_REFUSED("the type is f64, it must be f32, f16 or bf16",
                   a.logits = made({3, 10}, DataType::f64));
    EXPECT_REFUSED("labels are u32, they must be s32 or s64", a.labels = made({3}, DataType::u32));
    EXPECT_REFUSED("loss is f16, it must be f32", a.loss = made({3}, DataType::f16));
    EXPECT_REFUSED("gradient is bf16, logits is f32", a.gradient = made({3, 10}, DataType::bf16));
}

// Nothing is written before the last label is looked at.
TEST(SoftmaxInput, Labels) {
    for (const int32_t label : {-1, 10, 2147483647, -2147483647 - 1}) {
        Arguments a;
        a.labels.data<int32_t>()[2] = label;
        a.gradient.data<float>()[0] = a.loss.data<float>()[0] = 77;
        EXPECT_INVALID("label 2 is " + std::to_string(label) + ", it must be 0 to 9", a.run());
        EXPECT_INVALID("label 2 is ",
                       softmax_cross_entropy(a.logits, a.labels, a.loss, inplace(a.logits)));
        EXPECT_EQ(a.gradient.data<float>()[0], 77);
        EXPECT_EQ(a.loss.data<float>()[0], 77);
        EXPECT_EQ(a.logits.data<float>()[0], 0);
    }
}

// A label beyond 32 bits is not its lower half.
TEST(SoftmaxInput, LabelsOf64Bits) {
    constexpr int64_t kBeyond = int64_t{1} << 32;
    for (const int64_t label : {int64_t{-1}, int64_t{10}, kBeyond, kBeyond + 3, -kBeyond}) {
        Arguments a;
        a.labels = made({3}, DataType::s64);
        a.labels.data<int64_t>()[2] = label;
        EXPECT_INVALID("label 2 is " + std::to_string(label) + ", it must be 0 to 9", a.run());
    }
}

TEST(SoftmaxInput, LabelsOf64BitsAreTheSame) {
    Arguments a;
    std::iota(a.logits.data<float>(), a.logits.data<float>() + 30, 0.f);
    const Tensor every_second = made({6}, DataType::s64).slice(0, 5, 3, -2);
    for (int32_t n = 0; n < 3; n++) {
        a.labels.data<int32_t>()[n] = 9 - 4 * n;
        every_second.slice(0, n, 1).fill(9 - 4 * n);
    }
    a.run();
    const Tensor loss = made({3}), gradient = made({3, 10});
    softmax_cross_entropy(a.logits, every_second, loss, gradient);
    EXPECT_EQ(std::memcmp(loss.data<float>(), a.loss.data<float>(), 12), 0);
    EXPECT_EQ(std::memcmp(gradient.data<float>(), a.gradient.data<float>(), 120), 0);
}

TEST(SoftmaxInput, Memory) {
    EXPECT_REFUSED("gradient and logits overlap", a.gradient = a.logits);
    EXPECT_REFUSED("loss and logits overlap", a.loss = a.logits.slice(1, 0, 1).reshape({3}));
    EXPECT_REFUSED("loss and gradient overlap", a.loss = a.gradient.reshape({30}).slice(0, 0, 3));
    EXPECT_REFUSED("logits's classes have the stride 2",
                   a.logits = made({3, 20}).slice(1, 0, 10, 2));
    EXPECT_REFUSED("gradient's classes have the stride 3",
                   a.gradient = made({10, 3}).permute({1, 0}));
    const Arguments a;
    EXPECT_INVALID("gradient is inplace(), but it is not the same view as logits",
                   softmax_cross_entropy(a.logits, a.labels, a.loss, inplace(a.gradient)));
    const Tensor other = a.logits.slice(0, 2, 3, -1);
    EXPECT_INVALID("gradient and logits overlap",
                   softmax_cross_entropy(a.logits, a.labels, a.loss, inplace(other)));
}

// Rows that are one row.
TEST(SoftmaxInput, RepeatedElements) {
    const Tensor row = made({1 << 16}), labels = made({1 << 16}, DataType::s32);
    const Tensor rows =
        Tensor::borrow(row.data<float>(), DataType::f32, {1 << 16, 1 << 16}, {0, 1});
    EXPECT_INVALID(
        "softmax_cross_entropy: logits has this many elements, repeated ones counted: "
        "4294967296",
        softmax_cross_entropy(rows, labels, made({1 << 16}), Tensor()));
}

}  // namespace
}  // namespace hk
