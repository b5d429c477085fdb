#include <cstring>
#include <thread>

#include "counted.h"
#include "expect_error.h"
#include "hk/tensor.h"
#include "on_devices.h"

namespace hk {
namespace {

class TensorCopy : public OnDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, TensorCopy, ::testing::ValuesIn(device_names()), name_of_test);

TEST_P(TensorCopy, ThereAndBack) {
    const Tensor tensor = counted({5, 7, 3});
    EXPECT_EQ(values(tensor.to(device())), values(tensor));
    EXPECT_EQ(tensor.to(device()).device(), device());
}

TEST_P(TensorCopy, EmptyAndScalar) {
    EXPECT_EQ(Tensor({3, 0}, DataType::f32).to(device()).elements(), 0);
    EXPECT_EQ(values(counted({}).to(device())), (std::vector<int32_t>{0}));
}

// Each view, as the source and as the target of a copy.
std::vector<Tensor> views(const Tensor &t) {
    return {t.slice(0, 1, 3),
            t.slice(1, 2, 4),
            t.slice(2, 1, 3),
            t.slice(1, 0, 4, 2),
            t.slice(2, 4, 3, -2),
            t.slice(0, 4, 5, -1),
            t.permute({2, 0, 1}),
            t.slice(0, 3, 2, -3).slice(1, 6, 3, -2).slice(2, 1, 2).permute({1, 0, 2}),
            t.slice(0, 1, 1).slice(1, 1, 1).slice(2, 1, 1)};
}

TEST_P(TensorCopy, FromViews) {
    const Tensor host = counted({5, 7, 6});
    const Tensor there = host.to(device());
    const std::vector<Tensor> expected = views(host), actual = views(there);
    for (size_t i = 0; i < expected.size(); i++) {
        EXPECT_EQ(values(actual[i]), values(expected[i])) << i;
        EXPECT_EQ(values(actual[i].to(device())), values(expected[i])) << i;
    }
}

TEST_P(TensorCopy, IntoViews) {
    const size_t count = views(counted({5, 7, 6})).size();
    for (size_t i = 0; i < count; i++) {
        const Tensor expected = counted({5, 7, 6}), actual = expected.to(device());
        const Tensor target = views(expected)[i];
        const Tensor source = Tensor::zeros(target.shape(), DataType::s32);
        std::iota(source.data<int32_t>(), source.data<int32_t>() + source.elements(), 1000);
        target.copy_from(source);
        views(actual)[i].copy_from(source);
        EXPECT_EQ(values(actual), values(expected)) << i;
        views(expected)[i].fill_zero();
        views(actual)[i].fill_zero();
        EXPECT_EQ(values(actual), values(expected)) << i;
    }
}

// Of two dimensions that change places, with whole and broken squares and lines of elements of each
// size, rows that are pages apart, tasks with a short last one, and lines of nine, as the taps of
// 3x3 filters are.
TEST(TransposedCopy, PutsEveryElementInItsPlace) {
    for (const DataType type : {DataType::u8, DataType::f16, DataType::f32, DataType::f64}) {
        for (const Shape &shape : {Shape{1, 1, 70},
                                   {2, 3, 1030},
                                   {3, 70, 131},
                                   {1, 1024, 37},
                                   {1, 2050, 130},
                                   {1, 8, 8},
                                   {3, 9, 70},
                                   {3, 70, 9},
                                   {2, 9, 9},
                                   {5, 9, 4}}) {
            const int64_t size = size_of(type), elements = shape[0] * shape[1] * shape[2];
            std::vector<uint8_t> bytes(static_cast<size_t>(elements * size)), copied = bytes;
            for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<uint8_t>(i * 131 >> 3);
            const Shape across = {shape[0], shape[2], shape[1]};
            Tensor::borrow(copied.data(), type, across)
                .copy_from(Tensor::borrow(bytes.data(), type, shape).permute({0, 2, 1}));
            int64_t wrong = 0;
            for (int64_t i = 0; i < elements; i++) {
                const int64_t n = i / (shape[1] * shape[2]), row = i / shape[2] % shape[1],
                              column = i % shape[2];
                const int64_t place = (n * shape[2] + column) * shape[1] + row;
                wrong += std::memcmp(&bytes[static_cast<size_t>(i * size)],
                                     &copied[static_cast<size_t>(place * size)],
                                     static_cast<size_t>(size)) != 0;
            }
            EXPECT_EQ(wrong, 0) << to_string(shape) << " of " << size << " bytes";
        }
    }
}

TEST_P(TensorCopy, BetweenViewsOfOneTensor) {
    const Tensor expected = counted({4, 8}), actual = expected.to(device());
    for (const Tensor &tensor : {expected, actual}) {
        tensor.slice(1, 0, 4).copy_from(tensor.slice(1, 4, 4));
    }
    EXPECT_EQ(values(actual), values(expected));
}

TEST_P(TensorCopy, BadCopies) {
    const Tensor tensor({2, 3}, DataType::f32, device());
    EXPECT_INVALID("source has shape [3, 2], the target [2, 3]",
                   tensor.copy_from(Tensor({3, 2}, DataType::f32)));
    EXPECT_INVALID("source is f16, the target f32",
                   tensor.copy_from(Tensor({2, 3}, DataType::f16)));
    EXPECT_INVALID("undefined", tensor.copy_from({}));
    EXPECT_INVALID("copy_from: target and source overlap: target has shape [2, 3], strides [3, 1]",
                   tensor.copy_from(tensor));
}

TEST_P(TensorCopy, TooLarge) {
    EXPECT_ERROR(OutOfMemory, "1152921504606846976 bytes",
                 Tensor({1LL << 60}, DataType::u8, device()));
    // The device still works.
    EXPECT_EQ(values(counted({3}).to(device())), (std::vector<int32_t>{0, 1, 2}));
}

TEST_P(TensorCopy, HostAddressOfADeviceTensor) {
    const Tensor tensor({2}, DataType::f32, device());
    if (device().is_cpu()) {
        EXPECT_NE(tensor.data<float>(), nullptr);
        return;
    }
    EXPECT_INVALID("on " + device().name() + ", not on cpu", tensor.data<float>());
}

TEST_P(TensorCopy, FromTwoThreads) {
    const auto work = [&](int32_t seed) {
        for (int i = 0; i < 50; i++) {
            const Tensor host = Tensor::zeros({64}, DataType::s32);
            host.data<int32_t>()[i] = seed;
            EXPECT_EQ(values(host.to(device()))[static_cast<size_t>(i)], seed);
        }
    };
    std::thread other(work, 1);
    work(2);
    other.join();
}

}  // namespace
}  // namespace hk
