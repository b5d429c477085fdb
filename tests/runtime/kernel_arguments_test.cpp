// The arguments of a kernel, by name.

#include <algorithm>
#include <array>
#include <vector>

#include "expect_error.h"
#include "hk/error.h"
#include "kernel_arguments.h"

namespace hk::detail {
namespace {

constexpr KernelArgument kDeclared[] = {
    {"__user_context", 8, {}}, {"input", 0, {}}, {"weight", 0, {}},   {"stride", 4, {}},
    {"scale", 4, {}},          {"flip", 8, {}},  {"in_place", 1, {}}, {"output", 0, {}},
};

class KernelArgumentsTest : public testing::Test {
protected:
    KernelArgumentsTest() {
        kernel_.name = "name_of_kernel";
        kernel_.arguments = kDeclared;
    }

    using List = std::vector<NamedArgument>;

    // Calls f with the pointers that the kernel would get.
    template<typename F>
    void bind(const List &list, F &&f) const {
        KernelArguments arguments("operation", kernel_);
        arguments.add(list);
        void *context = nullptr;
        f(arguments.with_context(&context));
    }
    void bind(const List &list) const {
        bind(list, [](void **) {});
    }

    KernelInfo kernel_{};
    mutable halide_buffer_t input_{}, weight_{}, output_{};
};

template<typename T>
T at(void **pointers, size_t place) {
    return *static_cast<T *>(pointers[place]);
}

TEST_F(KernelArgumentsTest, AnyOrder) {
    const NamedArgument all[] = {
        {"input", &input_},          {"weight", &weight_}, {"stride", int32_t{-7}}, {"scale", 2.5f},
        {"flip", uint64_t{1} << 63}, {"in_place", true},   {"output", &output_}};
    std::array<size_t, 7> order{0, 1, 2, 3, 4, 5, 6};
    do {
        List list;
        for (const size_t i : order) list.push_back(all[i]);
        bind(list, [&](void **bound) {
            ASSERT_EQ(bound[1], &input_);
            ASSERT_EQ(bound[2], &weight_);
            ASSERT_EQ(at<int32_t>(bound, 3), -7);
            ASSERT_EQ(at<float>(bound, 4), 2.5f);
            ASSERT_EQ(at<uint64_t>(bound, 5), uint64_t{1} << 63);
            ASSERT_EQ(at<bool>(bound, 6), true);
            ASSERT_EQ(bound[7], &output_);
        });
    } while (std::ranges::next_permutation(order).found);
}

TEST_F(KernelArgumentsTest, MistakesNameKernelAndArgument) {
    const List some{{"input", &input_}, {"weight", &weight_}, {"stride", int32_t{1}}},
        rest{{"flip", uint64_t{0}}, {"in_place", false}, {"output", &output_}};
    const auto joined = [](std::initializer_list<List> lists) {
        List all;
        for (const List &list : lists) all.insert(all.end(), list.begin(), list.end());
        return all;
    };
    const auto error = [&](const char *what, std::initializer_list<List> lists) {
        EXPECT_ERROR(KernelFailure, std::string("operation: kernel name_of_kernel ") + what,
                     bind(joined(lists)));
    };
    const List scale{{"scale", 1.f}};
    error("is not given its argument scale", {some, rest});
    error("is not given its argument output",
          {some, scale, {{"flip", uint64_t{0}}, {"in_place", false}}});
    error("has no argument padding", {some, scale, {{"padding", 1}}, rest});
    error("has no argument padding", {some, scale, rest, {{"padding", 1}}});
    error("has no argument __user_context", {some, scale, rest, {{"__user_context", uint64_t{0}}}});
    error("is given its argument stride twice", {some, {{"stride", 2}}, scale, rest});
    error("is given its argument stride twice", {some, scale, rest, {{"stride", 2}}});
    error("takes a number of 4 bytes as its argument scale, it is given a number of 8 bytes",
          {some, {{"scale", 1.0}}, rest});
    error("takes a number of 4 bytes as its argument scale, it is given a buffer",
          {some, {{"scale", &output_}}, rest});
    error("takes a buffer as its argument output, it is given a number of 4 bytes",
          {some, scale, {{"output", 1}}});
    error("takes a buffer as its argument output, it is given no buffer",
          {some, scale, {{"output", static_cast<halide_buffer_t *>(nullptr)}}});
}

TEST_F(KernelArgumentsTest, KernelsThatDeclareNothing) {
    kernel_.arguments = {};
    EXPECT_ERROR(KernelFailure, "operation: kernel name_of_kernel does not begin with", bind({}));
    kernel_.arguments = std::span(kDeclared).subspan(1);
    EXPECT_ERROR(KernelFailure, "operation: kernel name_of_kernel does not begin with", bind({}));
}

TEST_F(KernelArgumentsTest, NumbersAreCopied) {
    constexpr KernelArgument one[] = {{"__user_context", 8, {}}, {"stride", 4, {}}};
    kernel_.arguments = one;
    int32_t stride = 3;
    List list{{"stride", stride}};
    stride = 4;
    KernelArguments arguments("operation", kernel_);
    arguments.add(list);
    list.clear();
    void *context = nullptr;
    void **const pointers = arguments.with_context(&context);
    EXPECT_EQ(pointers[0], &context);
    EXPECT_EQ(at<int32_t>(pointers, 1), 3);
}

}  // namespace
}  // namespace hk::detail
