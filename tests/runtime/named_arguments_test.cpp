// The arguments of a kernel, by name.

#include <algorithm>
#include <array>

#include "expect_error.h"
#include "hk/error.h"
#include "named_arguments.h"

namespace hk::detail {
namespace {

constexpr KernelArgument kDeclared[] = {
    {"__user_context", 8, {}}, {"input", 0, {}}, {"weight", 0, {}},   {"stride", 4, {}},
    {"scale", 4, {}},          {"flip", 8, {}},  {"in_place", 1, {}}, {"output", 0, {}},
};

class NamedArgumentsTest : public testing::Test {
protected:
    NamedArgumentsTest() {
        kernel_.name = "name_of_kernel";
        kernel_.arguments = kDeclared;
    }

    NamedArguments::Pointers bind(const NamedArguments &arguments) const {
        return arguments.for_kernel("operation", kernel_);
    }

    KernelInfo kernel_{};
    mutable halide_buffer_t input_{}, weight_{}, output_{};
};

template<typename T>
T at(const NamedArguments::Pointers &pointers, size_t place) {
    return *static_cast<T *>(pointers[place]);
}

TEST_F(NamedArgumentsTest, AnyOrder) {
    const NamedArgument all[] = {
        {"input", &input_},          {"weight", &weight_}, {"stride", int32_t{-7}}, {"scale", 2.5f},
        {"flip", uint64_t{1} << 63}, {"in_place", true},   {"output", &output_}};
    std::array<size_t, 7> order{0, 1, 2, 3, 4, 5, 6};
    do {
        NamedArguments arguments{};
        for (const size_t i : order) arguments.add({all[i]});
        const NamedArguments::Pointers bound = bind(arguments);
        ASSERT_EQ(bound[1], &input_);
        ASSERT_EQ(bound[2], &weight_);
        ASSERT_EQ(at<int32_t>(bound, 3), -7);
        ASSERT_EQ(at<float>(bound, 4), 2.5f);
        ASSERT_EQ(at<uint64_t>(bound, 5), uint64_t{1} << 63);
        ASSERT_EQ(at<bool>(bound, 6), true);
        ASSERT_EQ(bound[7], &output_);
    } while (std::ranges::next_permutation(order).found);
}

TEST_F(NamedArgumentsTest, MistakesNameKernelAndArgument) {
    const NamedArguments some{{"input", &input_}, {"weight", &weight_}, {"stride", int32_t{1}}};
    const auto with = [&](std::initializer_list<NamedArgument> more) {
        return NamedArguments(some).add(more);
    };
    const NamedArguments rest{{"flip", uint64_t{0}}, {"in_place", false}, {"output", &output_}};
    const auto error = [&](const char *what, const NamedArguments &arguments) {
        EXPECT_ERROR(KernelFailure, std::string("operation: kernel name_of_kernel ") + what,
                     bind(arguments));
    };
    error("is not given its argument scale", NamedArguments(some).add(rest));
    error("is not given its argument output",
          with({{"scale", 1.f}, {"flip", uint64_t{0}}, {"in_place", false}}));
    error("has no argument padding", with({{"scale", 1.f}, {"padding", int32_t{1}}}).add(rest));
    error("has no argument padding", with({{"scale", 1.f}}).add(rest).add({{"padding", 1}}));
    error("is given its argument stride twice",
          with({{"stride", int32_t{2}}, {"scale", 1.f}}).add(rest));
    error("is given its argument stride twice",
          with({{"scale", 1.f}}).add(rest).add({{"stride", int32_t{2}}}));
    error("takes a number of 4 bytes as its argument scale, it is given a number of 8 bytes",
          with({{"scale", 1.0}}).add(rest));
    error("takes a number of 4 bytes as its argument scale, it is given a buffer",
          with({{"scale", &output_}}).add(rest));
    error("takes a buffer as its argument output, it is given a number of 4 bytes",
          with({{"scale", 1.f}, {"flip", uint64_t{0}}, {"in_place", false}, {"output", 1}}));
    error("takes a buffer as its argument output, it is given no buffer",
          with({{"scale", 1.f},
                {"flip", uint64_t{0}},
                {"in_place", false},
                {"output", static_cast<halide_buffer_t *>(nullptr)}}));
    error("has no argument __user_context",
          with({{"scale", 1.f}}).add(rest).add({{"__user_context", uint64_t{0}}}));
}

TEST_F(NamedArgumentsTest, KernelsThatDeclareNothing) {
    kernel_.arguments = {};
    EXPECT_ERROR(KernelFailure, "operation: kernel name_of_kernel does not begin with", bind({}));
    kernel_.arguments = std::span(kDeclared).subspan(1);
    EXPECT_ERROR(KernelFailure, "operation: kernel name_of_kernel does not begin with", bind({}));
}

TEST_F(NamedArgumentsTest, NumbersAreCopied) {
    constexpr KernelArgument one[] = {{"__user_context", 8, {}}, {"stride", 4, {}}};
    kernel_.arguments = one;
    int32_t stride = 3;
    const NamedArguments arguments{{"stride", stride}};
    stride = 4;
    EXPECT_EQ(at<int32_t>(bind(arguments), 1), 3);
}

}  // namespace
}  // namespace hk::detail
